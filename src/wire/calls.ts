import { directExecutor } from "../adapters/executors/direct.ts";
import { findApproval } from "../adapters/sources/workflows/approval.ts";
import { workflowExecutor } from "../adapters/sources/workflows/executor.ts";
import type { Upstreams } from "../adapters/sources/mcp/upstream/upstreams.ts";
import { jsonSchemaValidator } from "../adapters/validators/json-schema/json-schema.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { tokenize } from "../catalog/lexical/tokenize.ts";
import { withOwnDefinitions } from "../catalog/own-definitions.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";
import type { ToolArsenalParts } from "./parts.ts";
import type { LoadedGuard } from "./load-guard.ts";
import type { RepairArguments } from "../execute/arguments/check-or-repair.ts";
import { createEngine, type Engine } from "../execute/engine.ts";
import type { Executor } from "../execute/executor.port.ts";
import type { ResultCacheSettings } from "../execute/settings.ts";
import { createSearchLimit } from "../guard/limits/caller-rate.ts";
import { compilePatterns } from "../guard/pattern.ts";
import { type Principal, principalOr } from "../guard/principal.ts";
import type { Redactor } from "../guard/redaction/redactor.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import { activeHostSpan } from "../observe/host-span.ts";
import type { HealthBook } from "../observe/health.ts";
import type { EnsembleSettings } from "../register/source.port.ts";
import type { Registry } from "../register/registry.ts";
import { createLearning } from "../retrieve/learn/learning.ts";
import { createRetriever, type Retriever } from "../retrieve/retriever.ts";
import type { Reranker } from "../retrieve/reranker.port.ts";
import type { Toolsets } from "../toolset/toolsets.ts";
import type { WiredHistory } from "./history.ts";
import type * as Repairs from "../transcode/repair-arguments.ts";
import { createOffers, createVisibleTools } from "../facade/visible-tools.ts";

export type CallStages = ReturnType<typeof wireCalls>;

/** Wires `retrieve` and `execute`. Their code is loaded by the first request or call, because it is most of the package. */
export function wireCalls(stages: {
  readonly config: ResolvedConfig;
  readonly parts: ToolArsenalParts;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly operator: Principal;
  readonly health: HealthBook;
  readonly redactor: Redactor;
  readonly guard: LoadedGuard;
  readonly catalog: Catalog;
  readonly registry: Registry;
  readonly ensembleSettings: (ensemble: string) => EnsembleSettings;
  readonly upstreams: Upstreams;
  readonly toolsets: Toolsets;
  readonly executors: readonly Executor[];
  readonly reranker: Reranker | undefined;
  readonly history: WiredHistory | undefined;
}) {
  const { parts, clock, emit, operator, health, redactor, guard, catalog, registry, upstreams, toolsets } = stages;
  const { routing, execution, reranker } = stages.config;
  const { aegis, audit, idempotency } = guard;

  // catalog
  const shown = withOwnDefinitions({
    engine: catalog.engine,
    own(id) {
      const { tool, handler } = registry.own(id) ?? {};
      return handler === undefined ? undefined : tool;
    },
    conflicts: registry.conflicts,
    async createEngine() {
      const { memoryEngine } = await import("../adapters/engines/memory.ts");
      const engine = memoryEngine({ clock });
      await engine.open();
      return engine;
    },
  });

  // retrieve
  const offered = createOffers({ aegis, toolsets, operatorRole: stages.config.server.operatorRole });
  const learning = createLearning({ clock, termsOf: tokenize, settings: routing.learning, operator });
  const unasked = createRetriever({
    catalog: { engine: shown, request: (...asked) => catalog.request(...asked) },
    health,
    sees: (tool, principal, query) => offered.offer(tool, principal ?? operator, query) !== undefined,
    visible: (principal, query) => offered.visible(principal ?? operator, query),
    callable: (principal, query) => offered.callable(principal ?? operator, query),
    refusal: (tool, principal, query) => offered.refusal(tool, principal ?? operator, query),
    ...(stages.reranker ? { reranker: stages.reranker } : {}),
    ...(parts.classifyIntent ? { classifyIntent: parts.classifyIntent } : {}),
    learning,
    settings: {
      ...routing,
      weights: { ...routing.weights, learned: routing.learning.weight },
      rerankTopK: reranker.topK,
      rerankTimeoutMs: reranker.timeoutMs,
    },
    ...(stages.history && { note: stages.history.noteRetrieval }),
    emit,
    clock,
  });
  const takeSearch = createSearchLimit({
    limits: guard.callLimits,
    perMinute: stages.config.security.rates.searches,
  });
  const retriever: Retriever = {
    async retrieve(query) {
      if (query?.principal?.local === false) await takeSearch(query.principal);
      if (query?.toolset !== undefined) offered.admit(principalOr(operator, query.principal), query);
      const rerank = reranker.enabled && query?.enableReranking === undefined;
      const asked = belowHostSpan(query);
      return unasked.retrieve(rerank ? { ...asked, enableReranking: true } : asked);
    },
  };

  // execute
  const validator = parts.validator ?? jsonSchemaValidator();
  let repairs: typeof Repairs | undefined;
  const repair: RepairArguments = async (...given) => {
    repairs ??= await import("../transcode/repair-arguments.ts");
    return repairs.repairArguments(...given);
  };
  const unwatched = createEngine({
    find: (name, options) => upstreams.find(name) ?? findApproval(name, registry) ?? registry.find(name, options),
    explainMissing: (name, sees) => registry.explainMissing(name, sees),
    aegis,
    audit,
    limits: guard.callLimits,
    quotas: guard.teams?.quotas,
    redact: redactor.value,
    idempotency,
    validator,
    repair,
    executors: [workflowExecutor(), ...(parts.executors ?? []), ...stages.executors, directExecutor()],
    health,
    ensembleSettings: stages.ensembleSettings,
    emit,
    clock,
    localPrincipal: operator,
    settings: {
      ...execution,
      circuitBreakerTimeoutMs: execution.circuitBreakerTimeoutS * 1000,
      resultCache: resultCacheSettings(execution.resultCache),
    },
  });
  const watched = learning?.watch(unwatched) ?? unwatched;
  const engine: Engine = { ...watched, execute: (call) => watched.execute(belowHostSpan(call)) };
  return {
    retriever,
    engine,
    visible: createVisibleTools({
      get: async (id) => (await registry.get(id)) ?? upstreams.find(id)?.tool,
      engine: shown,
      offered,
      operator,
    }),
    /** Writes pending records to the history, if there is one. */
    flushHistory: async (): Promise<void> => stages.history?.flush(),
    close: async (): Promise<void> => void (await Promise.allSettled([validator.close?.(), stages.history?.close()])),
  };
}

/** Nests a request under the active span of the application, unless the caller names a trace. */
function belowHostSpan<Request extends { readonly traceId?: string }>(request: Request): Request {
  const span = activeHostSpan();
  return span === undefined || request?.traceId !== undefined ? request : { ...span, ...request };
}

function resultCacheSettings(given: ResolvedConfig["execution"]["resultCache"]): ResultCacheSettings | undefined {
  if (given === undefined) return undefined;
  const { ttlS, maxBytes, maxEntries, tools } = given;
  const bounds = { ttlMs: ttlS * 1000, maxBytes, maxEntries };
  if (tools === undefined) return bounds;
  const named = compilePatterns(tools, { field: "execution.result_cache.tools", grants: true });
  return { ...bounds, covers: (tool) => named(tool) !== undefined };
}
