import type { DialectName, DialectTools, SearchDialectName, SearchedTools } from "./adapters/dialects/built-in.ts";
import type { TierName } from "./adapters/embedders/shipped-tiers.ts";
import type { A2aAgentSettings } from "./adapters/sources/a2a/settings.ts";
import type { McpServerSettings, WrittenMcpServer } from "./adapters/sources/mcp/settings.ts";
import type { WorkflowViews } from "./adapters/sources/workflows/view.ts";
import type { McpUpstream } from "./adapters/sources/mcp/upstream/upstream.ts";
import type { AddSourceOptions, GivenSource } from "./adapters/sources/named-source.ts";
import type {
  AddToolsOptions,
  AnyDialect,
  AskedBy,
  ViewedBy,
  DefinitionWriter,
  Llm,
  RetrieveToolsOptions,
} from "./facade/options.ts";
import type { ArsenalOperations } from "./facade/operations.ts";
import type { ServableArsenal } from "./serve/served-arsenal.ts";
import type { Settled, SettledOptions } from "./catalog/dense/tiers.ts";
import { nodeProblem } from "./system/node-version.ts";
import { ArsenalError } from "./errors/arsenal-error.ts";
import { divideOptions, resolvedOptions, type ToolArsenalOptions, type ToolArsenalParts } from "./wire/parts.ts";
import type { BatchCall, ToolCall } from "./execute/call.ts";
import type { BatchResult, ToolResult } from "./execute/result.ts";
import type { ArsenalEvent, EventChoice } from "./observe/events.ts";
import { type FunctionDefinition, fromFunction } from "./register/from-function.ts";
import type { BatchRegistration, RegisteredBatch } from "./register/register-batch.ts";
import type { PolicyFinding, PolicySubjects } from "./guard/policy.port.ts";
import type { CodeMode, CodeRequest, CodeResult } from "./programs/code-mode.ts";
import type { SavedProgramOperations } from "./programs/saved/operations.ts";
import type { RetrieveOptions, ToolQuery } from "./retrieve/query.ts";
import type { RetrievalResult } from "./retrieve/result.ts";
import type { Runs } from "./runs/runs.ts";
import type { ServedGateway, ServeOptions } from "./serve/serve-arsenal.ts";
import { systemClock } from "./observe/clock.ts";
import type { ToolDraft } from "./tool/draft.ts";
import type { Handler } from "./tool/handler.ts";
import type { ArgumentsOf, ParametersSchema } from "./tool/infer.ts";
import { EVERY_TOOL } from "./tool/tool-filter.ts";
import type { Health, Tool } from "./tool/tool.ts";
import type { Toolsets } from "./toolset/toolsets.ts";
import type { GivenTools, ImportOptions } from "./transcode/import-tools.ts";
import type {
  Approvals,
  ExportedTools,
  ExportOptions,
  ListToolsOptions,
  MarkedTool,
  Pins,
  Started,
  Wired,
} from "./wire/wire.ts";
import { wireArsenal } from "./wire/wire.ts";

// On an older Node, the first search or call would fail with an error that does not name the reason.
const oldNode = nodeProblem(process.versions.node);
if (oldNode !== undefined) throw new ArsenalError("LIBRARY_MISSING", oldNode);

let wiredOf: (arsenal: ToolArsenal) => Wired;

/**
 * The tool layer of an agent: register every tool once, retrieve the few that matter, execute the chosen one under policy.
 *
 * @example
 * const arsenal = new ToolArsenal();
 * arsenal.register({ name: "double", description: "Doubles a number.", parameters: z.object({ x: z.number() }) }, ({ x }) => x * 2);
 * const tools = await arsenal.retrieveTools("what is twice 21?");
 * const result = await arsenal.execute({ toolName: "double", arguments: { x: 21 } });
 */
export class ToolArsenal {
  readonly #wired: Wired;

  static {
    wiredOf = (arsenal) => arsenal.#wired;
  }

  /** Wires the arsenal from its configuration and parts. Connects nothing: `start` does, or the first method that needs a connection. */
  constructor(options: ToolArsenalOptions = {}) {
    this.#wired = wireArsenal(divideOptions(options));
  }

  /** Builds and starts an arsenal from a YAML file and its modules. `parts.environment` fills `${NAME}` and defaults to the process environment. */
  static async fromConfig(path: string, parts: ToolArsenalParts = {}): Promise<ToolArsenal> {
    const { bootFile } = await import("./config/start/boot.ts");
    return bootFile(path, parts.environment, (config) => new ToolArsenal(resolvedOptions(config, parts)));
  }

  /** Connects the configured sources; slow servers don't delay it. Optional: methods that need a started arsenal start it. Safe to call twice. */
  start(): Promise<Started> {
    return this.#wired.start();
  }

