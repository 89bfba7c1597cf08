import { isPlainObject } from "../../../tool/json-schema.ts";

/** A text in a tool's definition that a model reads. */
export interface ToolText {
  /** `description`, `parameters.properties.city.description` */
  readonly path: string;
  readonly text: string;
}

/** The parts of a definition, canonical or MCP, that a model or an approver reads. `sourceMeta` goes to MCP clients unchanged. */
const READ_PARTS =
  "name title description extendedDescription examples tags category deprecationMessage instructions annotations parameters inputSchema input_schema returns outputSchema sourceMeta";

/** Keywords of JSON Schema whose values are for validators. */
export const FOR_VALIDATORS: ReadonlySet<string> = new Set(["$schema", "$id", "$ref", "type", "format", "pattern"]);
/** Matches several words in a row, which a model reads as a sentence. */
const SENTENCE = /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i;

/** A definition with more parts counts as impossible to scan; people could not read it either. */
const MAX_PARTS = 50_000;

/** The number of texts that are scanned individually. Further texts are scanned together, because each scan has a fixed cost. */
const MAX_TEXTS = 1_000;

/** Returns every text of a tool's definition once, including names of parameters. Throws if the definition is too large. */
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
