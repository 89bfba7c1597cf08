import type { DialectName, DialectTools, SearchDialectName, SearchedTools } from "../adapters/dialects/built-in.ts";
import type { AnyDialect, RetrieveToolsOptions } from "../adapters/dialects/write-definitions.ts";
import type { BatchCall, ToolCall } from "../execute/call.ts";
import type { BatchResult, ToolResult } from "../execute/result.ts";
import type { Principal } from "../guard/principal.ts";
import type { ToolQuery } from "../retrieve/query.ts";
import type { RetrievalResult } from "../retrieve/result.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool, ToolSource } from "../tool/tool.ts";

interface CallerScope {
  readonly principal?: Principal;
  readonly toolset?: string;
}

interface ViewScope extends CallerScope {
  /** Also includes tools that the caller may not call, each with `refused`. Defaults to false. */
  readonly includeRefused?: boolean;
}

interface ListRequest extends ViewScope {
  readonly namespace?: string;
  readonly source?: ToolSource;
  readonly filter?: ToolFilter;
  readonly limit?: number;
  readonly after?: string;
}

export interface ScopedTools {
  retrieve(query: ToolQuery): Promise<RetrievalResult>;
  listTools(options: ListRequest): Promise<readonly Tool[]>;
  getTool(name: string, namespace: string, by: ViewScope): Promise<Tool | undefined>;
  execute(call: ToolCall): Promise<ToolResult>;
}

/** The part of an arsenal that a runner needs. */
export interface RunnableArsenal extends ScopedTools {
  executeBatch(batch: BatchCall): Promise<BatchResult>;
  retrieveTools(query: string, options: RetrieveToolsOptions): Promise<object[]>;
  exportTools(
    format: AnyDialect,
    ids: readonly string[],
    options: DefinitionsRequest,
  ): Promise<{ readonly tools: readonly object[] }>;
}

interface DefinitionsRequest extends ViewScope {
  readonly strict?: boolean;
}

/** An arsenal limited to the tools of one toolset. The caller defaults to the local operator. */
export interface Runner {
  /** The name of the toolset. */
  readonly toolset: string;
  retrieve(query: Omit<ToolQuery, "toolset">): Promise<RetrievalResult>;
  /** Finds tools for a request, and returns them in the dialect's format. */
  retrieveTools<Name extends SearchDialectName>(
    query: string,
    options: Omit<RetrieveToolsOptions<Name>, "toolset"> & { readonly dialect: Name; readonly providerSearch: true },
  ): Promise<SearchedTools[Name][]>;
  retrieveTools<Name extends DialectName = "openai">(
    query: string,
    options?: Omit<RetrieveToolsOptions<Name>, "toolset">,
  ): Promise<DialectTools[Name][]>;
  /** Returns every tool that passes the filters, ordered by id. */
  listTools(options?: Omit<ListRequest, "toolset">): Promise<readonly Tool[]>;
  getTool(name: string, namespace?: string, by?: Omit<ViewScope, "toolset">): Promise<Tool | undefined>;
  /**
   * Returns every tool of the toolset, ordered by id, in the format of a dialect: a built-in one or one added to the arsenal. Defaults to `openai`.
   * `strict` uses the provider's strict mode, within the limits of one request.
   */
  definitions<Name extends Exclude<DialectName, "auto"> = "openai">(
    dialect?: Name,
    options?: Omit<DefinitionsRequest, "toolset">,
  ): Promise<DialectTools[Name][]>;
  definitions(dialect: AnyDialect, options?: Omit<DefinitionsRequest, "toolset">): Promise<object[]>;
  execute(call: Omit<ToolCall, "toolset">): Promise<ToolResult>;
  executeBatch(batch: ScopedBatch): Promise<BatchResult>;
}

type ScopedBatch = Omit<BatchCall, "calls"> & { readonly calls: readonly Omit<ToolCall, "toolset">[] };

/**
 * Narrows an arsenal to one toolset. For the runner, tools outside the toolset do not exist. A toolset that a call names is ignored.
 *
 * @example
 * const runner = createRunner(arsenal, "customer-acme");
 * const tools = await runner.definitions("anthropic");
 * const result = await runner.execute({ toolName: "support.create_ticket", arguments: { title: "Broken" } });
 */
export function createRunner(arsenal: RunnableArsenal, toolset: string): Runner {
  const scoped = scopeTo(arsenal, toolset);
  return {
    toolset,
    retrieve: scoped.retrieve,
    retrieveTools: async (query: string, options?: object) =>
      (await arsenal.retrieveTools(query, { ...options, toolset } as RetrieveToolsOptions)) as never[],
    listTools: (options = {}) => scoped.listTools(options),
    getTool: (name, namespace = "default", by = {}) => scoped.getTool(name, namespace, by),
    async definitions(dialect: AnyDialect = "openai", options: Omit<DefinitionsRequest, "toolset"> = {}) {
      const { principal } = options;
      const tools = await scoped.listTools(principal === undefined ? {} : { principal });
      const ids = tools.map(({ id }) => id);
      const exported = await arsenal.exportTools(dialect, ids, { ...options, toolset });
      return [...exported.tools] as never[];
    },
    execute: scoped.execute,
    // Copies every call, even if it is not a plain object: a call in a batch must not name another toolset.
    executeBatch: async (batch) =>
      arsenal.executeBatch(
        Array.isArray(batch?.calls)
          ? { ...batch, calls: Array.from(batch.calls, (call: ToolCall) => ({ ...call, toolset })) }
          : batch,
      ),
  };
}

/** Limits an arsenal to one toolset. A toolset that a caller names is ignored. @internal */
export function scopeTo(arsenal: ScopedTools, toolset: string): ScopedTools {
  return {
    retrieve: async (query) => arsenal.retrieve({ ...query, toolset }),
    listTools: async (options) => arsenal.listTools({ ...options, toolset }),
    getTool: async (name, namespace, by) => arsenal.getTool(name, namespace, { ...by, toolset }),
    execute: async (call) => arsenal.execute({ ...call, toolset }),
  };
}