  /** Registers a function as a tool. Its argument's type comes from the schema given as `parameters`. */
  register<const Schema extends ParametersSchema = { readonly type: "object" }>(
    definition: FunctionDefinition<Schema>,
    handler: Handler<ArgumentsOf<Schema>>,
  ): Tool {
    return this.#wired.open().register(fromFunction(definition, handler));
  }

  /**
   * Adds a tool from its definition. Without a handler, the tool can be found but not run. With a principal, throws TOOL_OWNED if the id belongs to
   * an ensemble, or to the code of any process that shares the catalog. A tool that a tenant's principal adds belongs to that tenant and never
   * replaces a tool of others.
   */
  async addTool(draft: ToolDraft, handler?: Handler, by: AskedBy = {}): Promise<Tool> {
    return this.#wired.open().addTool(draft, handler, by);
  }

  /** Exports tools, by id, in the format of an API or framework. Ids of tools that the caller may not see are in `missing`. */
  async exportTools(format: AnyDialect, ids: readonly string[], options: ExportOptions = {}): Promise<ExportedTools> {
    return this.#wired.open().exportTools(format, ids, options);
  }

  /**
   * Adds a list of definitions, with or without handlers. `format` names the API or framework that the definitions are written for. Invalid tools are
   * reported; the rest are still registered. Tools of agent frameworks keep their own handlers.
   */
  add(tools: readonly (BatchRegistration | ToolDraft)[], options?: AddToolsOptions): Promise<RegisteredBatch>;
  add(tools: GivenTools, options: AddToolsOptions & { readonly format: AnyDialect }): Promise<RegisteredBatch>;
  /**
   * Connects a source and adds its tools as one ensemble: `mcp({…})`, `openapi({…})` and others from `toolarsenal/sources`, or your own `Source`.
   * Returns the number of tools added; invalid ones are reported and left out.
   */
  add(source: GivenSource, options?: AddSourceOptions): Promise<number>;
  async add(
    given: GivenSource | GivenTools | readonly (BatchRegistration | ToolDraft)[],
    options: AddSourceOptions & AddToolsOptions = {},
  ): Promise<number | RegisteredBatch> {
    const wired = this.#wired.open();
    const { format } = options;
    if (format !== undefined) return wired.importTools(format, given as GivenTools, options, options);
    if (!Array.isArray(given)) return wired.add(given as GivenSource, options);
    const batch = given.map((each: BatchRegistration | ToolDraft) => ("tool" in each ? each : { tool: each }));
    return wired.addTools(batch, options);
  }

  /** The same as `add(mcp(settings))`. */
  async addMcpServer(settings: WrittenMcpServer | McpServerSettings, options: AddSourceOptions = {}): Promise<number> {
    return this.add((await import("./adapters/sources/mcp/settings.ts")).mcp(settings), options);
  }

  /** The same as `add(a2a(settings))`. */
  async addA2aAgent(settings: A2aAgentSettings, options: AddSourceOptions = {}): Promise<number> {
    return this.add({ ...settings, type: "a2a" }, options);
  }

  /** Disconnects an ensemble and removes its tools. Returns false if there is no such ensemble. */
  async remove(name: string): Promise<boolean> {
    return this.#wired.open().remove(name);
  }

  /** Serves the arsenal to MCP, REST and A2A clients, with the dashboard, on one port. Omitted options come from `server`. */
  async serve(options: ServeOptions = {}): Promise<ServedGateway> {
    return this.#wired.open().serve(servableOf(this), options);
  }

  /** Serves only MCP clients: all tools at `/mcp`, each upstream unchanged at `/mcp/upstreams/NAME`. */
  async serveMcp(options: ServeOptions = {}): Promise<ServedGateway> {
    return this.serve({ rest: false, a2a: false, ...options });
  }

