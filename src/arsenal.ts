import { resolve } from "node:path";
import type { DialectName, DialectTools } from "./adapters/dialects/built-in.ts";
import type { AskedBy, DefinitionWriter, RetrieveToolsOptions } from "./arsenal-options.ts";
import { definitionWriter, toToolQuery } from "./arsenal-options.ts";
import type { TierName } from "./adapters/embedders/shipped-tiers.ts";
import { direct } from "./adapters/executors/direct.ts";
import type { OpenApiSettings } from "./adapters/sources/openapi/settings.ts";
import type { McpServerSettings } from "./adapters/sources/mcp/settings.ts";
import type { McpUpstream } from "./adapters/sources/mcp/upstream/upstream.ts";
import { createUpstreams, type Upstreams } from "./adapters/sources/mcp/upstream/upstreams.ts";
import { guarded } from "./adapters/validators/guarded/guarded.ts";
import { type Catalog, createCatalog } from "./catalog/catalog.ts";
import { tokenize } from "./catalog/lexical/tokenize.ts";
import { configuredSinks, configuredStore, configuredTiers } from "./config/parts/arsenal-parts.ts";
import type { ToolArsenalParts } from "./config/parts/arsenal-parts.ts";
import type { ToolArsenalConfig } from "./config/config.ts";
import { configuredEgress } from "./config/parts/configured-egress.ts";
import { configuredExecutors } from "./config/parts/configured-executors.ts";
import { configuredGuard, type ConfiguredGuard } from "./config/parts/configured-guard.ts";
import { refuseNotInRelease } from "./config/not-in-release.ts";
import { type ResolvedConfig, resolveConfig } from "./config/load/resolve-config.ts";
import { runModule } from "./config/parts/run-module.ts";
import { startConfigured } from "./config/parts/start-configured.ts";
import { ArsenalError } from "./errors/arsenal-error.ts";
import type { BatchCall, ToolCall } from "./execute/call.ts";
import { createEngine, type Engine } from "./execute/engine.ts";
import { forgetPast } from "./execute/forget-past.ts";
import type { BatchResult, ToolResult } from "./execute/result.ts";
import type { Validator } from "./execute/validator.port.ts";
import type { Settled, SettledOptions } from "./catalog/dense/tiers.ts";
import type { Approvals } from "./guard/aegis.ts";
import type { Egress } from "./guard/egress/egress.ts";
import type { Pins } from "./guard/pins/pins.ts";
import { localOperator, type Principal } from "./guard/principal.ts";
import { createSecrets, type Secrets } from "./guard/secrets/secrets.ts";
import { systemClock } from "./observe/clock.ts";
import { createEvents, type Events } from "./observe/emitter.ts";
import type { ArsenalEvent, Emit } from "./observe/events.ts";
import { createHealth, type HealthBook } from "./observe/health.ts";
import { createEnsembles, type Ensembles } from "./register/ensembles.ts";
import { type FunctionDefinition, fromFunction } from "./register/from-function.ts";
import { type BatchRegistration, registerBatch, type RegisteredBatch } from "./register/register-batch.ts";
import { createRegistry, type Registry } from "./register/registry.ts";
import type { Source } from "./register/source.port.ts";
import { createLearning } from "./retrieve/learn/learning.ts";
import type { ToolQuery } from "./retrieve/query.ts";
import type { RetrievalResult } from "./retrieve/result.ts";
import { createRetriever, type Retriever } from "./retrieve/retriever.ts";
import { defineTool } from "./tool/define-tool.ts";
import type { ToolDraft } from "./tool/draft.ts";
import type { Handler } from "./tool/handler.ts";
import type { ArgumentsOf, ParametersSchema } from "./tool/infer.ts";
import type { Health, Tool } from "./tool/tool.ts";
import type { ServedMcp, ServeMcpOptions } from "./serve/serve-mcp.ts";
import { fromAlias, isCutAlias, toAlias } from "./transcode/alias.ts";
import { repairArguments } from "./transcode/repair-arguments.ts";
import { createVisibleTools, type ToolFilter, type VisibleTools } from "./visible-tools.ts";

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
  readonly #config: ResolvedConfig;
  readonly #operator: Principal = localOperator();
  readonly #events: Events;
  readonly #health: HealthBook;
  readonly #catalog: Catalog;
  readonly #registry: Registry;
  readonly #ensembles: Ensembles;
  readonly #upstreams: Upstreams;
  /** What every source is given. */
  readonly #sourceParts: { readonly egress: Egress; readonly emit: Emit; readonly secrets: Secrets };
  readonly #guard: ConfiguredGuard;
  readonly #visible: VisibleTools;
  readonly #retriever: Retriever;
  readonly #validator: Validator;
  readonly #engine: Engine;
  /** Settles when the sandboxes work, the built-in tools are there and every configured MCP server is being connected to. */
  #starting: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(config: ToolArsenalConfig = {}, parts: ToolArsenalParts = {}) {
    this.#config = resolveConfig(config);
    refuseNotInRelease(this.#config, parts);
    const { routing, execution, reranker } = this.#config;
    const clock = parts.clock ?? systemClock;
    const egress = configuredEgress(this.#config);

    // observe
    const secrets = createSecrets({ ...parts, clock, emit: (...event) => this.#events.emit(...event) });
    const sinks = [...configuredSinks(this.#config), ...(parts.sinks ?? [])];
    const { emit } = (this.#events = createEvents({ sinks, clock, redactor: secrets.redactor }));
    this.#sourceParts = { egress, emit, secrets };
    this.#health = createHealth({ clock, emit });

    // guard
    const relist = (name: string): Promise<void> => this.#ensembles.relist(name);
    this.#guard = configuredGuard(this.#config, parts, { clock, emit, egress, secrets, relist });
    const { aegis, audit, idempotency, screen, review, limits } = this.#guard;

    // catalog, register
    const [store, tiers] = [configuredStore(this.#config, parts), configuredTiers(this.#config, parts, emit)];
    this.#catalog = createCatalog({ store, tiers, emit, clock });
    this.#registry = createRegistry({
      catalog: this.#catalog,
      emit: (name, data) => (emit(name, data), forgetPast(name, data, { engine: this.#engine, health: this.#health })),
      clock,
      alias: { toAlias, fromAlias, isCutAlias },
      limits,
    });
    this.#ensembles = createEnsembles({ registry: this.#registry, emit, clock, screen, review });
    const addEnsemble = (source: Source): Promise<number> => this.addEnsemble(source);
    this.#upstreams = createUpstreams({ addEnsemble, relist, registry: this.#registry, clock, emit, egress, secrets });
    const get = (id: string): Tool | undefined => this.#registry.get(id) ?? this.#upstreams.find(id)?.tool;
    this.#visible = createVisibleTools({ get, catalog: this.#catalog, aegis, operator: this.#operator });

    // retrieve
    const learning = createLearning({ clock, termsOf: tokenize, settings: routing.learning, operator: this.#operator });
    this.#retriever = createRetriever({
      catalog: this.#catalog,
      health: this.#health,
      sees: (tool, principal) => aegis.sees(tool, principal ?? this.#operator),
      ...(parts.reranker ? { reranker: parts.reranker } : {}),
      ...(parts.classifyIntent ? { classifyIntent: parts.classifyIntent } : {}),
      learning,
      settings: {
        ...routing,
        weights: { ...routing.weights, learned: routing.learning.weight },
        rerankTopK: reranker.topK,
      },
      emit,
      clock,
    });

    // execute
    const configured = configuredExecutors(this.#config);
    this.#validator = parts.validator ?? guarded();
    const engine = createEngine({
      find: (name, options) => this.#upstreams.find(name) ?? this.#registry.find(name, options),
      explainMissing: (name, sees) => this.#registry.explainMissing(name, sees),
      aegis,
      audit,
      redact: secrets.redactor.value,
      idempotency,
      validator: this.#validator,
      repair: repairArguments,
      executors: [...(parts.executors ?? []), ...configured.executors, direct()],
      health: this.#health,
      ensembleSettings: (name) => this.#ensembles.settings(name),
      emit,
      clock,
      localPrincipal: this.#operator,
      settings: { ...execution, circuitBreakerTimeoutMs: execution.circuitBreakerTimeoutS * 1000 },
    });
    this.#engine = learning?.watch(engine) ?? engine;
    this.#starting = startConfigured(this.#config, configured, {
      ...this.#sourceParts,
      isClosed: () => this.#closed !== undefined,
      addEnsemble: (source) => this.addEnsemble(source),
      addMcpServer: (server) => this.addMcpServer(server, { patient: true }),
      addOpenApi: (document) => this.addOpenApi(document),
    });
  }

  /** Builds an arsenal from a YAML configuration and its modules. `parts.environment` fills `${NAME}`; it defaults to the process environment. */
  static async fromConfig(path: string, parts: ToolArsenalParts = {}): Promise<ToolArsenal> {
    const { loadConfig } = await import("./config/load/load-config.ts");
    const { config, folder } = await loadConfig(path, parts.environment);
    const arsenal = new ToolArsenal(config, parts);
    try {
      for (const module of config.modules) await runModule(resolve(folder, module), module, arsenal);
      await arsenal.#starting;
      return arsenal;
    } catch (error) {
      await arsenal.close();
      throw error;
    }
  }

  /** Registers a function as a tool. Its argument's type comes from the schema given as `parameters`. */
  register<const Schema extends ParametersSchema = { readonly type: "object" }>(
    definition: FunctionDefinition<Schema>,
    handler: Handler<ArgumentsOf<Schema>>,
  ): Tool {
    this.#refuseIfClosed();
    const registration = fromFunction(definition, handler);
    this.#registry.addOne(registration);
    if (this.#config.syncOnRegister) this.sync().catch(() => {}); // what could not be indexed stays pending; the next sync reports it
    return registration.tool;
  }

  /** Adds a tool from its definition. Without a handler it can be found but not run. */
  async addTool(draft: ToolDraft, handler?: Handler): Promise<Tool> {
    this.#refuseIfClosed();
    const tool = defineTool(draft);
    this.#registry.addOne(handler ? { tool, handler } : { tool });
    if (this.#config.syncOnRegister) await this.sync();
    return tool;
  }

  /** Adds many tools. A bad one is reported and the others are registered all the same. */
  async addTools(batch: readonly BatchRegistration[]): Promise<RegisteredBatch> {
    this.#refuseIfClosed();
    const outcome = registerBatch(this.#registry, batch, this.#events.emit);
    if (this.#config.syncOnRegister) await this.sync();
    return outcome;
  }

  /** Connects a source and adds its tools as one ensemble. Returns how many tools came. */
  async addEnsemble(source: Source): Promise<number> {
    this.#refuseIfClosed();
    // Opened first, so that a tool restored from the store is known to belong to its ensemble before its name is taken.
    await this.#catalog.open();
    const { tools } = await this.#upstreams.during(source, () => this.#ensembles.add(source));
    if (this.#config.syncOnRegister) await this.sync();
    return tools;
  }

  /** Connects an MCP server and returns how many tools it has. With `patient`, returns at once and retries in the background. */
  async addMcpServer(settings: McpServerSettings, options: { readonly patient?: boolean } = {}): Promise<number> {
    this.#refuseIfClosed();
    return this.#upstreams.add(settings, options);
  }

  /** Adds the operations of an OpenAPI document as one ensemble. Returns how many tools came; one that cannot be used is reported and left out. */
  async addOpenApi(settings: OpenApiSettings): Promise<number> {
    this.#refuseIfClosed();
    const { openapi } = await import("./adapters/sources/openapi/openapi.ts");
    return this.addEnsemble(openapi(settings, this.#sourceParts));
  }

  /** Disconnects an ensemble and removes its tools. False where there is none of that name. */
  async removeEnsemble(name: string): Promise<boolean> {
    this.#refuseIfClosed();
    this.#upstreams.forget(name);
    return this.#ensembles.remove(name);
  }

  /** The MCP servers that were added, connected or not. */
  get upstreams(): readonly McpUpstream[] {
    return this.#upstreams.all();
  }

  /** Resolves when the first attempt to connect each MCP server, or the one named, has ended: its tools are registered, or it failed. */
  async upstreamsAttempted(options: { readonly name?: string; readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#starting;
    await this.#upstreams.attempted(options);
  }

  /** Serves this arsenal to MCP clients: every tool as one server at `/mcp`, each upstream untouched at `/mcp/upstreams/NAME`. */
  async serveMcp(options: ServeMcpOptions = {}): Promise<ServedMcp> {
    this.#refuseIfClosed();
    const { serveMcp } = await import("./serve/serve-mcp.ts");
    const { mcp, server } = this.#config;
    const defaults = { mode: mcp.mcpMode, startupWaitMs: mcp.startupWaitMs, drainMs: server.drainTimeoutS * 1000 };
    return serveMcp(this, { ...defaults, ...options }, this.#sourceParts.secrets.redactor);
  }

  /** Indexes pending registrations. Returns how many tools were new or changed. */
  async sync(options: { readonly signal?: AbortSignal } = {}): Promise<number> {
    this.#refuseIfClosed();
    await this.#catalog.open();
    return this.#registry.sync(options);
  }

  /** Resolves when the best ranker, or the named tier, knows every tool. Nothing needs to wait for it: until then a simpler ranker answers. */
  async ready(options: SettledOptions & { readonly tier?: TierName } = {}): Promise<Settled> {
    await this.#ready();
    return this.#catalog.settled(options);
  }

  /** Finds the tools that fit a request and its conversation, best first. */
  async retrieve(query: ToolQuery): Promise<RetrievalResult> {
    await this.#ready();
    const rerank = this.#config.reranker.enabled && query?.enableReranking === undefined;
    return this.#retriever.retrieve(rerank ? { ...query, enableReranking: true } : query);
  }

  /** Finds tools for a request in words and returns them as the dialect's API takes them: an array of the SDK's own tool type. */
  retrieveTools<Name extends DialectName = "openai">(
    query: string,
    options?: RetrieveToolsOptions<Name>,
  ): Promise<DialectTools[Name][]>;
  retrieveTools<Definition extends object>(
    query: string,
    options: RetrieveToolsOptions<DialectName | DefinitionWriter<Definition>>,
  ): Promise<Definition[]>;
  async retrieveTools(query: string, options: RetrieveToolsOptions = {}): Promise<object[]> {
    const write = definitionWriter(options);
    const { tools } = await this.retrieve(toToolQuery(query, options));
    return write(tools.map(({ tool }) => tool));
  }

  /** Runs one tool under policy. A failing tool is a result with a status, not an exception. */
  async execute(call: ToolCall): Promise<ToolResult> {
    await this.#ready();
    return this.#engine.execute(call);
  }

  /** Runs several calls, in parallel, in sequence, or as far as is safe in parallel. */
  async executeBatch(batch: BatchCall): Promise<BatchResult> {
    await this.#ready();
    return this.#engine.executeBatch(batch);
  }

  /** Reads `security.policyFile` again, for calls from now on. Throws `CONFIG_INVALID`, and keeps the old policy, if the new one is invalid. */
  reloadPolicy(): void {
    this.#refuseIfClosed();
    this.#guard.reloadPolicy();
  }

  /** Calls that wait for a person's approval. */
  get approvals(): Approvals {
    return this.#guard.aegis.approvals;
  }

  /** What each tool of a source was when it was accepted; undefined where `security.pins` is `off`. */
  get pins(): Pins | undefined {
    return this.#guard.pins;
  }

  /** The semantic score under which `retrieve` leaves a tool out, where a query does not say. */
  get scoreThreshold(): number {
    return this.#config.routing.scoreThreshold;
  }

  /** How many tools are registered, indexed or not. */
  get toolCount(): number {
    return this.#registry.size;
  }

  /** Returns one tool; undefined if there is none, or if the principal may not see it. The principal defaults to the local operator. */
  async getTool(name: string, namespace = "default", by: AskedBy = {}): Promise<Tool | undefined> {
    await this.#ready();
    return this.#visible.get(name, namespace, by);
  }

  /** Every tool that passes the filter, ordered by id. */
  async listTools(filter: ToolFilter = {}): Promise<readonly Tool[]> {
    await this.#ready();
    return this.#visible.list(filter);
  }

  /** Removes a tool. Returns false if there is none, or if the given principal may not see it. */
  async deleteTool(name: string, namespace = "default", by: AskedBy = {}): Promise<boolean> {
    await this.#ready();
    const tool = this.#visible[by.principal === undefined ? "find" : "get"](name, namespace, by);
    return tool !== undefined && this.#registry.delete(tool.id);
  }

  /** How a tool has fared since the arsenal started. */
  health(toolId: string): Health {
    return this.#health.of(toolId);
  }

  /** Which parts work now. */
  async healthCheck(): Promise<Record<string, boolean>> {
    await this.#ready();
    return { ...(await this.#catalog.healthCheck()) };
  }

  /** Calls back for every event. Returns what ends it. */
  subscribe(listener: (event: ArsenalEvent) => void): () => void {
    return this.#events.subscribe(listener);
  }

  /** Ends calls that wait for their turn, disconnects ensembles, lets writes under way end and releases everything. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#engine.close();
      await this.#ensembles.close();
      this.#sourceParts.egress.close();
      try {
        await this.#catalog.close();
      } finally {
        await Promise.allSettled([this.#validator.close?.(), this.#guard.close()]);
        await this.#events.close();
      }
    })();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #ready(): Promise<void> {
    this.#refuseIfClosed();
    if (this.#starting !== undefined) await this.#starting;
    if (!this.#catalog.opened) await this.#catalog.open();
    if (this.#config.autoSync && this.#registry.pending > 0) await this.#registry.sync();
  }

  #refuseIfClosed(): void {
    if (this.#closed)
      throw new ArsenalError("CLOSED", "This arsenal was closed.", { fix: "Create a new ToolArsenal." });
  }
}
