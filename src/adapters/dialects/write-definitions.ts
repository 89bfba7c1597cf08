import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import type { RetrieveOptions, ToolQuery } from "../../retrieve/query.ts";
import { present } from "../../base/present.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Dialect } from "../../transcode/dialect.port.ts";
import type { DialectName } from "./built-in.ts";

/** A dialect, or only its definition writer. */
export type DefinitionWriter<Definition extends object = object> = Pick<Dialect<Definition>, "fromCanonical"> &
  Partial<Dialect<Definition, unknown>>;

/** A dialect: built in, added to the arsenal (by name), or an object. */
export type AnyDialect = DialectName | Dialect | (string & {});

/** Options for writing tools in a model's format. */
export interface DefinitionOptions<Given = DialectName | DefinitionWriter> {
  /** A dialect, or the name of a built-in one. Defaults to `openai`. */
  readonly dialect?: Given;
  /** Uses the provider's strict mode for the tools that support it, within the limits of one request. */
  readonly strict?: boolean;
  /**
   * Sends every tool that the caller may call to the provider's own search. The retrieved tools are loaded, the others are deferred. For `anthropic`
   * and `openai-responses`.
   */
  readonly providerSearch?: boolean;
  /** The hint for `auto`: the provider's client, a model's name, or a response of the API. */
  readonly client?: unknown;
}

/** The options of `retrieveTools`: the fields of a query, and the dialect of the definitions. */
export type RetrieveToolsOptions<Given = DialectName | DefinitionWriter> = RetrieveOptions & DefinitionOptions<Given>;

export function toToolQuery(query: string, options: RetrieveToolsOptions): ToolQuery {
  const { dialect: _dialect, strict: _strict, client: _client, providerSearch: _search, context, ...rest } = options;
  return { ...rest, context: { ...context, query } };
}

/**
 * Returns a function that writes tools, in order, for one request to a provider, including the tools for the provider's search. Rejects with
 * QUERY_INVALID if the dialect is unknown, or if it has no provider search but the options require one.
 */
export async function definitionWriter(
  options: DefinitionOptions,
  further?: ReadonlyMap<string, Dialect>,
): Promise<(tools: readonly Tool[], searched?: readonly Tool[]) => object[]> {
  const { dialect = "openai", strict = false, client, providerSearch = false } = options;
  if (isPartial(dialect)) {
    if (providerSearch) throw noProviderSearch("a writer of definitions");
    return (tools) => tools.map((tool) => dialect.fromCanonical(tool));
  }
  const { toDialect } = await import("./built-in.ts");
  const { convertSet } = await import("../../transcode/convert-set.ts");
  const target = await toDialect(dialect as Dialect | DialectName, client, further);
  const set = present({ strict, limits: target.limits });
  const search = target.providerSearch;
  if (!providerSearch) return (tools) => convertSet(tools, target, set).map(({ definition }) => definition);
  if (search === undefined) throw noProviderSearch(`the dialect "${target.name}"`);
  return (tools, searched = []) => {
    const loaded = new Set(tools.map(({ id }) => id));
    const deferred = searched.filter(({ id }) => !loaded.has(id));
    const all = [...tools, ...deferred].slice(0, search.maxTools ?? Infinity);
    const written = convertSet(all, target, set).map(({ definition }, at) => ({ definition, tool: all[at] as Tool }));
    return search.write(
      written.slice(0, tools.length).map(({ definition }) => definition),
      written.slice(tools.length),
    );
  };
}

function noProviderSearch(what: string): ArsenalError {
  const field = "providerSearch";
  const fix =
    'Use dialect: "anthropic" or dialect: "openai-responses", or leave providerSearch out: retrieval then finds the tools.';
  return fixable("QUERY_INVALID", `providerSearch is true, but ${what} has no tool search.`, fix, {
    field,
    value: true,
  });
}

/** True for a writer of definitions without the other methods of a dialect. */
function isPartial(dialect: unknown): dialect is Pick<Dialect, "fromCanonical"> {
  const { fromCanonical, convert } = (dialect ?? {}) as Partial<Dialect>;
  return typeof fromCanonical === "function" && typeof convert !== "function";
}
