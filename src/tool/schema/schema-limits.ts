import type { JsonSchema } from "../json-schema.ts";

/** The size of a schema. Characters, not bytes, because counting bytes would require writing the schema out. */
export interface SchemaSize {
  readonly characters: number;
  /** The number of objects, arrays and their members. */
  readonly values: number;
  readonly depth: number;
}

/** The limits on a schema: several times those of any model's API. */
export const SCHEMA_LIMITS: SchemaSize = { characters: 1_000_000, values: 20_000, depth: 100 };

/** The limits on a server's complete definition of a tool: about 64,000 tokens, more than a model could use. */
export const DEFINITION_LIMITS: SchemaSize = { characters: 262_144, values: 20_000, depth: Infinity };

/** The size of a schema, measured until it exceeds a limit. `tooLarge` then describes the limit. */
export interface MeasuredSchema extends SchemaSize {
  readonly tooLarge?: string;
}

/** Measures plain data without recursion or copies, so any depth and size is safe. Cyclic data counts as infinitely deep. */
export function measureSchema(schema: unknown, limits: SchemaSize = SCHEMA_LIMITS): MeasuredSchema {
  const waiting: unknown[] = [schema];
  const depths: number[] = [1];
  let [characters, values, depth] = [0, 0, 0];
  const found = (tooLarge?: string): MeasuredSchema =>
    tooLarge === undefined ? { characters, values, depth } : { characters, values, depth, tooLarge };

  while (waiting.length > 0) {
    const value = waiting.pop();
    const level = depths.pop() ?? 0;
    if (++values > limits.values) return found(`has more than ${limits.values.toLocaleString("en")} values`);
    characters += typeof value === "string" ? value.length + 3 : 2;
    if (typeof value === "object" && value !== null) {
      depth = Math.max(depth, level);
      if (depth > limits.depth) return found(`is nested more than ${limits.depth} levels deep`);
      const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
      // Counts the members of one huge array without reading them.
      if (members.length > limits.values) {
        values += members.length;
        return found(`has more than ${limits.values.toLocaleString("en")} values`);
      }
      if (!Array.isArray(value)) for (const key of Object.keys(value)) characters += key.length + 3;
      for (const member of members) {
        waiting.push(member);
        depths.push(level + 1);
      }
    }
    if (characters > limits.characters) {
      return found(`has more than ${limits.characters.toLocaleString("en")} characters`);
    }
  }
  return found();
}

/** Marks parameters that replace oversized ones. */
const REFUSED = "x-toolarsenal-refused";

/** Returns parameters that replace oversized ones of a source. The tool is still listed and found; calling it returns the reason. */
export function refusedParameters(reason: string): JsonSchema {
  return Object.freeze({ type: "object", properties: Object.freeze({}), [REFUSED]: reason });
}

/** Returns why a tool's parameters were replaced; undefined if they were not. */
export function refusalOf(parameters: JsonSchema): string | undefined {
  const reason = parameters[REFUSED];
  return typeof reason === "string" ? reason : undefined;
}
