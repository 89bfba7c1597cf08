import { isItself } from "../draft.ts";
import { isPlainObject, type JsonSchema } from "../json-schema.ts";
import { DEFAULT_VERSION, LIMITS, VERSION_PATTERN } from "../limits.ts";
import { type Annotations, ANNOTATIONS, COST, type Cost, type Dependency, DEPENDENCY_TYPES } from "../tool.ts";
import { splitWords } from "../split-words.ts";

const EMPTY: readonly never[] = Object.freeze([]);

/** Returns the nonempty strings of a list, at most `max`. */
export function toTexts(given: unknown, max = Infinity): readonly string[] {
  const texts = onlyMatching(given, (entry) => typeof entry === "string" && entry.trim() !== "");
  return texts.length > max ? Object.freeze(texts.slice(0, max)) : texts;
}

/** Returns the members of a list that are in `known`. */
export function toMembers<Member extends string>(given: unknown, known: readonly Member[]): readonly Member[] {
  return onlyMatching<Member>(given, (entry) => known.includes(entry as Member));
}

const NO_PARAMETERS: JsonSchema = Object.freeze({ type: "object", properties: Object.freeze({}) });

/** Returns the schema itself if its top level is an object, or the closest object schema. Does not change the content. */
export function toObjectSchema(given: unknown): JsonSchema {
  if (!isPlainObject(given)) return NO_PARAMETERS;
  const { type, properties, required } = given;
  const describesObject = type === undefined || type === "object" || isPlainObject(properties);
  if (!describesObject && !(Array.isArray(type) && type.includes("object"))) return NO_PARAMETERS;

  const fixed: Record<string, unknown> = {};
  if (type !== "object") fixed["type"] = "object";
  if (properties !== undefined && !(isPlainObject(properties) && Object.values(properties).every(isSchema))) {
    const entries = isPlainObject(properties) ? Object.entries(properties).filter(([, each]) => isSchema(each)) : [];
    fixed["properties"] = Object.freeze(Object.fromEntries(entries));
  }
  const names = onlyMatching(required, (name) => typeof name === "string");
  if (required !== undefined && names !== required) fixed["required"] = names;
  return Object.keys(fixed).length === 0 ? given : Object.freeze({ ...given, ...fixed });
}

function isSchema(value: unknown): boolean {
  return isPlainObject(value) || typeof value === "boolean";
}

const EFFECTS = (Object.keys(ANNOTATIONS.properties) as (keyof Annotations)[]).filter((name) => name !== "confirmed");

/** Reads annotations under our names or MCP's. A source cannot confirm its own hints. */
export function toAnnotations(given: unknown): Annotations {
  const own = isPlainObject(given) ? EFFECTS.filter((name) => typeof given[name] === "boolean") : [];
  return Object.freeze({
    ...fromMcpAnnotations(given),
    ...Object.fromEntries(own.map((name) => [name, (given as Annotations)[name]])),
  });
}

export function toDependencies(
  given: unknown,
  tool: { readonly name: string; readonly namespace: string },
): readonly Dependency[] {
  return onlyMatching<Dependency>(given, (entry) => isDependency(entry) && !isItself(entry.tool, tool));
}

function isDependency(value: unknown): value is Dependency {
  if (!isPlainObject(value)) return false;
  const { tool, type, reason, ...others } = value;
  return (
    typeof tool === "string" &&
    tool !== "" &&
    DEPENDENCY_TYPES.some((known) => known === type) &&
    (reason === undefined || (typeof reason === "string" && reason.trim() !== "")) &&
    Object.keys(others).length === 0
  );
}

/** Returns the costs that are numbers of at least 0. */
export function toCost(given: unknown): Cost {
  const costs = isPlainObject(given) ? Object.keys(COST.properties).map((name) => [name, given[name]] as const) : [];
  return Object.freeze(Object.fromEntries(costs.filter(([, amount]) => typeof amount === "number" && amount >= 0)));
}

/** Converts a version in almost any notation to three numbers joined by dots. */
export function toVersion(given: unknown): string {
  if (typeof given !== "string") return DEFAULT_VERSION;
  if (VERSION_PATTERN.test(given)) return given;
  const [, major, minor = "0", patch = "0"] = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?![\d])/.exec(given) ?? [];
  return major === undefined ? DEFAULT_VERSION : `${major}.${minor}.${patch}`;
}

/** Returns the timeout clamped to the limits. */
export function toTimeout(given: unknown): number | undefined {
  if (typeof given !== "number") return undefined;
  return Math.min(Math.max(given, LIMITS.timeoutMinMs), LIMITS.timeoutMaxMs);
}

