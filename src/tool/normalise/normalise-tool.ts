import { assembleTool, CAPABILITIES, type Capability, RISK_LEVELS, type Tool, type ToolSource } from "../tool.ts";
import { divide, fitDescription, isFittingDescription } from "./complete-description.ts";
import { canonicalJson, type HashedFields, shortHash } from "../json/canonical-json.ts";
import { DRAFT_FIELDS, isItself, type SourceDraft, type ToolDraft } from "../draft.ts";
import { isPlainObject } from "../json-schema.ts";
import { DEFAULT_NAMESPACE, LIMITS, riskOf } from "../limits.ts";
import {
  saysDeprecated,
  toAnnotations,
  toCost,
  toDependencies,
  toMembers,
  toObjectSchema,
  toTexts,
  toTimeout,
  toVersion,
} from "./normalise-fields.ts";
import { present } from "../../base/present.ts";
import { isSame } from "../schema/keywords.ts";
import { type DataLimits, toPlainData } from "../schema/plain-data.ts";
import { DEFINITION_LIMITS, measureSchema, refusedParameters } from "../schema/schema-limits.ts";
import { toName, toNamespace, withTail } from "./slug.ts";

export interface DraftOrigin {
  readonly source: ToolSource;
  /** The default namespace of a draft. It may be in any spelling. */
  readonly namespace: string;
  /** Returns whether a draft may use the namespace that it names. If not, it gets the origin's own. Defaults to any. */
  readonly mayUse?: (namespace: string) => boolean;
  /** Capabilities of every tool of the origin, in addition to its declared ones. */
  readonly capabilities?: readonly Capability[];
  /** True if the operator trusts the origin's hints. */
  readonly trustsAnnotations?: boolean;
  readonly ensemble?: string;
  /** Returns whether another tool already has this id. The new tool then gets a hash at the end of its name. */
  readonly taken?: (id: string) => boolean;
  /** Milliseconds since the epoch. Defaults to the draft's own value, then to now. */
  readonly createdAt?: number;
}

/**
 * Normalises a tool from a source or an evaluation file. Completes or adjusts missing and invalid fields, and refuses none. Keeps the originals: the
 * name in `sourceName`, other fields under their name in `sourceMeta`.
 */
export function normaliseTool(draft: SourceDraft, from: DraftOrigin): Tool {
  const given = readDraft(draft);
  const originals = new Map<string, unknown>();
  /** Keeps the source's value if the result differs. */
  const keep = <Value>(field: keyof ToolDraft, value: Value, same: unknown = given[field]): Value => {
    if (isPresent(given[field]) && !isSame(value, same)) originals.set(field, given[field]);
    return value;
  };
  const text = (field: keyof ToolDraft): string | undefined => {
    const value = given[field];
    if (typeof value === "string" && value.trim() !== "") return value;
    if (isPresent(value) && value !== "") originals.set(field, value);
    return undefined;
  };
  const flag = (field: keyof ToolDraft): boolean => keep(field, given[field] === true);
  const record = (field: keyof ToolDraft): RawDraft | undefined => {
    const value = given[field];
    return keep(field, isPlainObject(value) ? value : undefined);
  };

  const identity = toIdentity(given, from, originals);
  const parameters = keep("parameters", toObjectSchema(given["parameters"]));
  if (given["parameters"] === null) originals.set("parameters", null);
  const descriptions = toDescriptions(given, identity, parameters, originals);
  const declared = keep("capabilities", toMembers(given["capabilities"], CAPABILITIES));
  const capabilities = withImplied(declared, from.capabilities);
  const { annotations: givenHints } = given;
  const unconfirmed = isPlainObject(givenHints) ? { confirmed: false, ...givenHints } : givenHints;
  const hints = keep("annotations", toAnnotations(givenHints), unconfirmed);
  const annotations = from.trustsAnnotations === true ? Object.freeze({ ...hints, confirmed: true }) : hints;
  const statedRisk = RISK_LEVELS.find((level) => level === given["riskLevel"]);
  const title = text("title") ?? titleOf(givenHints);
  const givenEnsemble = text("ensemble");
  const ensemble = from.ensemble ?? givenEnsemble;
  if (givenEnsemble !== undefined && givenEnsemble !== ensemble) originals.set("ensemble", givenEnsemble);
  const successor = text("supersededBy");
  const supersededBy = successor !== undefined && isItself(successor, identity) ? undefined : successor;
  if (successor !== supersededBy) originals.set("supersededBy", successor);

  const fields = {
    ...identity,
    ...descriptions,
    ...present({
      title,
      category: text("category"),
      returns: record("returns"),
      sourceUri: text("sourceUri"),
      ensemble,
      timeoutMs: keep("timeoutMs", toTimeout(given["timeoutMs"])),
      deprecationMessage: text("deprecationMessage"),
      supersededBy,
    }),
    examples: keep("examples", toTexts(given["examples"], LIMITS.examples)),
    tags: keep("tags", toTexts(given["tags"])),
    parameters,
    source: keep("source", from.source),
    capabilities,
    riskLevel: keep("riskLevel", statedRisk ?? riskOf(capabilities, annotations)),
    requiredScopes: keep("requiredScopes", toTexts(given["requiredScopes"])),
    requiresConfirmation: flag("requiresConfirmation"),
    annotations,
    dependencies: keep("dependencies", toDependencies(given["dependencies"], identity)),
    cost: keep("cost", toCost(given["cost"])),
    metadata: record("metadata") ?? NOTHING,
    deprecated: flag("deprecated") || saysDeprecated({ ...descriptions, title, name: identity.sourceName }),
  };
  return finish(fields, given, originals, from);
}

