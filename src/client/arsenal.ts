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

/** A call for a gateway. The gateway identifies the caller by its credentials, so there is no `principal`. */
export type RemoteCall = Omit<ToolCall, "principal" | "request">;

/** Several calls for a gateway. One signal cancels all of them. */
export type RemoteBatch = Omit<BatchCall, "calls"> & {
  readonly calls: readonly Omit<RemoteCall, "signal" | "onProgress">[];
};

/** A search for a gateway. */
export type RemoteQuery = Omit<ToolQuery, "principal">;

/** The options of a search in words that can be sent to a gateway. */
export type RemoteRetrieveOptions = Omit<RetrieveOptions, "principal">;

/** The options of `retrieveTools` that can be sent to a gateway. A dialect that only writes definitions runs in the client. */
export type RemoteRetrieveToolsOptions<Given = DialectName | DefinitionWriter> = RemoteRetrieveOptions &
  Omit<DefinitionOptions<Given>, "client">;

/** Which part of the catalog is read. */
export interface RemoteView {
  /** Searches only the tools of this toolset. Defaults to the whole catalog. */
  readonly toolset?: string;
  /**
   * Also includes tools that the caller may not call, each with `refused`: every tool for an operator without a tenant, what the policy lets them
   * see for others. Defaults to false.
   */
  readonly includeRefused?: boolean;
}

/** Which tools are listed. */
export interface RemoteListOptions extends RemoteView {
  readonly namespace?: string;
  readonly source?: ToolSource;
}

/** Options for adding a source. */
export interface AddOptions {
  /** Cancels adding. Nothing is added then. */
  readonly signal?: AbortSignal;
}

/** Options for adding tools. */
export interface RemoteAddToolsOptions extends Pick<ImportOptions, "namespace"> {
  /** The API or framework that the tools are written for. Defaults to the arsenal's own definitions. */
  readonly format?: DialectName | (string & {});
}

/** A program to run. The caller is the one whose credentials the client has. */
export type RemoteProgram = Pick<CodeRequest, "code" | "input" | "toolset" | "signal">;

/**
 * The methods that an embedded `ToolArsenal` and a client share. A function that takes an `Arsenal` works with both: await its results,
 * because some plain values of an embedded arsenal are promises in a client.
 */
