import type { JsonSchema } from "../tool/json-schema.ts";
import type { Tool } from "../tool/tool.ts";
import type { Converted, Dialect, SetLimits } from "./dialect.port.ts";
import { measureSchema, type SchemaSize } from "./convert-schema.ts";

/** Options to write a set of definitions. */
export interface ConvertSetOptions {
  /** Uses the provider's strict mode for every tool that supports it. */
  readonly strict?: boolean;
  /** The limits of one request. Strict mode then goes to the first tools that fit. Defaults to strict mode for every tool that supports it. */
  readonly limits?: SetLimits;
  /** Returns the name of a tool. Defaults to its alias. */
  readonly nameOf?: (tool: Tool) => string;
}

/** Writes definitions for one request, in order. Decides on strict mode for the whole set, because one request allows a limited amount. */
export function convertSet<Definition extends object>(
  tools: readonly Tool[],
  dialect: Dialect<Definition>,
  { strict = false, limits, nameOf }: ConvertSetOptions = {},
): readonly Converted<Definition>[] {
  const convert = (tool: Tool, strictly: boolean): Converted<Definition> =>
    dialect.convert(tool, { strict: strictly, ...(nameOf === undefined ? {} : { name: nameOf(tool) }) });
  const converted = tools.map((tool) => convert(tool, strict));
  if (!strict || limits === undefined) return converted;
  // Only the dialect can extract the schema from a definition.
  const schemas = converted.map(({ strict: isStrict, definition }) =>
    isStrict ? (dialect.toCanonical(structuredClone(definition)).parameters ?? {}) : undefined,
  );
  const reasons = whyNotStrict(schemas, limits);
  return converted.map((each, index) => {
    const reason = reasons[index];
    const tool = tools[index];
    if (!each.strict || reason === undefined || tool === undefined) return each;
    const loose = convert(tool, false);
    const message = `not strict in this set: ${reason}`;
    return { ...loose, losses: [...loose.losses, { path: "", keyword: "strict", action: "refused", message }] };
  });
}

/** A measured size, the limit on its sum over the tools, and its name for messages. */
const SUMS: readonly (readonly [keyof SchemaSize, keyof SetLimits, string])[] = [
  ["optionalParameters", "maxOptionalParameters", "optional parameters"],
  ["unionParameters", "maxUnionParameters", "parameters of several types"],
  ["properties", "maxProperties", "properties"],
  ["enumValues", "maxEnumValues", "listed values"],
  ["characters", "maxCharacters", "characters of names and listed values"],
];

/** Returns why each tool is not strict, within the limits of one request. Takes schemas, best first; undefined for a tool without strict mode. */
export function whyNotStrict(
  schemas: readonly (JsonSchema | undefined)[],
  limits: SetLimits,
): readonly (string | undefined)[] {
  const { maxStrictTools = Infinity, maxDepth = Infinity } = limits;
  const totals = new Map<keyof SchemaSize, number>();
  let count = 0;

  return schemas.map((schema) => {
    if (schema === undefined) return "its schema cannot be strict";
    if (count >= maxStrictTools) return `${maxStrictTools} tools are strict already, which is the most`;
    const size = measureSchema(schema);
    if (size.depth > maxDepth) return `it has ${size.depth} levels; at most ${maxDepth} are accepted`;
    for (const [what, limit, words] of SUMS) {
      const [most, sum] = [limits[limit] ?? Infinity, (totals.get(what) ?? 0) + size[what]];
      if (sum > most) return `the strict tools would have ${sum} ${words}; at most ${most} are accepted`;
    }
    count += 1;
    for (const [what] of SUMS) totals.set(what, (totals.get(what) ?? 0) + size[what]);
    return undefined;
  });
}