type RawDraft = Readonly<Record<string, unknown>>;

const NOTHING: Readonly<Record<string, never>> = Object.freeze({});

function withImplied(declared: readonly Capability[], implied: readonly Capability[] = []): readonly Capability[] {
  const undeclared = implied.filter((capability) => !declared.includes(capability));
  return undeclared.length === 0 ? declared : Object.freeze([...declared, ...undeclared]);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Bounded, because a draft is hashed, stored and indexed synchronously. */
const DRAFT_LIMITS: DataLimits = { values: 60_000, characters: 2_000_000 };

/** Returns the draft as plain data. A value that is not an object becomes a draft that contains only the value. */
function readDraft(draft: unknown): RawDraft {
  const plain = toPlainData(withoutHugeParts(draft), undefined, DRAFT_LIMITS);
  return isPlainObject(plain) ? plain : { draft: plain ?? null };
}

/** Replaces an oversized schema with one that states the reason, before it is copied, hashed or stored. Cuts an oversized description. */
function withoutHugeParts(draft: unknown): unknown {
  try {
    if (!isPlainObject(draft)) return draft;
    let light = draft;
    for (const field of ["parameters", "returns"]) {
      const { tooLarge } = measureSchema(draft[field]);
      if (tooLarge !== undefined) light = { ...light, [field]: refusedParameters(tooLarge) };
    }
    for (const field of ["description", "extendedDescription"]) {
      const text = draft[field];
      if (typeof text === "string" && text.length > DEFINITION_LIMITS.characters)
        light = { ...light, [field]: text.slice(0, DEFINITION_LIMITS.characters) };
    }
    return light;
  } catch {
    return draft; // the copy omits unreadable values
  }
}

function toIdentity(
  given: RawDraft,
  from: DraftOrigin,
  originals: Map<string, unknown>,
): Pick<HashedFields, "name" | "namespace" | "version" | "sourceName"> {
  const named = typeof given["namespace"] === "string" && given["namespace"].trim() !== "";
  const originalNamespace = named ? String(given["namespace"]) : from.namespace;
  const asked = fitNamespace(originalNamespace);
  const namespace = named && from.mayUse?.(asked) === false ? fitNamespace(from.namespace) : asked;
  if (namespace !== originalNamespace) originals.set("namespace", originalNamespace);
  else if (!named && isPresent(given["namespace"])) originals.set("namespace", given["namespace"]);

  const original = originalName(given);
  const name = freeName(toName(original), namespace, `${originalNamespace}\0${original}`, from.taken);
  let sourceName = given["sourceName"];
  if (typeof sourceName !== "string") {
    if (isPresent(sourceName)) originals.set("sourceName", sourceName);
    sourceName = typeof given["name"] === "string" ? given["name"] : name;
  }
  if (sourceName !== given["name"] && name !== given["name"] && isPresent(given["name"]))
    originals.set("name", given["name"]);

  const version = toVersion(given["version"]);
  if (isPresent(given["version"]) && given["version"] !== version) originals.set("version", given["version"]);
  return { name, namespace, version, sourceName: sourceName as string };
}

function fitNamespace(namespace: string): string {
  return namespace.trim() === "" ? DEFAULT_NAMESPACE : toNamespace(namespace);
}

/** Returns the draft's name, or the best substitute in the draft. */
function originalName(given: RawDraft): string {
  const { name, sourceName, title } = given;
  for (const candidate of [name, sourceName, title]) {
    if (typeof candidate === "string" && candidate.trim() !== "") return candidate;
    if (typeof candidate === "number" || typeof candidate === "boolean") return String(candidate);
  }
  return `tool_${shortHash(canonicalJson(given), 8)}`;
}

/** Returns the name, with a hash at its end if it is taken. Exponential and binary search keep ten thousand equal names fast. */
function freeName(name: string, namespace: string, original: string, taken: DraftOrigin["taken"]): string {
  const isTaken = (candidate: string): boolean => taken?.(`${namespace}.${candidate}`) ?? false;
  if (!isTaken(name)) return name;
  const attempt = (count: number): string => withTail(name, count === 1 ? original : `${original}\0${count}`);
  let free = 1;
  while (free < 2 ** 30 && isTaken(attempt(free))) free *= 2;
  let low = Math.floor(free / 2);
  while (free - low > 1) {
    const middle = Math.floor((low + free) / 2);
    if (isTaken(attempt(middle))) low = middle;
    else free = middle;
  }
  return attempt(free);
}

function toDescriptions(
  given: RawDraft,
  { sourceName, name }: { readonly sourceName: string; readonly name: string },
  parameters: HashedFields["parameters"],
  originals: Map<string, unknown>,
): Pick<HashedFields, "description" | "extendedDescription"> {
  const original = given["description"];
  const givenText = typeof original === "string" ? original : "";
  let description = givenText;
  let rest = "";
  if (!isFittingDescription(givenText)) {
    const described = isPlainObject(given["parameters"]) ? parameters : undefined;
    // The source's own spelling preserves word boundaries. A name in another script is better than its hash.
    const words = sourceName.trim() === "" ? name : sourceName.slice(0, LIMITS.descriptionMax);
    ({ description, rest } = fitDescription(givenText, words, described));
    originals.set("description", original ?? null);
  }
  const extended = given["extendedDescription"];
  const extendedText = typeof extended === "string" && extended.trim() !== "" ? extended : "";
  const whole = rest === "" ? extendedText : [rest, extendedText].filter((part) => part !== "").join("\n\n");
  const fitted =
    whole.length > LIMITS.extendedDescriptionMax ? divide(whole, LIMITS.extendedDescriptionMax).head : whole;
  if (fitted !== extended && isPresent(extended) && extended !== "") originals.set("extendedDescription", extended);
  return fitted.trim() === "" ? { description } : { description, extendedDescription: fitted };
}

/** Older MCP servers put the title into the annotations. */
function titleOf(annotations: unknown): string | undefined {
  const title = isPlainObject(annotations) ? annotations["title"] : undefined;
  return typeof title === "string" && title.trim() !== "" ? title : undefined;
}

/** Fields of a tool that a source cannot set. */
const MADE_FIELDS: ReadonlySet<string> = new Set(["id", "contentHash", "ownedByCode"] satisfies (keyof Tool)[]);

/** Adds the source's other fields, the id and the hash. */
function finish(
  fields: Omit<HashedFields, "sourceMeta">,
  given: RawDraft,
  originals: ReadonlyMap<string, unknown>,
  from: DraftOrigin,
): Tool {
  const meta = new Map(originals);
  const add = (key: string, value: unknown): void => {
    let free = key;
    for (let count = 2; meta.has(free); count++) free = `${key}_${count}`;
    meta.set(free, value);
  };
  const { sourceMeta, createdAt, id, contentHash: givenHash } = given;
  if (isPlainObject(sourceMeta)) for (const [key, value] of Object.entries(sourceMeta)) add(key, value);
  else if (isPresent(sourceMeta)) add("sourceMeta", sourceMeta);
  for (const [key, value] of Object.entries(given)) {
    if (!DRAFT_FIELDS.has(key) && !MADE_FIELDS.has(key)) add(key, value);
  }
  const isTime = typeof createdAt === "number" && createdAt >= 0;
  if (!isTime && isPresent(createdAt)) add("createdAt", createdAt);
  if (id !== undefined && id !== `${fields.namespace}.${fields.name}`) add("id", id);

  const assemble = (): Tool => {
    const kept = Object.freeze(Object.fromEntries(meta)); // defines own properties, including one named __proto__
    return assembleTool({ ...fields, sourceMeta: kept }, isTime ? createdAt : (from.createdAt ?? Date.now()));
  };
  const tool = assemble();
  if (givenHash === undefined || givenHash === tool.contentHash) return tool;
  add("contentHash", givenHash);
  return assemble();
}

/** Returns a tool's exact name and description from its source; null if the source had none. */
export function originalOf(tool: Pick<Tool, "namespace" | "description" | "sourceName" | "sourceMeta">): {
  readonly name: string;
  readonly namespace: unknown;
  readonly description: unknown;
} {
  const { namespace, description } = { namespace: tool.namespace, description: tool.description, ...tool.sourceMeta };
  return { name: tool.sourceName, namespace, description };
}