export interface Arsenal {
  /** Adds a tool from its definition. It can be found, but not called. */
  addTool(draft: ToolDraft): Promise<Tool>;
  /** Writes tools, by id, in the format of an API. */
  exportTools(
    format: DialectName | (string & {}),
    ids: readonly string[],
    options?: Omit<ExportOptions, "principal">,
  ): Promise<ExportedTools>;
  /** Adds tools from their definitions; with `format`, tools written for another API. Invalid tools are reported; the rest are still registered. */
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
  /** Finds tools for a request in words and returns them as the dialect's API takes them. */
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
  /** Runs one tool under policy. A failing tool, or a call with a lost response, is a result with a status, not an exception. */
  execute(call: RemoteCall): Promise<ToolResult>;
  /** Runs several calls in parallel, in sequence, or in parallel as far as that is safe. */
  executeBatch(batch: RemoteBatch): Promise<BatchResult>;
  /** Runs a TypeScript program that calls tools, each under policy. A program that waits for an approval continues once it is answered. */
  runCode(request: RemoteProgram): Promise<CodeResult>;
  /** Returns one tool, with `refused` if the caller may not call it; undefined if it does not exist or the caller may not see it. The namespace defaults to `default`. */
  getTool(name: string, namespace?: string, by?: RemoteView): Promise<MarkedTool | undefined>;
  /** Every tool that passes the filters and that the caller may call, ordered by id. */
  listTools(options?: RemoteListOptions): Promise<readonly MarkedTool[]>;
  /** Removes a tool. Returns false if it does not exist. The namespace defaults to `default`. */
  deleteTool(name: string, namespace?: string): Promise<boolean>;
  /** The parts that work now. */
  healthCheck(): Promise<Record<string, boolean>>;
  /** The number of registered tools. */
  readonly toolCount: number | Promise<number>;
  /** Calls that wait for a person's approval. */
  readonly approvals: Pick<Approvals, "get"> & Pick<RemoteApprovals, "list">;
  /** The accepted definition of each tool of a source. */
  readonly pins: { list(): Promise<readonly Pin[]> } | undefined;
  /** Calls `listener` for every event. Returns a function that unsubscribes it. */
  subscribe(listener: (event: ArsenalEvent) => void): () => void;
  /** Releases all resources. Safe to call twice. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** An arsenal behind a gateway. It has the methods of `ToolArsenal` that work remotely; every value is a promise. */
export interface ArsenalClient extends Arsenal, RemoteOperations {
  /** Marks an arsenal whose caller is identified by the client's credentials, so that an agent needs no principal. */
  readonly remote: true;
  /** The tools that pass the filters, ordered by id, in pages of `limit` tools. */
  pages(options?: RemoteListOptions & { readonly limit?: number }): AsyncIterableIterator<readonly MarkedTool[]>;
  /** The health of a tool since the gateway started. */
  health(toolId: string, by?: Pick<RemoteView, "includeRefused">): Promise<Health>;
  readonly toolCount: Promise<number>;
  /** The semantic score below which `retrieve` drops a tool, unless the query sets its own. */
  readonly scoreThreshold: Promise<number>;
  /** Calls that wait for a person's approval. The client's credentials identify the approver and need the role `approver`. */
  readonly approvals: RemoteApprovals;
  readonly pins: RemotePins;
  readonly toolsets: RemoteToolsets;
  /** Calls `listener` for events of the gateway, which needs the role `operator`. Reconnects automatically. */
  subscribe(listener: (event: ArsenalEvent) => void, options?: SubscribeOptions): Unsubscribe;
}

/** The approvals of a gateway. */
export interface RemoteApprovals {
  /** One page of the calls that the client may approve, oldest first. */
  list(options?: Pick<ListApprovalsOptions, "limit" | "cursor">): Promise<ApprovalPage>;
  /** The latest answers to calls that the client may see, newest first. The limit defaults to 20, and is at most 100. */
  decided(options?: Pick<ListApprovalsOptions, "limit">): Promise<readonly DecidedApproval[]>;
  get(id: string): Promise<PendingApproval | undefined>;
  /** Rejects with `APPROVAL_INVALID` if the id is unknown, expired or settled, or the call is the caller's own. */
  approve(id: string, options?: AnswerOptions): Promise<void>;
  deny(id: string, options?: AnswerOptions): Promise<void>;
  /** The same, with the answer as a value. */
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
  /** Keeps refusing the current definition, so that it no longer waits. Needs the role `approver`. */
  refuse(id: string, options?: Pick<AcceptOptions, "hash">): Promise<void>;
}

/** The toolsets that the caller may use. */
export interface RemoteToolsets {
  list(): Promise<readonly MarkedToolset[]>;
  /** Rejects with `TOOLSET_NOT_FOUND` if it does not exist or the caller may not use it. */
  get(name: string): Promise<MarkedToolset>;
  find(name: string): Promise<MarkedToolset | undefined>;
}

/** Which events of a gateway are followed. */
export interface SubscribeOptions {
  /** Only events with these names. Defaults to all. */
  readonly names?: readonly EventName[];
  /** Only events of this level or a higher one. Defaults to all. */
  readonly level?: EventLevel;
  /** Called if events were missed, for example after a long disconnection. `missed` is omitted if the number is unknown. */
  readonly onGap?: (gap: { readonly missed?: number; readonly reason: string }) => void;
  /** Called when the subscription ends permanently, for example because the caller may not read events. */
  readonly onError?: (error: Error) => void;
}

/** Ends a subscription. */
export interface Unsubscribe {
  (): void;
  /** Resolves once the gateway sends events: later events are not missed. Rejects if the subscription ends before. */
  readonly connected: Promise<void>;
}
