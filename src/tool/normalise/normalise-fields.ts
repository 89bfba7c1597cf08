import { isItself } from "./check-draft.ts";
import { isPlainObject, type JsonSchema } from "../json-schema.ts";
import { DEFAULT_VERSION, LIMITS, VERSION_PATTERN } from "../limits.ts";
import type { Annotations, Cost, Dependency } from "../tool.ts";
import { splitWords } from "../split-words.ts";

/** A value as a source gave it, made to fit; `changed` where the original says more than what became of it. */
export interface Normalised<Value> {
  readonly value: Value;
  readonly changed: boolean;
}

const EMPTY: readonly never[] = Object.freeze([]);

/** The nonempty strings of a list, at most `max` of them. */
export function toTexts(given: unknown, max: number = Number.POSITIVE_INFINITY): Normalised<readonly string[]> {
  const value = onlyMatching(given, (entry) => typeof entry === "string" && entry.trim() !== "");
  return value.length > max ? { value: Object.freeze(value.slice(0, max)), changed: true } : same(value, given);
}

/** The members of a closed list that were named. */
export function toMembers<Member extends string>(
  given: unknown,
  known: readonly Member[],
): Normalised<readonly Member[]> {
  return same(
    onlyMatching<Member>(given, (entry) => known.includes(entry as Member)),
    given,
  );
}

/** One member of a closed list, or undefined. */
export function toMember<Member extends string>(given: unknown, known: readonly Member[]): Member | undefined {
  return known.find((member) => member === given);
}

/**
 * A schema whose top is an object, as close to the given one as that allows. Only the top is looked at: what lies inside stays as it came,
 * for the validator and the dialects to understand.
 */
export function toObjectSchema(given: unknown): Normalised<JsonSchema> {
  if (!isPlainObject(given)) return { value: NO_PARAMETERS, changed: given !== undefined };
  const { type, properties, required } = given;
  const describesObject = type === undefined || type === "object" || isPlainObject(properties);
  const allowsObject = Array.isArray(type) && type.includes("object");
  if (!describesObject && !allowsObject) return { value: NO_PARAMETERS, changed: true };

  const schema: Record<string, unknown> = { ...given };
  if (type !== "object") schema["type"] = "object";
  if (properties !== undefined && !areProperties(properties)) {
    const entries = isPlainObject(properties) ? Object.entries(properties).filter(([, each]) => isSchema(each)) : [];
    schema["properties"] = Object.freeze(Object.fromEntries(entries));
  }
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string"))) {
    schema["required"] = Object.freeze(onlyMatching(required, (name) => typeof name === "string"));
  }
  const changed = schema["type"] !== type || schema["properties"] !== properties || schema["required"] !== required;
  return { value: changed ? Object.freeze(schema) : given, changed };
}

const NO_PARAMETERS: JsonSchema = Object.freeze({ type: "object", properties: Object.freeze({}) });

function areProperties(value: unknown): boolean {
  return isPlainObject(value) && Object.values(value).every(isSchema);
}

function isSchema(value: unknown): boolean {
  return isPlainObject(value) || typeof value === "boolean";
}

/** Annotations under our names or MCP's. A source cannot confirm its own hints. */
export function toAnnotations(given: unknown): Normalised<Annotations> {
  const annotations: { -readonly [Key in keyof Annotations]: Annotations[Key] } = fromMcpAnnotations(given);
  let changed = given !== undefined && given !== null;
  if (isPlainObject(given)) {
    changed = given["confirmed"] === true;
    for (const [key, value] of Object.entries(given)) {
      const known = key === "readOnly" || key === "destructive" || key === "idempotent" || key === "openWorld";
      if (known && typeof value === "boolean") annotations[key] = value;
      else if (key !== "confirmed" || typeof value !== "boolean") changed = true;
    }
  }
  return { value: Object.freeze(annotations), changed };
}

/** The well-formed relations to other tools. */
export function toDependencies(
  given: unknown,
  tool: { readonly name: string; readonly namespace: string },
): Normalised<readonly Dependency[]> {
  return same(
    onlyMatching<Dependency>(given, (entry) => isDependency(entry) && !isItself(entry.tool, tool)),
    given,
  );
}

function isDependency(value: unknown): value is Dependency {
  if (!isPlainObject(value)) return false;
  const { tool, type, reason, ...others } = value;
  return (
    typeof tool === "string" &&
    tool !== "" &&
    (type === "requires" || type === "suggests" || type === "conflicts") &&
    (reason === undefined || (typeof reason === "string" && reason.trim() !== "")) &&
    Object.keys(others).length === 0
  );
}

const COSTS = ["estimatedLatencyMs", "monetaryCost", "rateLimit", "contextTokens"] as const;

/** The costs that are numbers of at least 0. */
export function toCost(given: unknown): Normalised<Cost> {
  if (!isPlainObject(given)) return { value: NO_COST, changed: given !== undefined && given !== null };
  const cost: { -readonly [Key in keyof Cost]: Cost[Key] } = {};
  for (const key of COSTS) {
    const amount = given[key];
    if (typeof amount === "number" && amount >= 0) cost[key] = amount;
  }
  return { value: Object.freeze(cost), changed: Object.keys(cost).length < Object.keys(given).length };
}

const NO_COST: Cost = Object.freeze({});

