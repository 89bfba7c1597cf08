import type { JsonSchema } from "../tool/json-schema.ts";
import type { SetLimits } from "./dialect.port.ts";
import { measureSchema, type SchemaSize } from "./schema/measure-schema.ts";

/** A tool that could be strict: its schema as the strict target has it. */
export interface StrictCandidate {
  readonly name: string;
  readonly schema: JsonSchema;
  /** False where the strict target could not hold the schema. */
  readonly possible: boolean;
}

/** Whether one tool of the set is strict. */
export interface StrictDecision {
  readonly name: string;
  readonly strict: boolean;
  /** Why not. */
  readonly reason?: string;
}

/** What is added up over the tools, the limit on it, and what it is called. */
const SUMS: readonly (readonly [keyof SchemaSize, keyof SetLimits, string])[] = [
  ["optionalParameters", "maxOptionalParameters", "optional parameters"],
  ["unionParameters", "maxUnionParameters", "parameters of several types"],
  ["properties", "maxProperties", "properties"],
  ["enumValues", "maxEnumValues", "listed values"],
  ["characters", "maxCharacters", "characters of names and listed values"],
];

/**
 * Which tools of a retrieved set, best first, are strict so that the limits of one request hold. A tool that does not fit beside the better
 * ones is not strict; a smaller one after it still may be.
 */
export function decideStrict(candidates: readonly StrictCandidate[], limits: SetLimits): readonly StrictDecision[] {
  const { maxStrictTools = Infinity, maxDepth = Infinity } = limits;
  const totals = new Map<keyof SchemaSize, number>();
  let count = 0;

  return candidates.map(({ name, schema, possible }) => {
    const not = (reason: string): StrictDecision => ({ name, strict: false, reason });
    if (!possible) return not("its schema cannot be strict");
    if (count >= maxStrictTools) return not(`${maxStrictTools} tools are strict already, which is the most`);
    const size = measureSchema(schema);
    if (size.depth > maxDepth) return not(`it has ${size.depth} levels, where ${maxDepth} are taken`);
    for (const [what, limit, words] of SUMS) {
      const [most, sum] = [limits[limit] ?? Infinity, (totals.get(what) ?? 0) + size[what]];
      if (sum > most) return not(`the strict tools would have ${sum} ${words}, where ${most} are taken`);
    }
    count += 1;
    for (const [what] of SUMS) totals.set(what, (totals.get(what) ?? 0) + size[what]);
    return { name, strict: true };
  });
}
