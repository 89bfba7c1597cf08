import type { DialectName, DialectTools, SearchDialectName, SearchedTools } from "../adapters/dialects/built-in.ts";
import type { DefinitionOptions, DefinitionWriter } from "../adapters/dialects/write-definitions.ts";
import type { A2aAgentSettings } from "../adapters/sources/a2a/settings.ts";
import type { McpServerSettings, WrittenMcpServer } from "../adapters/sources/mcp/settings.ts";
import type { NamedSource } from "../adapters/sources/named-source.ts";
import type { BatchCall, ToolCall } from "../execute/call.ts";
import type { BatchResult, ToolResult } from "../execute/result.ts";
import type {
  AnswerOptions,
  ApprovalPage,
  Approvals,
  DecidedApproval,
  ListApprovalsOptions,
  PendingApproval,
} from "../guard/aegis.ts";
import type { AcceptOptions, ListPinsOptions, Pin } from "../guard/pins/pins.ts";
import type { MarkedTool } from "../guard/policy.port.ts";
import type { ArsenalEvent, EventLevel, EventName } from "../observe/events.ts";
import type { CodeRequest, CodeResult } from "../programs/code-mode.ts";
import type { RegisteredBatch } from "../register/register-batch.ts";
import type { RetrieveOptions, ToolQuery } from "../retrieve/query.ts";
import type { RetrievalResult } from "../retrieve/result.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Health, Tool, ToolSource } from "../tool/tool.ts";
import type { MarkedToolset } from "../toolset/toolset.ts";
import type { GivenTools, ImportOptions } from "../transcode/import-tools.ts";
import type { ExportedTools, ExportOptions } from "../facade/registrations.ts";
import type { RemoteOperations } from "./remote-operations.ts";

/** A call for a gateway. It has no `principal`, because the client's credentials identify the caller. */
export type RemoteCall = Omit<ToolCall, "principal" | "request">;

/** Several calls for a gateway. One signal cancels all of them. */
export type RemoteBatch = Omit<BatchCall, "calls"> & {
  readonly calls: readonly Omit<RemoteCall, "signal" | "onProgress">[];
};

/** A search for a gateway. */
export type RemoteQuery = Omit<ToolQuery, "principal">;

export type RemoteRetrieveOptions = Omit<RetrieveOptions, "principal">;

/** The options of `retrieveTools` that can be sent to a gateway. A custom dialect runs in the client and can only write definitions. */
export type RemoteRetrieveToolsOptions<Given = DialectName | DefinitionWriter> = RemoteRetrieveOptions &
  Omit<DefinitionOptions<Given>, "client">;

/** Selects the part of the catalog that is read. */
export interface RemoteView {
  /** Limits the view to the tools of this toolset. Defaults to the whole catalog. */
  readonly toolset?: string;
  /**
   * Also includes tools that the caller may not call, each with `refused`. An operator without a tenant gets the whole catalog, other callers get
   * what the policy lets them see. Defaults to false.
   */
  readonly includeRefused?: boolean;
}

/** Selects the listed tools. */
export interface RemoteListOptions extends RemoteView {
  readonly namespace?: string;
  readonly source?: ToolSource;
}

/** Options for adding a source. */
export interface AddOptions {
  /** Cancels adding; nothing is added then. */
  readonly signal?: AbortSignal;
}

export interface RemoteAddToolsOptions extends Pick<ImportOptions, "namespace"> {
  /** The API or framework that the tools are written for. Defaults to the arsenal's own definitions. */
  readonly format?: DialectName | (string & {});
}

/** A program to run. The client's credentials identify the caller. */
export type RemoteProgram = Pick<CodeRequest, "code" | "input" | "toolset" | "signal">;

/**
 * The methods that an embedded `ToolArsenal` and a client share. A function that takes an `Arsenal` works with both if it awaits all results: some
 * plain values of an embedded arsenal are promises in a client.
 */
