import { TYPES, WELL_FORMED, words } from "../../../../tool/schema/keywords.ts";

/** Keywords that describe a value. */
const DESCRIBING = words("type description title enum const format contentEncoding contentMediaType deprecated");

/** Keywords that refuse values. */
const REFUSING = words(
  "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties uniqueItems pattern",
);

/** True if a keyword means something in JSON Schema and can have this value. The rest is left out: one broken keyword would make the tool unusable. */
export function isSoundValue(keyword: string, value: unknown, direction: "request" | "answer" = "request"): boolean {
  if (!DESCRIBING.has(keyword) && (direction === "answer" || !REFUSING.has(keyword))) return false;
  switch (keyword) {
    case "type": {
      const types = [value].flat();
      return types.length > 0 && types.every((type) => TYPES.has(type)) && new Set(types).size === types.length;
    }
    case "const":
      return value !== undefined;
    case "contentEncoding":
    case "contentMediaType":
      return typeof value === "string";
    case "deprecated":
      return value === true;
    default:
      return WELL_FORMED.get(keyword)?.(value) === true;
  }
}
