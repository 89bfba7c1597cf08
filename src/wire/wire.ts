import type { RetrieveToolsOptions } from "../adapters/dialects/write-definitions.ts";
import type { WorkflowViews } from "../adapters/sources/workflows/view.ts";
import type { GivenSource } from "../adapters/sources/named-source.ts";
import type { UserTokens } from "../adapters/sources/mcp/oauth/user-tokens.ts";
import { createUpstreams } from "../adapters/sources/mcp/upstream/upstreams.ts";
import { createCatalog } from "../catalog/catalog.ts";
import { auditType, keepsHistory } from "../config/load/chosen-adapters.ts";
import {
  configuredEngine,
  configuredLlm,
  configuredReranker,
  configuredSinks,
  configuredTiers,
  type DividedOptions,
} from "./parts.ts";
import { configuredGuard, configuredToolsets, hasTeams } from "./guard.ts";
import { createSurroundings } from "./surroundings.ts";
import type { ConfiguredExecutors } from "../config/load/configured-executors.ts";
import type { Started } from "../config/start/start-configured.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { PinGuard } from "../guard/pins/pins.ts";
import { localOperator, type Principal } from "../guard/principal.ts";
import { createEvents } from "../observe/emitter.ts";
import { createHealth } from "../observe/health.ts";
import type { MetricRegistry } from "../observe/metrics/registry.ts";
import type { Ensembles } from "../register/ensembles.ts";
import type { CodeMode } from "../programs/code-mode.ts";
import type { Runs } from "../runs/runs.ts";
import { createRegistry } from "../register/registry.ts";
import type { EnsembleSettings, Source } from "../register/source.port.ts";
import type { ConnectionParts } from "../administration/connections.ts";
import type { EventFeed } from "../serve/events/event-feed.ts";
import type { ServableArsenal } from "../serve/served-arsenal.ts";
import type { ServedGateway, ServeOptions } from "../serve/serve-arsenal.ts";
import { createToolsets } from "../toolset/toolsets.ts";
import { fromAlias, isCutAlias, toAlias } from "../transcode/alias.ts";
import type { Tool } from "../tool/tool.ts";
import type { Dialect } from "../transcode/dialect.port.ts";
import type { CallStages } from "./calls.ts";
import type { WiredCodeMode } from "./programs/code-mode.ts";
import type { WiredHistory } from "./history.ts";
import type { ArsenalOperations } from "../facade/operations.ts";
import type { SavedProgramOperations } from "../programs/saved/operations.ts";
import type { WiredSavedPrograms } from "./programs/saved-programs.ts";
import type { LoadedTeams } from "./teams.ts";
import type { AddOptions } from "../adapters/sources/add-source.ts";
import type { WiredMetrics } from "./metrics.ts";
import { createRegistrations } from "../facade/registrations.ts";

export type { Started } from "../config/start/start-configured.ts";
export type { Approvals } from "../guard/aegis.ts";
export type { Pins } from "../guard/pins/pins.ts";
export type { ListToolsOptions } from "../facade/visible-tools.ts";
export type { MarkedTool } from "../guard/policy.port.ts";
export type { ExportedTools, ExportOptions } from "../facade/registrations.ts";

/** The stages of one arsenal, wired. Nothing runs and nothing is connected until `start`. */
export type Wired = ReturnType<typeof wireArsenal>;