/** Three numbers joined by dots, from a version in almost any spelling. */
export function toVersion(given: unknown): Normalised<string> {
  if (typeof given === "string" && VERSION_PATTERN.test(given)) return { value: given, changed: false };
  const [, major, minor = "0", patch = "0"] =
    (typeof given === "string" && /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?![\d])/.exec(given)) || [];
  const value = major === undefined ? DEFAULT_VERSION : `${major}.${minor}.${patch}`;
  return { value, changed: given !== undefined && given !== null };
}

/** A time within the limits. */
export function toTimeout(given: unknown): Normalised<number | undefined> {
  if (typeof given !== "number") return { value: undefined, changed: given !== undefined && given !== null };
  const value = Math.min(Math.max(given, LIMITS.timeoutMinMs), LIMITS.timeoutMaxMs);
  return { value, changed: value !== given };
}

/** The entries of a list that pass; the list itself where all do. */
function onlyMatching<Entry = string>(given: unknown, accept: (entry: unknown) => boolean): readonly Entry[] {
  if (!Array.isArray(given)) return EMPTY;
  return given.every(accept) ? given : Object.freeze(given.filter(accept));
}

function same<Value>(value: readonly Value[], given: unknown): Normalised<readonly Value[]> {
  return { value, changed: value !== given && given !== undefined && given !== null };
}

/** What a source says of a tool in words. */
interface ToolText {
  /** As the source spells it. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
}

/** A notice stands near the beginning, or nobody would read it. */
const READ_LENGTH = 1_000;

/** What can stand around a notice: brackets, emphasis, quotes, warning signs. No dash: that begins an item of a list. */
const DECORATION = String.raw`[\s*_~\x60>#!"'([\p{So}\uFE0F]*`;
/** The word alone: not `undeprecated`, not `deprecated-API`. */
const WORD = String.raw`(?<![\p{L}\p{N}])deprecated(?![\p{L}\p{N}]|-\p{L})`;
/** What goes on to say what to do, or since when. */
const GOES_ON = String.raw`[\s*_:;,.!\u2013\u2014-]{0,4}\b(?:use|please|see|prefer|instead|replaced|superseded|since|as of|in favou?r|in v?\d|will be|do not|don't|no longer|migrate|switch to|you (?:can|should)|and (?:replaced|superseded|will))\b`;
const THIS = String.raw`this (?:tool|endpoint|method|function|operation|api|command|action|route|call) (?:is|was|has been)(?: now)?`;

/** `Deprecated: …`, `[DEPRECATED] …`, `**Deprecated** …`: the text begins with it, and it is not the first word of a sentence about other things. */
const LEADING = new RegExp(
  String.raw`^${DECORATION}${WORD}(?:$|\s*[:.;!)\]*_\x60\n]|\s+[\u2013\u2014-]|${GOES_ON})`,
  "iu",
);
/** `… as text. DEPRECATED: use read_text_file`: a later sentence that says what to do. */
const LATER = new RegExp(String.raw`[.!?)\n]${DECORATION}${WORD}${GOES_ON}`, "iu");
/** `… as text. DEPRECATED.` */
const CLOSING = /[.!?)] +DEPRECATED[.!]*\s*$/u;
/** `This tool is deprecated.` */
const SENTENCE = new RegExp(String.raw`(?:^|[.!?:)\n])${DECORATION}${THIS} ${WORD}`, "iu");
/** Sphinx and JSDoc. */
const DIRECTIVE = /(?:\.\. deprecated::|(?<![\p{L}\p{N}])@deprecated\b)/iu;
/** `Read a file (deprecated)`, `(private, deprecated by the bank)`: on the first line, where no parameters are described. */
const BRACKETED = /[([]\s*deprecated\s*[)\]]|[([,]\s*deprecated (?:by|since|in favou?r|as of)\b/iu;

/**
 * Tells whether a source says in words that a tool is deprecated. A tool about deprecated things ("Finds deprecated APIs") is not: the word
 * must stand as a notice.
 */
export function saysDeprecated({ name, title = "", description }: ToolText): boolean {
  const text = description.slice(0, READ_LENGTH);
  return isNotice(text) || isNotice(title.slice(0, READ_LENGTH)) || isMarked(name, text);
}

function isNotice(text: string): boolean {
  if (!/deprecated/i.test(text)) return false;
  const [firstLine = ""] = text.trimStart().split("\n", 1);
  return [LEADING, LATER, CLOSING, SENTENCE, DIRECTIVE].some((form) => form.test(text)) || BRACKETED.test(firstLine);
}

/** `stop_DEPRECATED_session`, or `read_file_deprecated` where the description is not about deprecated things. */
function isMarked(name: string, description: string): boolean {
  if (!/deprecated/i.test(name)) return false;
  if (/DEPRECATED/.test(name)) return name !== name.toUpperCase();
  const words = splitWords(name);
  return words.length > 2 && words.at(-1) === "deprecated" && !/deprecated/i.test(description);
}

const FROM_MCP = {
  readOnlyHint: "readOnly",
  destructiveHint: "destructive",
  idempotentHint: "idempotent",
  openWorldHint: "openWorld",
} as const;

/** Annotations from the hints of an MCP tool. Nobody confirmed them; anything malformed is left out. */
export function fromMcpAnnotations(hints: unknown): Annotations {
  const annotations: { -readonly [Key in keyof Annotations]: Annotations[Key] } = { confirmed: false };
  for (const [hint, key] of Object.entries(FROM_MCP)) {
    const value = isPlainObject(hints) ? hints[hint] : undefined;
    if (typeof value === "boolean") annotations[key] = value;
  }
  return annotations;
}