/** Returns the accepted entries of a list; the same list if all are accepted. */
function onlyMatching<Entry = string>(given: unknown, accept: (entry: unknown) => boolean): readonly Entry[] {
  if (!Array.isArray(given)) return EMPTY;
  return given.every(accept) ? given : Object.freeze(given.filter(accept));
}

interface ToolText {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
}

/** Only the start is read, because a notice at the end would not be seen. */
const READ_LENGTH = 1_000;

/** Characters that may surround a notice: brackets, emphasis, quotes, warning signs. Not a dash, which begins a list item. */
const DECORATION = String.raw`[\s*_~\x60>#!"'([\p{So}\uFE0F]*`;
/** Matches the whole word, but not `undeprecated` or `deprecated-API`. */
const WORD = String.raw`(?<![\p{L}\p{N}])deprecated(?![\p{L}\p{N}]|-\p{L})`;
/** Matches the rest of a deprecation notice: the replacement or the date. */
const GOES_ON = String.raw`[\s*_:;,.!\u2013\u2014-]{0,4}\b(?:use|please|see|prefer|instead|replaced|superseded|since|as of|in favou?r|in v?\d|will be|do not|don't|no longer|migrate|switch to|you (?:can|should)|and (?:replaced|superseded|will))\b`;
const THIS = String.raw`this (?:tool|endpoint|method|function|operation|api|command|action|route|call) (?:is|was|has been)(?: now)?`;

/** Matches `Deprecated: …`, `[DEPRECATED] …` and `**Deprecated** …` at the start of the text, unless they begin a sentence about something else. */
const LEADING = new RegExp(
  String.raw`^${DECORATION}${WORD}(?:$|\s*[:.;!)\]*_\x60\n]|\s+[\u2013\u2014-]|${GOES_ON})`,
  "iu",
);
/** Matches a later sentence with the replacement: `… as text. DEPRECATED: use read_text_file`. */
const LATER = new RegExp(String.raw`[.!?)\n]${DECORATION}${WORD}${GOES_ON}`, "iu");
/** Matches `… as text. DEPRECATED.` */
const CLOSING = /[.!?)] +DEPRECATED[.!]*\s*$/u;
/** Matches `This tool is deprecated.` */
const SENTENCE = new RegExp(String.raw`(?:^|[.!?:)\n])${DECORATION}${THIS} ${WORD}`, "iu");
/** Matches the directives of Sphinx and JSDoc. */
const DIRECTIVE = /(?:\.\. deprecated::|(?<![\p{L}\p{N}])@deprecated\b)/iu;
/** Matches `Read a file (deprecated)` and `(private, deprecated by the bank)`. Applied to the first line, which does not describe parameters. */
const BRACKETED = /[([]\s*deprecated\s*[)\]]|[([,]\s*deprecated (?:by|since|in favou?r|as of)\b/iu;

/** Returns whether a source's text marks a tool as deprecated. The word must be a notice: "Finds deprecated APIs" does not count. */
export function saysDeprecated({ name, title = "", description }: ToolText): boolean {
  const text = description.slice(0, READ_LENGTH);
  return isNotice(text) || isNotice(title.slice(0, READ_LENGTH)) || isMarked(name, text);
}

function isNotice(text: string): boolean {
  if (!/deprecated/i.test(text)) return false;
  const [firstLine = ""] = text.trimStart().split("\n", 1);
  return [LEADING, LATER, CLOSING, SENTENCE, DIRECTIVE].some((form) => form.test(text)) || BRACKETED.test(firstLine);
}

/** Returns true for `stop_DEPRECATED_session`, and for `read_file_deprecated` unless the description is about deprecated things. */
function isMarked(name: string, description: string): boolean {
  if (!/deprecated/i.test(name)) return false;
  if (/DEPRECATED/.test(name)) return name !== name.toUpperCase();
  const words = splitWords(name);
  return words.length > 2 && words.at(-1) === "deprecated" && !/deprecated/i.test(description);
}

/** Reads annotations from the hints of an MCP tool (`readOnlyHint`, …). They are unconfirmed. Omits malformed hints. */
export function fromMcpAnnotations(hints: unknown): Annotations {
  const given = isPlainObject(hints) ? hints : {};
  const known = EFFECTS.filter((name) => typeof given[`${name}Hint`] === "boolean");
  return { confirmed: false, ...Object.fromEntries(known.map((name) => [name, given[`${name}Hint`]])) };
}
