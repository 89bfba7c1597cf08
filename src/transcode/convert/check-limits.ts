import type { JsonSchema } from "../../tool/json-schema.ts";
import { measureSchema, type SchemaSize } from "../schema/measure-schema.ts";
import type { SchemaTarget } from "../convert-schema.ts";
import type { Conversion } from "./conversion.ts";

/** What is counted, the limit on it, and the keyword and the words for it. */
const LIMITS: readonly (readonly [keyof SchemaSize, keyof SchemaTarget, keyword: string, words: string])[] = [
  ["properties", "maxProperties", "properties", "properties"],
  ["depth", "maxDepth", "type", "levels of objects and lists"],
  ["enumValues", "maxEnumValues", "enum", "listed values"],
  ["longListCharacters", "maxLongListCharacters", "enum", "characters in one long list of values"],
  ["characters", "maxCharacters", "properties", "characters of names and listed values"],
];

/** Refuses a schema that is larger than the target accepts, and says in what. */
export function checkLimits(schema: JsonSchema, { target, lose }: Conversion): void {
  if (LIMITS.every(([, limit]) => target[limit] === undefined)) return;
  const size = measureSchema(schema);
  for (const [counted, limit, keyword, words] of LIMITS) {
    const [count, most] = [size[counted], target[limit]];
    if (typeof most === "number" && count > most)
      lose("", keyword, "refused", `${count} ${words}, where ${most} are taken`);
  }
}
