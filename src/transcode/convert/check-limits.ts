import type { JsonSchema } from "../../tool/json-schema.ts";
import type { Conversion } from "./conversion.ts";
import { measureSchema } from "../schema/measure-schema.ts";

/** OpenAI: the values of one list of more than 250 have at most this many characters. */
const MAX_LONG_LIST_CHARACTERS = 15_000;

/** Refuses a schema that is larger than the target takes, saying in what. */
export function checkLimits(schema: JsonSchema, { target, lose }: Conversion): void {
  const { maxDepth, maxProperties, maxEnumValues, maxCharacters } = target;
  if (
    maxDepth === undefined &&
    maxProperties === undefined &&
    maxEnumValues === undefined &&
    maxCharacters === undefined
  )
    return;
  const size = measureSchema(schema);
  const check = (keyword: string, count: number, limit: number | undefined, what: string): void => {
    if (limit !== undefined && count > limit)
      lose("", keyword, "refused", `${count} ${what}, where ${limit} are taken`);
  };
  check("properties", size.properties, maxProperties, "properties");
  check("type", size.depth, maxDepth, "levels of objects and lists");
  check("enum", size.enumValues, maxEnumValues, "listed values");
  check(
    "enum",
    size.longListCharacters,
    maxEnumValues && MAX_LONG_LIST_CHARACTERS,
    "characters in one long list of values",
  );
  check("properties", size.characters, maxCharacters, "characters of names and listed values");
}
