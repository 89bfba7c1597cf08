import type { JsonSchema } from "../tool/json-schema.ts";
import type { Tool } from "../tool/tool.ts";
import type { Converted, Dialect, SetLimits } from "./dialect.port.ts";
import type { Loss } from "./losses.ts";
import { decideStrict } from "./set-limits.ts";

/** How a set of definitions is written. */
export interface ConvertSetOptions {
  /** Asks for the provider's strict mode for every tool that can have it. */
  readonly strict?: boolean;
  /** What one request may hold: strict mode then goes to the first tools that fit. Every tool that can be is strict where absent. */
  readonly limits?: SetLimits;
  /** The names to write instead of the aliases. */
  readonly nameOf?: (tool: Tool) => string;
}

/** Definitions for one request, in the order of the tools. Strict mode is decided for the set: one request holds only so much of it. */
export function convertSet<Definition extends object>(
  tools: readonly Tool[],
  dialect: Dialect<Definition>,
  { strict = false, limits, nameOf }: ConvertSetOptions = {},
): readonly Converted<Definition>[] {
  const convert = (tool: Tool, strictly: boolean): Converted<Definition> =>
    dialect.convert(tool, { strict: strictly, ...(nameOf === undefined ? {} : { name: nameOf(tool) }) });
  const converted = tools.map((tool) => convert(tool, strict));
  if (!strict || limits === undefined) return converted;
  const candidates = converted.map((each, index) => ({
    name: String(index),
    possible: each.strict,
    schema: schemaOf(dialect, each.definition),
  }));
  const decisions = decideStrict(candidates, limits);
  return converted.map((each, index) => {
    const decision = decisions[index];
    const tool = tools[index];
    if (!each.strict || decision?.strict !== false || tool === undefined) return each;
    const loose = convert(tool, false);
    return { ...loose, losses: [...loose.losses, refusal(decision.reason)] };
  });
}

/** The schema within a definition, which only its dialect knows how to find. */
function schemaOf(dialect: Dialect<object>, definition: object): JsonSchema {
  return dialect.toCanonical(structuredClone(definition)).parameters ?? {};
}

function refusal(reason = "one request holds no more of it"): Loss {
  return { path: "", keyword: "strict", action: "refused", message: `not strict in this set: ${reason}` };
}
