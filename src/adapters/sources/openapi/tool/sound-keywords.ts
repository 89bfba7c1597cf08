type Check = (value: unknown) => boolean;

const TYPES: ReadonlySet<unknown> = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isCount: Check = (value) => Number.isInteger(value) && (value as number) >= 0;
const isFlag: Check = (value) => typeof value === "boolean";

/** Keywords that describe a value. */
const DESCRIBING: Readonly<Record<string, Check>> = {
  type: (value) =>
    TYPES.has(value) ||
    (Array.isArray(value) &&
      value.length > 0 &&
      value.every((each) => TYPES.has(each)) &&
      new Set(value).size === value.length),
  description: isText,
  title: isText,
  enum: (value) => Array.isArray(value) && value.length > 0,
  const: (value) => value !== undefined,
  format: isText,
  contentEncoding: isText,
  contentMediaType: isText,
  deprecated: (value) => value === true,
};

/** Keywords that refuse values. */
const REFUSING: Readonly<Record<string, Check>> = {
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minContains: isCount,
  maxContains: isCount,
  minProperties: isCount,
  maxProperties: isCount,
  uniqueItems: isFlag,
  pattern: isPattern,
};

/**
 * Whether a keyword means something in JSON Schema, and its value is one that it can have. What OpenAPI adds, and what authors get wrong, is
 * left out: one broken keyword would otherwise make the whole tool unusable.
 */
export function isSoundValue(keyword: string, value: unknown, direction: "request" | "answer" = "request"): boolean {
  if (Object.hasOwn(DESCRIBING, keyword)) return DESCRIBING[keyword]?.(value) ?? false;
  return direction === "request" && Object.hasOwn(REFUSING, keyword) && (REFUSING[keyword]?.(value) ?? false);
}

function isPattern(value: unknown): boolean {
  if (typeof value !== "string") return false;
  for (const flags of ["u", ""]) {
    try {
      return RegExp(value, flags) instanceof RegExp;
    } catch {
      // Many real patterns are legal only without the flag.
    }
  }
  return false;
}
