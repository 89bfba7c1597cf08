import type { McpUpstream } from "../adapters/sources/mcp/upstream/upstream.ts";
import type { AnyDialect } from "../adapters/dialects/write-definitions.ts";
import type { Llm } from "../agent/llm.port.ts";
import type { ToolCall } from "../execute/call.ts";
import type { ToolResult } from "../execute/result.ts";
import type { Approvals } from "../guard/aegis.ts";
import type { Pins } from "../guard/pins/pins.ts";
import type { MarkedTool } from "../guard/policy.port.ts";
import type { Principal } from "../guard/principal.ts";
import type { ArsenalEvent, EventChoice, EventName } from "../observe/events.ts";
import type { BatchRegistration, RegisteredBatch } from "../register/register-batch.ts";
import type { CodeMode } from "../programs/code-mode.ts";
import type { SavedProgramOperations } from "../programs/saved/operations.ts";
import type { ToolQuery } from "../retrieve/query.ts";
import type { RetrievalResult } from "../retrieve/result.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Health, Tool } from "../tool/tool.ts";
import type { Runs } from "../runs/runs.ts";
import type { RunnableArsenal } from "../toolset/runner.ts";
import type { Toolsets } from "../toolset/toolsets.ts";
import type { GivenTools, ImportOptions } from "../transcode/import-tools.ts";

/** The part of an arsenal that surfaces use to list, find and run tools. */
export interface ServedArsenal {
  /** Returns the tools that the principal may call. With `includeRefused`, also returns the others that it may see. */
  listTools(filter: {
    readonly principal: Principal;
    readonly toolset?: string;
    readonly includeRefused?: boolean;
  }): Promise<readonly Tool[]>;
  /** Returns a tool that the principal may see, with `refused` if it may not call it. */
  getTool(name: string, namespace: string, by: { readonly principal: Principal }): Promise<MarkedTool | undefined>;
  retrieve(query: ToolQuery): Promise<RetrievalResult>;
  execute(call: ToolCall): Promise<ToolResult>;
  readonly approvals: Approvals;
  subscribe(listener: (event: ArsenalEvent) => void, options?: EventChoice): () => void;
  /** Loads code mode with the first call. Undefined if code mode cannot be served. */
  codeMode?(): Promise<CodeMode>;
}

export interface ServedTools extends Pick<ServedArsenal, "execute" | "approvals" | "subscribe"> {
  listTools(filter: {
    readonly source: "mcp";
    readonly principal?: Principal;
    readonly includeRefused?: boolean;
  }): Promise<readonly Tool[]>;
  readonly pins?: Pins | undefined;
}

/** The methods behind REST operations that neither find nor run tools. The rules of the façade apply. */
interface Programmable extends RunnableArsenal {
  addTool(draft: ToolDraft, handler: undefined, by: { readonly principal: Principal }): Promise<Tool>;
  addTools(batch: readonly BatchRegistration[], by: { readonly principal: Principal }): Promise<RegisteredBatch>;
  importTools(
    format: AnyDialect,
    tools: GivenTools,
    options: ImportOptions,
    by: { readonly principal: Principal },
  ): Promise<RegisteredBatch>;
  deleteTool(name: string, namespace: string, by: { readonly principal: Principal }): Promise<boolean>;
  health(toolId: string): Health;
  healthCheck(): Promise<Record<string, boolean>>;
  sync(options: { readonly signal?: AbortSignal }): Promise<number>;
  savedPrograms(): Promise<SavedProgramOperations>;
  readonly toolCount: number;
  readonly scoreThreshold: number;
}

/** The part of an arsenal that serving every tool and every upstream needs. */
export type ServableArsenal = ServedArsenal &
  ServedTools &
  Programmable & {
    readonly upstreams: readonly McpUpstream[];
    codeMode(): Promise<CodeMode>;
    /** Loads runs with the first call. */
    runs(): Promise<Runs>;
    readonly toolsets: Pick<Toolsets, "find" | "get" | "list" | "watch">;
    /** Undefined if no language model is configured. */
    readonly llm?: Llm | undefined;
    /** Resolves when the server's first attempt to connect has succeeded or failed. */
    upstreamsAttempted(options: { readonly name: string }): Promise<void>;
  };

export const CHANGES_TOOLS = [
  "tool-registered",
  "tool-replaced",
  "tool-deleted",
  "catalog-changed",
  "policy-reloaded",
] as const satisfies readonly EventName[];