  /** Serves only other agents (A2A), on `a2a.a2aPort`. Agents find the card at `/.well-known/agent-card.json`. */
  async serveA2a(options: ServeOptions = {}): Promise<ServedGateway> {
    return this.serve({ mcp: false, rest: false, port: this.#wired.config.a2a.a2aPort, ...options });
  }

  /**
   * Indexes pending registrations. Returns the number of new or changed tools. With `tier`, also waits until that ranker, or the best one, has
   * embedded every tool. Searches work without waiting: a simpler ranker answers until then.
   */
  async sync(options: { readonly signal?: AbortSignal; readonly tier?: TierName | "best" } = {}): Promise<number> {
    const { tier, ...others } = options;
    const synced = await this.#wired.sync(others);
    if (tier !== undefined) await internalsOf(this).settled({ ...others, ...(tier !== "best" && { tier }) });
    return synced;
  }

  /** Finds the tools that fit a request and its conversation, best first. */
  async retrieve(query: string | ToolQuery, options: RetrieveOptions = {}): Promise<RetrievalResult> {
    const { context, ...others } = options;
    const asked = typeof query === "string" ? { ...others, context: { ...context, query } } : query;
    const found = await (await this.#wired.ready()).retriever.retrieve(asked);
    if (asked.includeSkills !== true) return found;
    const { findSkills } = await import("./facade/find-skills.ts");
    return { ...found, skills: await findSkills(asked, servableOf(this)) };
  }

  /** Finds the tools that fit a request and returns them in the dialect's format, as an array of the SDK's own tool type. */
  retrieveTools<Name extends SearchDialectName>(
    query: string,
    options: RetrieveToolsOptions<Name> & { readonly dialect: Name; readonly providerSearch: true },
  ): Promise<SearchedTools[Name][]>;
  retrieveTools<Name extends DialectName = "openai">(
    query: string,
    options?: RetrieveToolsOptions<Name>,
  ): Promise<DialectTools[Name][]>;
  retrieveTools<Definition extends object>(
    query: string,
    options: RetrieveToolsOptions<DialectName | DefinitionWriter<Definition>>,
  ): Promise<Definition[]>;
  async retrieveTools(query: string, options: RetrieveToolsOptions = {}): Promise<object[]> {
    return this.#wired.retrieveTools(query, options);
  }

  /** Runs one tool under policy. A failed call is a result with a status, not an exception. */
  async execute(call: ToolCall): Promise<ToolResult> {
    return await (await this.#wired.ready()).engine.execute(call);
  }

  /** Runs several calls, in parallel, in sequence, or in parallel where that is safe. */
  async executeBatch(batch: BatchCall): Promise<BatchResult> {
    return (await this.#wired.ready()).engine.executeBatch(batch);
  }

  /**
   * Runs a TypeScript program that calls tools, each call under policy. A failed program is a result with a status. A program that waits for an
   * approval continues once a person has answered: run the same code again for its result.
   */
  async runCode(request: CodeRequest): Promise<CodeResult> {
    return (await this.#wired.open().codeMode()).run(request);
  }

  /** Calls that wait for approval. */
  get approvals(): Approvals {
    return this.#wired.guard.approvals;
  }

  /** The accepted definitions of tools; undefined if `security.pins` is `off`. */
  get pins(): Pins | undefined {
    return this.#wired.guard.pins;
  }

  /** Curated views over the catalog, by name. */
  get toolsets(): Toolsets {
    return this.#wired.toolsets;
  }

  /** The number of registered tools, indexed or not. */
  get toolCount(): number {
    return this.#wired.registry.size;
  }

  /**
   * Returns one tool, with `refused` if the principal may not call it. Returns undefined if the tool does not exist, or the principal may not see it.
   * The principal defaults to the local operator.
   */
  async getTool(name: string, namespace = "default", by: ViewedBy = {}): Promise<MarkedTool | undefined> {
    return (await this.#wired.ready()).visible.get(name, namespace, by);
  }

  /**
   * Returns the tools that pass the filters and that the principal may call, ordered by id. With `includeRefused`, also returns the others, each with
   * `refused`.
   */
  async listTools(options: ListToolsOptions = {}): Promise<readonly MarkedTool[]> {
    return (await this.#wired.ready()).visible.list(options);
  }

  /**
   * Removes a tool. Returns false if it does not exist, or if the given principal may not see it. Throws if an ensemble, other code or another tenant
   * owns it.
   */
  async deleteTool(name: string, namespace = "default", by: AskedBy = {}): Promise<boolean> {
    return this.#wired.open().deleteTool(name, namespace, by);
  }

  /** Returns for each part of the arsenal whether it works now. */
  async healthCheck(): Promise<Record<string, boolean>> {
    return this.#wired.healthCheck();
  }

  /** Calls `listener` for every event, or only for events in `names`. Returns a function that unsubscribes it. */
  subscribe(listener: (event: ArsenalEvent) => void, options: EventChoice = {}): () => void {
    return this.#wired.events.subscribe(listener, options);
  }

  /** Ends waiting calls, disconnects ensembles, finishes pending writes and releases everything. Can be called twice. */
  close(): Promise<void> {
    return this.#wired.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Returns the language model that the configuration names; undefined if it names none. */
export function llmOf(arsenal: ToolArsenal): Llm | undefined {
  return wiredOf(arsenal).llm;
}

/**
 * Returns the operations of operators on an arsenal.
 *
 * @example
 * await operationsOf(arsenal).programs.save({ runId, name: "open_bugs", description: "Counts the open bugs of a project." });
 */
export function operationsOf(arsenal: ToolArsenal): ArsenalOperations {
  return wiredOf(arsenal).operations;
}

/** Returns the internal members of an arsenal. @internal */
export function internalsOf(arsenal: ToolArsenal) {
  const wired = wiredOf(arsenal);
  return {
    /** Returns the current tools of an ensemble, regardless of visibility; an empty list if the ensemble is unknown. */
    ensembleTools: (name: string): readonly Tool[] => wired.registry.ofEnsemble(name),
    /** Returns every tool of the catalog, regardless of visibility. */
    async catalogTools(): Promise<readonly Tool[]> {
      const { engine } = (await wired.ready()).catalog;
      const tools: Tool[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await engine.list({ filter: EVERY_TOOL, ...(cursor !== undefined && { cursor }) });
        tools.push(...page.tools);
        cursor = page.next;
        if (cursor === undefined) return tools;
      }
    },
    /** Checks the policy's rules against the registered tools and toolsets. */
    policyFindings: async (subjects: PolicySubjects): Promise<readonly PolicyFinding[]> => {
      await wired.guard.load();
      return wired.guard.policyAt(systemClock).findings?.(subjects) ?? [];
    },
    /** Undefined if no audit log is configured. */
    auditLog: wired.guard.auditLog,
    /** The workflows, checked against the registered tools. */
    workflows: (): Promise<WorkflowViews> => wired.workflows(),
    /** The added MCP servers, connected or not. */
    get upstreams(): readonly McpUpstream[] {
      return wired.upstreams.all();
    },
    /** Resolves when the first attempt to connect each MCP server, or the named one, has succeeded or failed. */
    upstreamsAttempted: (options: { readonly name?: string; readonly signal?: AbortSignal } = {}): Promise<void> =>
      wired.upstreamsAttempted(options),
    /** Resolves when the best ranker, or the named tier, has embedded every tool. Until then a simpler ranker answers. */
    settled: async (options: SettledOptions & { readonly tier?: TierName } = {}): Promise<Settled> =>
      (await wired.ready()).catalog.settled(options),
    /** Undefined if no model is configured. */
    llm: wired.llm,
    /** The default `scoreThreshold` of queries. */
    scoreThreshold: wired.config.routing.scoreThreshold,
    /** Returns whether this call would need approval. Unlike `ask`, it requests no approval and records nothing. */
    needsApproval: async (call: ToolCall): Promise<boolean> => (await wired.ready()).engine.needsApproval(call),
    /**
     * Returns the result of a call that Aegis stops, without making the call; undefined if the call may run now. Requests an approval if the call
     * needs one.
     */
    ask: async (call: ToolCall): Promise<ToolResult | undefined> => (await wired.ready()).engine.ask(call),
    /** The health of a tool since the arsenal started. */
    health: (toolId: string): Health => wired.health.of(toolId),
    /** Code mode is loaded by the first call. */
    codeMode: (): Promise<CodeMode> => wired.open().codeMode(),
    savedPrograms: (): Promise<SavedProgramOperations> => wired.open().savedPrograms(),
    runs: (): Promise<Runs> => wired.open().runs(),
    addTools: async (batch: readonly BatchRegistration[], by: AskedBy = {}): Promise<RegisteredBatch> =>
      wired.open().addTools(batch, by),
    importTools: async (
      format: AnyDialect,
      tools: GivenTools,
      options: ImportOptions = {},
      by: AskedBy = {},
    ): Promise<RegisteredBatch> => wired.open().importTools(format, tools, options, by),
  };
}

/** Returns an arsenal as surfaces use it. @internal */
export function servableOf(arsenal: ToolArsenal): ServableArsenal {
  const internals = internalsOf(arsenal);
  return {
    ...internals,
    get upstreams() {
      return internals.upstreams;
    },
    get toolCount() {
      return arsenal.toolCount;
    },
    approvals: arsenal.approvals,
    pins: arsenal.pins,
    toolsets: arsenal.toolsets,
    listTools: (options) => arsenal.listTools(options),
    getTool: (name, namespace, by) => arsenal.getTool(name, namespace, by),
    retrieve: (query) => arsenal.retrieve(query),
    retrieveTools: (query, options) => arsenal.retrieveTools(query, options),
    execute: (call) => arsenal.execute(call),
    executeBatch: (batch) => arsenal.executeBatch(batch),
    exportTools: (format, ids, options) => arsenal.exportTools(format, ids, options),
    addTool: (draft, handler, by) => arsenal.addTool(draft, handler, by),
    deleteTool: (name, namespace, by) => arsenal.deleteTool(name, namespace, by),
    sync: (options) => arsenal.sync(options),
    healthCheck: () => arsenal.healthCheck(),
    codeMode: internals.codeMode,
    subscribe: (listener, options) => arsenal.subscribe(listener, options),
  };
}