export interface Arsenal {
  /** Adds a tool from its definition. Without a handler, the tool can be found but not called. */
  addTool(draft: ToolDraft): Promise<Tool>;
  /** Exports tools, by id, in the format of an API. */
  exportTools(
    format: DialectName | (string & {}),
    ids: readonly string[],
    options?: Omit<ExportOptions, "principal">,
  ): Promise<ExportedTools>;
  /**
   * Adds tools from their definitions. `format` names the API that the definitions are written for. Invalid tools are reported; the rest are still
   * registered.
   */
  add(
    tools: readonly ({ readonly tool: ToolDraft } | ToolDraft)[],
    options?: RemoteAddToolsOptions,
  ): Promise<RegisteredBatch>;
  add(tools: GivenTools, options: RemoteAddToolsOptions & { readonly format: string }): Promise<RegisteredBatch>;
  /** Connects a source, by its type and settings, and returns the number of its tools. */
  add(source: NamedSource, options?: AddOptions): Promise<number>;
  /** The same as `add` with the type `mcp`. */
  addMcpServer(settings: WrittenMcpServer | McpServerSettings, options?: AddOptions): Promise<number>;
  /** The same as `add` with the type `a2a`. */
  addA2aAgent(settings: A2aAgentSettings, options?: AddOptions): Promise<number>;
  /** Disconnects an ensemble and removes its tools. Returns false if the ensemble is unknown. */
  remove(name: string): Promise<boolean>;
  /** Indexes pending registrations. Returns how many tools were new or changed. */
  sync(options?: { readonly signal?: AbortSignal }): Promise<number>;
  /** Finds the tools that fit a request and its conversation, best first. */
  retrieve(query: string | RemoteQuery, options?: RemoteRetrieveOptions): Promise<RetrievalResult>;
  /** Finds the tools that fit a request and returns them in the dialect's format. */
  retrieveTools<Name extends SearchDialectName>(
    query: string,
    options: RemoteRetrieveToolsOptions<Name> & { readonly dialect: Name; readonly providerSearch: true },
  ): Promise<SearchedTools[Name][]>;
  retrieveTools<Name extends DialectName = "openai">(
    query: string,
    options?: RemoteRetrieveToolsOptions<Name>,
  ): Promise<DialectTools[Name][]>;
  retrieveTools<Definition extends object>(
    query: string,
    options: RemoteRetrieveToolsOptions<DialectName | DefinitionWriter<Definition>>,
  ): Promise<Definition[]>;
  /** Runs one tool under policy. A failed call, or a call whose response was lost, is a result with a status, not an exception. */
  execute(call: RemoteCall): Promise<ToolResult>;
  /** Runs several calls in parallel, in sequence, or in parallel where that is safe. */
  executeBatch(batch: RemoteBatch): Promise<BatchResult>;
  /**
   * Runs a TypeScript program that calls tools, each call under policy. A program that waits for an approval continues once a person has answered.
   */
  runCode(request: RemoteProgram): Promise<CodeResult>;
  /** Returns one tool, with `refused` if the caller may not call it; undefined if it does not exist or the caller may not see it. The namespace defaults to `default`. */
  getTool(name: string, namespace?: string, by?: RemoteView): Promise<MarkedTool | undefined>;
  /** Returns every tool that passes the filters and that the caller may call, ordered by id. */
  listTools(options?: RemoteListOptions): Promise<readonly MarkedTool[]>;
  /** Removes a tool. Returns false if it does not exist. The namespace defaults to `default`. */
  deleteTool(name: string, namespace?: string): Promise<boolean>;
  /** Returns for each part of the arsenal whether it works now. */
  healthCheck(): Promise<Record<string, boolean>>;
  /** The number of registered tools. */
  readonly toolCount: number | Promise<number>;
  /** Calls that wait for approval. */
  readonly approvals: Pick<Approvals, "get"> & Pick<RemoteApprovals, "list">;
  /** The accepted definitions of tools. */
  readonly pins: { list(): Promise<readonly Pin[]> } | undefined;
  /** Calls `listener` for every event. Returns a function that unsubscribes it. */
  subscribe(listener: (event: ArsenalEvent) => void): () => void;
  /** Releases all resources. Can be called twice. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** An arsenal behind a gateway. It has the methods of `ToolArsenal` that work remotely; every value is a promise. */
export interface ArsenalClient extends Arsenal, RemoteOperations {
  /** True for a client. The client's credentials identify the caller, so an agent needs no principal. */
  readonly remote: true;
  /** Returns the tools that pass the filters, ordered by id, in pages of `limit` tools. */
  pages(options?: RemoteListOptions & { readonly limit?: number }): AsyncIterableIterator<readonly MarkedTool[]>;
  /** Returns the health of a tool since the gateway started. */
  health(toolId: string, by?: Pick<RemoteView, "includeRefused">): Promise<Health>;
  readonly toolCount: Promise<number>;
  /** The default `scoreThreshold` of queries: `retrieve` drops tools with a lower semantic score. */
  readonly scoreThreshold: Promise<number>;
  /** Calls that wait for approval. The client's credentials identify the approver and need the role `approver`. */
  readonly approvals: RemoteApprovals;
  readonly pins: RemotePins;
  readonly toolsets: RemoteToolsets;
  /** Calls `listener` for events of the gateway. Needs the role `operator`. Reconnects automatically. */
  subscribe(listener: (event: ArsenalEvent) => void, options?: SubscribeOptions): Unsubscribe;
}

/** The approvals of a gateway. */
export interface RemoteApprovals {
  /** Lists the calls that the client may approve, oldest first. */
  list(options?: Pick<ListApprovalsOptions, "limit" | "cursor">): Promise<ApprovalPage>;
  /** Returns the latest answers to calls that the client may see, newest first. The limit defaults to 20, at most 100. */
  decided(options?: Pick<ListApprovalsOptions, "limit">): Promise<readonly DecidedApproval[]>;
  get(id: string): Promise<PendingApproval | undefined>;
  /** Rejects with `APPROVAL_INVALID` if the id is unknown, expired or settled, or if the caller made the call itself. */
  approve(id: string, options?: AnswerOptions): Promise<void>;
  deny(id: string, options?: AnswerOptions): Promise<void>;
  /** Like `approve` and `deny`, with the answer as a value. */
  answer(
    id: string,
    answer: "approve" | "deny",
    options?: AnswerOptions,
  ): Promise<{ readonly outcome: "approved" | "denied" }>;
}

/** The pins of a gateway. */
export interface RemotePins {
  list(options?: ListPinsOptions): Promise<readonly Pin[]>;
  /** Accepts the current definition of a tool, or the current instructions of a server. Needs the role `approver`. */
  accept(id: string, options?: AcceptOptions): Promise<void>;
  /** Refuses the current definition permanently, so that it no longer waits for an answer. Needs the role `approver`. */
  refuse(id: string, options?: Pick<AcceptOptions, "hash">): Promise<void>;
}

/** The toolsets that the caller may use. */
export interface RemoteToolsets {
  list(): Promise<readonly MarkedToolset[]>;
  /** Rejects with `TOOLSET_NOT_FOUND` if the toolset does not exist or the caller may not use it. */
  get(name: string): Promise<MarkedToolset>;
  find(name: string): Promise<MarkedToolset | undefined>;
}

/** Selects the events to follow. */
export interface SubscribeOptions {
  /** Only events with these names. Defaults to all. */
  readonly names?: readonly EventName[];
  /** Only events of this level or a higher level. Defaults to all. */
  readonly level?: EventLevel;
  /** Called if events were missed, for example during a long disconnection. `missed` is omitted if the number is unknown. */
  readonly onGap?: (gap: { readonly missed?: number; readonly reason: string }) => void;
  /** Called when the subscription ends permanently, for example because the caller may not read events. */
  readonly onError?: (error: Error) => void;
}

/** Ends a subscription. */
export interface Unsubscribe {
  (): void;
  /** Resolves once the gateway sends events; later events are not missed. Rejects if the subscription ends before that. */
  readonly connected: Promise<void>;
}
