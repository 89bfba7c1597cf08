import type { RetrieveOptions, ToolQuery } from "../../retrieve/query.ts";
import { present } from "../../base/present.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Dialect } from "../../transcode/dialect.port.ts";
import type { DialectName } from "./built-in.ts";

/** A dialect, or only its definition writer. */
export type DefinitionWriter<Definition extends object = object> = Pick<Dialect<Definition>, "fromCanonical"> &
  Partial<Dialect<Definition, unknown>>;

/** A built-in dialect, one added to the arsenal, by name, or a dialect itself. */
export type AnyDialect = DialectName | Dialect | (string & {});

/** Options for writing tools in a model's format. */
export interface DefinitionOptions<Given = DialectName | DefinitionWriter> {
  /** A dialect, or the name of a built-in one. Defaults to `openai`. */
  readonly dialect?: Given;
  /** Uses the provider's strict mode for the tools that support it, within the limits of one request. */
  readonly strict?: boolean;
  /** The hint for `auto`: the provider's client, a model's name, or an answer of the API. */
  readonly client?: unknown;
}

/** The options of `retrieveTools`: any part of a query, and the dialect to write the tools in. */
export type RetrieveToolsOptions<Given = DialectName | DefinitionWriter> = RetrieveOptions & DefinitionOptions<Given>;

/** Makes the query of a request in words. */
export function toToolQuery(query: string, options: RetrieveToolsOptions): ToolQuery {
  const { dialect: _dialect, strict: _strict, client: _client, context, ...rest } = options;
  return { ...rest, context: { ...context, query } };
}

/** Returns a function that writes tools, in order, for one request to a provider. Rejects with QUERY_INVALID if the dialect is unknown. */
export async function definitionWriter(
  options: DefinitionOptions,
  /** Dialects added to an arsenal. */
  further?: ReadonlyMap<string, Dialect>,
): Promise<(tools: readonly Tool[]) => object[]> {
  const { dialect = "openai", strict = false, client } = options;
  if (isPartial(dialect)) return (tools) => tools.map((tool) => dialect.fromCanonical(tool));
  const { toDialect } = await import("./built-in.ts");
  const { convertSet } = await import("../../transcode/convert-set.ts");
  const target = await toDialect(dialect as Dialect | DialectName, client, further);
  const set = present({ strict, limits: target.limits });
  return (tools) => convertSet(tools, target, set).map(({ definition }) => definition);
}

/** Returns true for a writer of definitions without the other methods. */
function isPartial(dialect: unknown): dialect is Pick<Dialect, "fromCanonical"> {
  const { fromCanonical, convert } = (dialect ?? {}) as Partial<Dialect>;
  return typeof fromCanonical === "function" && typeof convert !== "function";
}
