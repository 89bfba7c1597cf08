import { type DialectName, toDialect } from "./adapters/dialects/built-in.ts";
import type { Principal } from "./guard/principal.ts";
import type { ToolQuery } from "./retrieve/query.ts";
import type { Tool } from "./tool/tool.ts";
import { convertSet } from "./transcode/convert-set.ts";
import type { Dialect } from "./transcode/dialect.port.ts";

/** A dialect, or as much of one as writing definitions takes. */
export type DefinitionWriter = Pick<Dialect, "fromCanonical"> & Partial<Dialect>;

/** How tools are written for a model's API. */
export interface DefinitionOptions {
  /** A dialect, or the name of a built-in one. `openai` where absent. */
  readonly dialect?: DefinitionWriter | DialectName;
  /** Asks for the provider's strict mode for the tools that can have it, within what one request may hold. */
  readonly strict?: boolean;
  /** What `auto` goes by: the provider's client, a model's name, or an answer of the API. */
  readonly client?: unknown;
}

/** What `retrieveTools` takes beside the request: any part of a query, and the shape the model's API accepts. */
export type RetrieveToolsOptions = Omit<ToolQuery, "context"> &
  DefinitionOptions & { readonly context?: Omit<ToolQuery["context"], "query"> };

/** For whom something is asked of the catalog: what they may not see does not exist for them. */
export interface AskedBy {
  readonly principal?: Principal;
}

/** Returns what writes tools, in their order, as one request to a provider takes them. Throws QUERY_INVALID for what is no dialect. */
export function definitionWriter(
  options: DefinitionOptions,
): (tools: readonly Tool[]) => readonly Record<string, unknown>[] {
  const { dialect = "openai", strict = false, client } = options;
  if (isPartial(dialect)) return (tools) => tools.map((tool) => dialect.fromCanonical(tool));
  const target = toDialect(dialect as Dialect | DialectName, client);
  const { limits } = target;
  const set = { strict, ...(limits === undefined ? {} : { limits }) };
  return (tools) => convertSet(tools, target, set).map(({ definition }) => definition);
}

/** True for what writes definitions and nothing else. */
function isPartial(dialect: unknown): dialect is Pick<Dialect, "fromCanonical"> {
  const { fromCanonical, convert } = (dialect ?? {}) as Partial<Dialect>;
  return typeof fromCanonical === "function" && typeof convert !== "function";
}
