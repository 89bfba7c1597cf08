import { isPlainObject } from "../../../tool/json-schema.ts";

/** A text in a tool's definition that a model gets to read, and where it is. */
export interface ToolText {
  /** `description`, `parameters.properties.city.description` */
  readonly path: string;
  readonly text: string;
}

/** What a model, or a person who approves it, reads of a definition: canonical or of MCP. `sourceMeta` goes to MCP clients as it came. */
const READ_PARTS =
  "name title description extendedDescription examples tags category deprecationMessage instructions annotations parameters inputSchema input_schema returns outputSchema sourceMeta";

/** Keywords of JSON Schema whose values are for validators. */
export const FOR_VALIDATORS: ReadonlySet<string> = new Set(["$schema", "$id", "$ref", "type", "format", "pattern"]);
/** Words one after another: whatever it calls itself, a model reads it as a sentence. */
const SENTENCE = /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i;

/** A definition with more parts is no longer read by a person either: it counts as one that cannot be scanned. */
const MAX_PARTS = 50_000;

/** So many texts are read one by one. Those after them are read together: a text costs more than its characters. */
const MAX_TEXTS = 1_000;

/** Every text of a tool's definition once, names of parameters included. Throws on one that is too large to read. */
export function toolTexts(tool: object): readonly ToolText[] {
  const texts: ToolText[] = [];
  const further: string[] = [];
  const names = new Set<string>();
  const seen = new Set<string>();
  const given = tool as Readonly<Record<string, unknown>>;
  const present = READ_PARTS.split(" ").filter((part) => given[part] !== undefined);
  const pending = present.map((path) => ({ path, value: given[path] })).toReversed();
  let parts = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, value } = next;
    if (++parts > MAX_PARTS) throw new Error(`The definition has more than ${MAX_PARTS} parts.`);
    if (typeof value === "string") {
      if (!seen.has(value) && texts.length < MAX_TEXTS) texts.push({ path, text: value });
      else if (!seen.has(value)) further.push(value);
      seen.add(value);
    } else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index--)
        pending.push({ path: `${path}.${index}`, value: value[index] });
    } else if (isPlainObject(value)) {
      const members = Object.entries(value);
      for (const [key] of members) names.add(key);
      for (const [key, inner] of members.toReversed())
        if (typeof inner !== "string" || !FOR_VALIDATORS.has(key) || SENTENCE.test(inner))
          pending.push({ path: `${path}.${key}`, value: inner });
    }
  }
  if (further.length > 0) texts.push({ path: "further texts", text: further.join("\n") });
  if (names.size > 0) texts.push({ path: "names", text: [...names].join("\n") });
  return texts;
}