/** Wires the stages of an arsenal, in the order data takes. Throws CONFIG_INVALID if the configuration is broken. */
export function wireArsenal({ config, parts }: DividedOptions) {
  const operator = localOperator();

  // observe
  const surroundings = { ...createSurroundings(config, parts, (...event) => events.emit(...event)), metrics, runs };
  const { clock, egress, secrets } = surroundings;
  const { redactor } = secrets;
  const sinks = [...configuredSinks(config, surroundings), ...(parts.sinks ?? [])];
  const events = createEvents({ sinks, clock, redactor });
  const { emit } = events;
  const health = createHealth({ clock, emit });

  // guard
  const relist = async (name: string): Promise<void> => ensembles?.relist(name);
  /** Starts a server whose command waited for acceptance, and lists its tools again. */
  const afterAccepting = async (name: string): Promise<void> => {
    const upstream = upstreams.all().find((each) => each.name === name);
    await upstream?.retry();
    await relist(name);
  };
  const recordsCalls = parts.audit !== undefined || auditType(config.audit) !== undefined;
  const allows = (name: string, principal: Principal): boolean => teams?.allows(name, principal) ?? true;
  const toolsets = createToolsets({ initial: configuredToolsets(config), clock, emit, recordsCalls, allows });
  const held = async (ids: readonly string[]): Promise<readonly Tool[]> => {
    await catalog.open();
    return catalog.shared ? catalog.engine.get(ids) : [];
  };
  const guard = configuredGuard(config, parts, surroundings, toolsets, { relist: afterAccepting, held });

  // catalog, register
  const tiers = configuredTiers(config, parts, surroundings);
  const reranker = configuredReranker(config, parts, surroundings);
  const engine = configuredEngine(config, parts, surroundings);
  const { changes, leases } = guard.state;
  const catalog = createCatalog({ engine, tiers, emit, clock, changes, leases });
  const registry = createRegistry({
    catalog,
    emit(name, data) {
      emit(name, data);
      // A deleted or replaced tool loses its breaker and limits.
      if ((name === "tool-deleted" || name === "tool-replaced") && "toolId" in data) calls?.engine.forget(data.toolId);
      if (name === "tool-deleted" && "toolId" in data) health.forget(data.toolId);
    },
    clock,
    alias: { toAlias, fromAlias, isCutAlias },
    limits: guard.limits,
  });
  let ensembles: Ensembles | undefined;
  const { debugProtocol, prices } = config.telemetry;
  const mayStart: PinGuard["mayStart"] = async (...command) => (await guard.load()).pins?.mayStart(...command);
  const upstreams = createUpstreams({ registry, relist });
  const dialects = new Map<string, Dialect>((parts.dialects ?? []).map((dialect) => [dialect.name, dialect]));
  /** Sources that are retried until they connect, by name. */
  const wanted = new Map<string, object>();
  const stages = { redactor, health, catalog, registry, upstreams, toolsets };
  const sources = { add, addEnsemble, remove };

  // start and close
  let starting: Promise<Started> | undefined;
  let started: Started | undefined;
  let calls: CallStages | undefined;
  let loading: Promise<typeof stages & CallStages> | undefined;
  let closing: Promise<void> | undefined;
  let feed: EventFeed | undefined;
  let teams: LoadedTeams | undefined;
  let signingIn: Promise<UserTokens> | undefined;
  let sandboxing: Promise<ConfiguredExecutors> | undefined;
  let measuring: Promise<WiredMetrics> | undefined;
  let running: Promise<Runs> | undefined;
  let programming: Promise<WiredCodeMode> | undefined;
  let saving: Promise<WiredSavedPrograms> | undefined;
  const following: (() => void)[] = [];
  const isClosed = (): boolean => closing !== undefined;
  const executors = (): Promise<ConfiguredExecutors> =>
    (sandboxing ??= import("../config/load/configured-executors.ts").then(({ configuredExecutors }) =>
      configuredExecutors(config),
    ));

  function refuseIfClosed(): void {
    if (isClosed()) throw new ArsenalError("CLOSED", "This arsenal was closed.", { fix: "Create a new ToolArsenal." });
  }

  const measure = (): Promise<WiredMetrics> =>
    (measuring ??= import("./metrics.ts").then(({ wireMetrics }) =>
      wireMetrics({ ...stages, events, clock, prices, approvals: guard.approvals, engine: () => calls?.engine }),
    ));

  async function runs(): Promise<Runs> {
    refuseIfClosed();
    const own = { config, guard, events, clock, ready, codeMode };
    return (running ??= import("./runs.ts").then(({ wireRuns }) => wireRuns(own)));
  }

  async function codeMode(): Promise<CodeMode> {
    refuseIfClosed();
    programming ??= Promise.all([import("./programs/code-mode.ts"), runs()]).then(([{ wireCodeMode }, all]) =>
      wireCodeMode({ config, runs: all, events, toolsets, clock, operator, ready }),
    );
    return (await programming).code;
  }

  /** Programs saved as tools, loaded with the first one. */
  const saved = (): Promise<WiredSavedPrograms> =>
    (saving ??= Promise.all([import("./programs/saved-programs.ts"), import("./tool-host.ts")]).then(
      ([{ wireSavedPrograms }, { createToolHost }]) => {
        const host = createToolHost({ registry, events, runs });
        return wireSavedPrograms({ config, guard, clock, host, codeMode, addEnsemble, relist });
      },
    ));

  async function savedPrograms(): Promise<SavedProgramOperations> {
    refuseIfClosed();
    return (await saved()).operations;
  }

  async function metrics(): Promise<MetricRegistry> {
    return (await measure()).registry;
  }

  /** Indexes pending registrations. Returns the number of new or changed tools. */
  async function sync(options: { readonly signal?: AbortSignal } = {}): Promise<number> {
    refuseIfClosed();
    await catalog.open();
    return registry.sync(options);
  }

  async function addEnsemble(source: Source, options: { signal?: AbortSignal | undefined } = {}): Promise<number> {
    refuseIfClosed();
    // Opened first, so that a tool restored from the store already belongs to its ensemble before its name is taken.
    const [{ screen, review }] = await Promise.all([guard.load(), catalog.open()]);
    const { createEnsembles } = await import("../register/ensembles.ts");
    refuseIfClosed();
    const all = (ensembles ??= createEnsembles({ registry, emit, clock, screen, review }));
    const { tools } = await upstreams.during(source, () => all.add(source, options));
    if (config.syncOnRegister) await sync();
    return tools;
  }

  /** Adds a source, its settings, or a list of tools. Returns the number of tools added. */
  async function add(source: GivenSource, options: AddOptions = {}): Promise<number> {
    refuseIfClosed();
    const { addSource } = await import("../adapters/sources/add-source.ts");
    const { createToolHost } = await import("./tool-host.ts");
    const host = createToolHost({ registry, events, runs });
    const ownFiles = async (): Promise<readonly string[]> =>
      (await import("../config/load/own-files.ts")).ownFiles(config);
    const { envPassthrough } = config.mcp;
    const own = { mayStart, ownFiles, handlers: parts.handlers, envPassthrough };
    const around = { clock, emit, egress, secrets, debugProtocol, host, userTokens, ...own };
    return addSource(source, options, { ...around, wanted, addEnsemble, isClosed });
  }

  /** The tokens of people who sign in to servers. Loaded by the first server that needs them. */
  const userTokens = (): Promise<UserTokens> =>
    (signingIn ??= import("../administration/user-tokens.ts").then(({ wireUserTokens }) =>
      wireUserTokens({ config, state: guard.state, secrets, clock }),
    ));

  /** Connects the configured sources and servers, once. */
  async function start(): Promise<Started> {
    refuseIfClosed();
    return await connected();
  }

  const connected = (): Promise<Started> => (starting ??= connect());

  async function connect(): Promise<Started> {
    if (config.programs.sandbox !== "quickjs") await (await import("./programs/code-mode.ts")).checkPrograms(config);
    const { startConfigured } = await import("../config/start/start-configured.ts");
    started = await startConfigured(config, await executors(), { add, emit, clock, isClosed });
    // A state in memory has no saved programs at the start.
    if (guard.state.name !== "memory") {
      const { followSavedPrograms } = await import("./programs/follow-saved-programs.ts");
      following.push(await followSavedPrograms(guard.state, async () => (await saved()).offer(), emit));
    }
    if (isClosed()) await started.close();
    return started;
  }

  /** Resolves to all stages once the arsenal has started and, with `autoSync`, every registration is indexed. */
  async function ready(): Promise<typeof stages & CallStages> {
    refuseIfClosed();
    await connected();
    if (!catalog.opened) await catalog.open();
    if (config.autoSync && registry.pending > 0) await registry.sync();
    return await (loading ??= loadCalls());
  }

  async function loadCalls(): Promise<typeof stages & CallStages> {
    const { wireCalls } = await import("./calls.ts");
    // A sink that sends metrics is loaded by the first event, which must be counted too.
    const { enabled = true, type = "console" } = config.telemetry;
    if (enabled && type !== "console") await metrics();
    const ensembleSettings = (name: string): EnsembleSettings => ensembles?.settings(name) ?? {};
    const history = keepsHistory(config) ? await loadHistory() : undefined;
    const own = { config, parts, clock, emit, operator, reranker, executors: (await executors()).executors, history };
    const loaded = await guard.load();
    teams = loaded.teams;
    teams?.follow(events);
    calls = wireCalls({ ...own, ...stages, guard: loaded, ensembleSettings });
    if (isClosed()) calls.engine.close();
    return { ...stages, ...calls };
  }

  async function loadHistory(): Promise<WiredHistory> {
    const { wireHistory } = await import("./history.ts");
    return wireHistory({ config, events, state: guard.state.documents, clock, redactor });
  }

  /** With `keep`, the ensemble can be connected again. */
  async function remove(name: string, options?: { readonly keep?: boolean }): Promise<boolean> {
    upstreams.forget(name);
    wanted.delete(name);
    return ensembles?.remove(name, options) ?? false;
  }

  async function disconnect(): Promise<void> {
    feed?.close();
    for (const end of following) end();
    await (await running)?.close();
    await (await programming)?.close();
    calls?.engine.close();
    await started?.close();
    await ensembles?.close();
    egress.close();
    try {
      await catalog.close();
    } finally {
      // The history is written to the state, which the guard closes.
      await Promise.allSettled([calls?.close()]);
      await Promise.allSettled([guard.close()]);
      // Sinks that send metrics read them once more while closing.
      await events.close();
      (await measuring)?.close();
    }
  }

  const registrations = createRegistrations({
    registry,
    visible: async () => (await ready()).visible,
    emit,
    dialects,
    sync: config.syncOnRegister ? sync : undefined,
  });
  const wired = {
    config,
    events,
    guard,
    ...stages,
    llm: configuredLlm(config, surroundings),
    ...registrations,
    dialects,
    sync,
    ...sources,
    start,
    ready,
    runs,
    codeMode,
    savedPrograms,
    operations: {
      policy: { reload: (): void => (refuseIfClosed(), guard.reloadPolicy()) },
      programs: {
        save: async (program, by) => (await savedPrograms()).save(program, by),
        accept: async (name, by) => (await savedPrograms()).accept(name, by),
        list: async (by) => (await savedPrograms()).list(by),
        get: async (name, by) => (await savedPrograms()).get(name, by),
        remove: async (name, by) => (await savedPrograms()).remove(name, by),
      },
    } satisfies ArsenalOperations,
    /** Returns the workflows. They and the saved programs are checked against the registered tools. */
    async workflows(): Promise<WorkflowViews> {
      const { viewWorkflows } = await import("../adapters/sources/workflows/view.ts");
      const composed = (ensembles?.all() ?? []).filter(({ source }) => ["program", "workflow"].includes(source.kind));
      for (const { source } of composed) await relist(source.name);
      return viewWorkflows(composed.map(({ source }) => source).filter(({ kind }) => kind === "workflow"));
    },
    async retrieveTools(query: string, options: RetrieveToolsOptions): Promise<object[]> {
      const { definitionWriter, toToolQuery } = await import("../adapters/dialects/write-definitions.ts");
      const write = await definitionWriter(options, dialects);
      const asked = toToolQuery(query, options);
      const { retriever, visible } = await ready();
      const { tools } = await retriever.retrieve(asked);
      const searched = options.providerSearch === true ? await visible.matching(asked) : [];
      return write(
        tools.map(({ tool }) => tool),
        searched,
      );
    },
    async healthCheck(): Promise<Record<string, boolean>> {
      await ready();
      return { ...(await catalog.healthCheck()), state: await guard.state.healthCheck() };
    },
    async upstreamsAttempted(options: { readonly name?: string; readonly signal?: AbortSignal }): Promise<void> {
      if (!isClosed()) await start();
      await upstreams.attempted(options);
    },
    async serve(arsenal: ServableArsenal, options: ServeOptions): Promise<ServedGateway> {
      const { serveArsenal } = await import("../serve/serve-arsenal.ts");
      const { withListening } = await import("./identity.ts");
      const opened = await withListening(options, config, { state: guard.state, egress, secrets });
      teams ??= hasTeams(config) ? (await guard.load()).teams : undefined;
      const identity = opened.identity && (teams?.identity(opened.identity) ?? opened.identity);
      const listening = identity === undefined ? opened : { ...opened, identity };
      const dependencies = {
        catalog: async () => (await catalog.open(), await catalog.engine.count(), true),
        audit: async () => (await (await guard.load()).audit?.refusal(undefined, true)) === undefined,
        state: () => guard.state.healthCheck(),
      };
      const { createAdministration } = await import("../administration/administration.ts");
      const { createEventFeed } = await import("../serve/events/event-feed.ts");
      const write = (event: unknown): string => JSON.stringify(redactor.known.value(event));
      feed ??= createEventFeed({ events, state: guard.state, clock, write });
      const { registry: measured, statistics } = await measure();
      const own = { config, guard, clock, egress, feed, statistics, ready, ensembles: () => ensembles };
      const flushHistory = async (): Promise<void> => calls?.flushHistory();
      const administered = { ...stages, ...sources, ...own, flushHistory, runs, teams };
      const administration = createAdministration(administered);
      const { createConnections } = await import("../administration/connections.ts");
      const listTools: ConnectionParts["listTools"] = (filter) => arsenal.listTools(filter);
      const audit: ConnectionParts["audit"] = async () => (await guard.load()).audit;
      const apis: ConnectionParts["apis"] = () =>
        (ensembles?.all() ?? []).map(({ source }) => source).filter(({ kind }) => kind === "openapi");
      const connections = createConnections({ ...stages, apis, userTokens, egress, secrets, audit, listTools });
      const common = { config, redactor, emit, metrics: measured, dependencies, dialects, state: guard.state };
      const served = { ...common, administration, connections };
      following.push((await import("./programs/follow-open-runs.ts")).followOpenRuns(guard.state, codeMode));
      return serveArsenal(arsenal, listening, { ...served, outside: { egress, secrets, emit } });
    },
    /** Ends waiting calls, disconnects, finishes pending writes and releases everything, once. */
    close: (): Promise<void> => (closing ??= disconnect()),
  };
  return {
    ...wired,
    open(): typeof wired {
      refuseIfClosed();
      return wired;
    },
  };
}
