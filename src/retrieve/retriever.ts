import { randomBytes } from "node:crypto";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEngine, EngineAnswer } from "../catalog/catalog-engine.port.ts";
import type { RequestVectors } from "../catalog/dense/tiers.ts";
import { ArsenalError, isArsenalError } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";
import type { Refusal } from "../guard/policy.port.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit, EventMap, RetrievalSteps } from "../observe/events.ts";
import type { HealthBook } from "../observe/health.ts";
import { toolTokens } from "../tool/estimate-tokens.ts";
import { EVERY_TOOL, type ToolFilter, toPredicate } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import { readTracestate } from "../base/trace-headers.ts";
import { untilAborted } from "../base/turns/until-aborted.ts";
import { explain, type Verdict } from "./explain.ts";
import { isNarrow, queryFilter } from "./filters.ts";
import { type CandidateQuery, findCandidates } from "./find-candidates.ts";
import { judgeFit } from "./fit/confidence.ts";
import { type FusedEvidence, fuseEvidence } from "./fuse/fuse-evidence.ts";
import type { Learning } from "./learn/learning.ts";
import type { IntentClassifier, ToolQuery } from "./query.ts";
import { coverClauses } from "./rank/cover-clauses.ts";
import { type Companion, dropConflicts, findCompanions, loadDependencies } from "./rank/dependencies.ts";
import { type MmrOptions, nearDuplication, selectDiverse } from "./rank/mmr.ts";
import { preferHarmless } from "./rank/prefer-harmless.ts";
import { applyReranking, rerank, type Reranking } from "./rank/rerank.ts";
import { byScore, type Candidate, createScorer, type Scorer } from "./rank/scorer.ts";
import { createTagMatcher } from "./rank/signals.ts";
import type { Reranker } from "./reranker.port.ts";
import type { Explanation, RetrievalResult, ScoredTool } from "./result.ts";
import { DEFAULT_SETTINGS, type RetrieverSettings } from "./settings.ts";
import { readConversation, usedTools } from "./understand/conversation-view.ts";
import { resolveIntent, type ResolvedIntent } from "./understand/intent.ts";
import { type Request, understand } from "./understand/understand.ts";
import { type CheckedQuery, validateQuery } from "./understand/validate-query.ts";

/** Finds the few tools that serve a request. */
export interface Retriever {
  /** Finds tools. Rejects with `QUERY_INVALID` for a malformed query, and with `CANCELLED` when the signal fires. */
  retrieve(query: ToolQuery): Promise<RetrievalResult>;
}

/** The part of the catalog that a query searches. */
export type SearchedView = Pick<ToolQuery, "toolset" | "includeRefused">;

export interface RetrieverParts {
  readonly catalog: Pick<Catalog, "request"> & { readonly engine: Pick<CatalogEngine, "get" | "list" | "search"> };
  readonly health: Pick<HealthBook, "of">;
  /** Returns whether a search may show the principal a tool. This is the guard's decision, and final. */
  readonly sees: (tool: Tool, principal: Principal | undefined, query: SearchedView) => boolean;
  /** Returns the tools that a principal may see, if the policy can express them as a filter. */
  readonly visible?: (principal: Principal | undefined, query: SearchedView) => ToolFilter | undefined;
  /** Returns the conditions of `sees` that a filter can express but `visible` lacks. Defaults to every tool. */
  readonly callable?: (principal: Principal | undefined, query: SearchedView) => ToolFilter;
  /** Returns why a principal may not call a tool. Found tools are marked with it. */
  readonly refusal?: (tool: Tool, principal: Principal | undefined, query: SearchedView) => Refusal | undefined;
  readonly reranker?: Reranker;
  readonly classifyIntent?: IntentClassifier;
  /** The learned evidence. If omitted, ranking uses the routing formula only. */
  readonly learning?: Pick<Learning, "priors" | "noteRetrieval"> | undefined;
  /** Receives every result. `explain` is expensive, and can run after the caller has the result. */
  readonly note?: (query: ToolQuery, result: RetrievalResult, explain: () => Explanation) => void;
  readonly settings: RetrieverSettings;
  readonly emit: Emit;
  readonly clock: Clock;
}

/** The minimum size of the candidate pool: the signals can lift tools that words alone rank too low. */
const SMALLEST_POOL = 50;
const POOL_PER_TOOL = 4;
/** Each ranker returns at least this many candidates, or twice the pool if that is more. */
const SMALLEST_SEARCH = 100;
/** A request with at least this many clauses is a task of several steps, which no single tool serves. */
const CLAUSES_OF_A_TASK = 4;
/** The lowest rank at which a tool can be chosen for a wish. */
const CONSIDERED_FOR_WISHES = 30;
const NEAREST = 3;
/** The default threshold never drops the first few tools, because they are often correct. */
const ALWAYS_KEPT = 3;

export function createRetriever(parts: RetrieverParts): Retriever {
  const { catalog, health, settings, emit, clock } = parts;
  const { engine } = catalog;

  async function retrieve(given: ToolQuery): Promise<RetrievalResult> {
    const span = beginSpan(given, clock.now());
    let signal: AbortSignal | undefined;
    try {
      const query = validateQuery(given, settings);
      ({ signal } = query);
      signal?.throwIfAborted();
      return await untilAborted(find(given, query, span), signal);
    } catch (cause) {
      const error = signal?.aborted === true ? cancelled(signal) : cause;
      const code = isArsenalError(error) ? error.code : "EXECUTION_FAILED";
      const through = typeof given?.toolset === "string" ? { toolset: given.toolset } : {};
      const durationMs = clock.now() - span.startedAt;
      emit("retrieval-failed", { ...span, ...through, durationMs, code, message: messageOf(error) });
      throw error;
    }
  }

  async function find(given: ToolQuery, query: CheckedQuery, span: RetrievalSpan): Promise<RetrievalResult> {
    const { startedAt, traceId } = span;
    const { context, limit, signal } = query;

    // understand
    const request = understand(context);
    const pool = Math.max(SMALLEST_POOL, POOL_PER_TOOL * limit);
    const wanted = candidateQuery(query, pool);
    const vectorsOf = catalog.request(request.meanings, {
      filtered: isNarrow(query),
      passagesFrom: request.texts.length,
      ...(signal === undefined ? {} : { signal }),
    });
    const intentOf = resolveIntent(context, settings, parts.classifyIntent, signal);
    const [intent, vectors] = await Promise.all([intentOf, vectorsOf]);

    // candidates
    const searchedFrom = clock.now();
    const { answer, candidateCount, filteredCount } = await findCandidates(engine, request, vectors, wanted);
    const searchedAt = clock.now();

    // fuse
    const fused = fuseEvidence(request, answer, vectors);
    const hits = fused.hits.slice(0, pool);
    const searchTimeMs = clock.now() - searchedFrom;

    // score
    const score = await scorerOf(query, request, intent, wanted.visible);
    const scored = hits.map((hit) => score(hit)).sort(byScore);
    const rerankedFrom = clock.now();
    const reranking = query.enableReranking ? await askReranker(inConversation(request), scored, query) : undefined;
    const rerankedAt = clock.now();
    const rerankTimeMs = rerankedAt - rerankedFrom;
    const reranked = applyReranking(scored, reranking, score);
    const ranked = preferHarmless(reranked, request.text, vectors.provisional === true);

    // fit
    const found = { ...fused, hits, candidateCount };
    const { fitting, confidence, nothingFits, ...fit } = fitOf(ranked, found, request, query, given);

    // cut
    const { kept, conflicts } = dropConflicts(fitting);
    const { selected: diverse, displaced } = selectDiverse(kept, limit, diversityOf(query, answer));
    const selected = request.steps === undefined ? diverse : coverWishes(diverse, kept, limit);
    const companions = query.includeDependencies ? await companionsOf(selected, wanted, limit) : [];
    const known = new Map(ranked.map((candidate) => [candidate.tool.id, candidate]));
    for (const hit of await judgeStrangers(companions, known, request, vectors, wanted))
      known.set(hit.tool.id, score(hit));
    const chosen: readonly Verdict[] = [
      ...selected.map((candidate) => ({ candidate, reason: "chosen" as const })),
      ...companions.map(({ tool, of }) => ({
        candidate: known.get(tool.id) ?? score({ tool, semanticScore: 0, matchedTerms: () => [] }),
        reason: "dependency" as const,
        because: of,
      })),
    ];

    // An engine may ignore the signal, but a cancelled retrieval must not succeed.
    signal?.throwIfAborted();
    const tools = chosen.map(({ candidate }) => marked(toScoredTool(candidate, query, companions), query));
    parts.learning?.noteRetrieval(inConversation(request), {
      principal: query.principal,
      traceId,
      toolIds: tools.map(({ tool }) => tool.id),
    });
    const endedAt = clock.now();
    const totalTimeMs = endedAt - startedAt;
    const steps: RetrievalSteps = {
      understandMs: searchedFrom - startedAt,
      searchMs: searchedAt - searchedFrom,
      ...answer.timings,
      fuseMs: rerankedFrom - searchedAt,
      ...(reranking !== undefined && { rerankMs: rerankTimeMs }),
      fitMs: endedAt - (reranking === undefined ? rerankedFrom : rerankedAt),
    };
    const outcome = { confidence, nothingFits, tier: fused.tier, candidateCount, filteredCount, steps };
    emit("retrieval-finished", {
      ...span,
      query: context.query,
      ...(query.toolset !== undefined && { toolset: query.toolset }),
      ...(query.principal !== undefined && { principal: query.principal.id }),
      ...(query.principal?.tenant !== undefined && { tenant: query.principal.tenant }),
      tools: tools.map((tool) => ({ toolId: tool.tool.id, score: tool.score })),
      tokens: tools.reduce((sum, { tool }) => sum + toolTokens(tool), 0),
      durationMs: totalTimeMs,
      ...outcome,
    });
    const result: RetrievalResult = {
      tools,
      ...outcome,
      ...(nothingFits && {
        nearest: ranked.slice(0, NEAREST).map((one) => marked(toScoredTool(one, query, []), query)),
      }),
      intent: intent.intent,
      queryEmbeddingTimeMs: vectors.embeddingTimeMs,
      searchTimeMs,
      ...(reranking !== undefined && { rerankTimeMs }),
      ...(reranking !== undefined && "error" in reranking && { rerankError: reranking.error }),
      totalTimeMs,
      traceId,
    };
    const explanation = (): Explanation => explain(ranked, chosen, { ...fit, conflicts, displaced }, settings.weights);
    parts.note?.(given, result, explanation);
    return query.explain ? { ...result, explanation: explanation() } : result;
  }

  /** Adds the reason if the caller may not call the tool. */
  function marked(found: ScoredTool, query: CheckedQuery): ScoredTool {
    const refused = parts.refusal?.(found.tool, query.principal, query);
    return refused === undefined ? found : { ...found, refused };
  }

  function candidateQuery(query: CheckedQuery, pool: number): CandidateQuery {
    const { principal, excludeUnhealthy, signal } = query;
    const asked = queryFilter(query);
    const callable = parts.callable?.(principal, query) ?? EVERY_TOOL;
    return {
      filter: callable === EVERY_TOOL ? asked : { all: [asked, callable] },
      visible: parts.visible?.(principal, query),
      accept: (tool) => !(excludeUnhealthy && health.of(tool.id).circuitOpen) && parts.sees(tool, principal, query),
      limit: Math.max(SMALLEST_SEARCH, 2 * pool),
      signal,
    };
  }

  async function scorerOf(
    { context, principal, signal }: CheckedQuery,
    request: Request,
    { shares }: ResolvedIntent,
    visible: ToolFilter | undefined,
  ): Promise<Scorer> {
    const used = await usedTools(context, engine, visible ?? EVERY_TOOL, signal);
    const learned = parts.learning?.priors(inConversation(request), principal);
    return createScorer(
      {
        tags: createTagMatcher(context.query, shares),
        conversation: readConversation(context, used),
        penalties: settings.penalties,
        health,
        ...(learned === undefined ? {} : { learned }),
      },
      settings.weights,
    );
  }

  /** Excludes tools below the threshold, because reranking cannot restore them. */
  async function askReranker(text: string, ranked: readonly Candidate[], query: CheckedQuery): Promise<Reranking> {
    if (parts.reranker === undefined) {
      return {
        error: "The query asks for reranking, but no reranker is configured: set one, or leave enableReranking out.",
      };
    }
    const fitting = ranked.filter((candidate) => candidate.semanticScore >= query.scoreThreshold);
    const best = fitting.slice(0, settings.rerankTopK);
    if (best.length === 0) return { scores: new Map(), lowest: 1 };
    const options = { clock, timeoutMs: settings.rerankTimeoutMs, signal: query.signal };
    return rerank(parts.reranker, text, best, options);
  }

  /** Judges whether the candidates serve the request, and drops those below the threshold. */
  function fitOf(
    ranked: readonly Candidate[],
    found: FusedEvidence & { readonly candidateCount: number },
    request: Request,
    query: CheckedQuery,
    given: ToolQuery,
  ) {
    const { scoreThreshold, refuse } = query;
    // A follow-up has too little text to be judged on its own, and no single tool serves a long task.
    const isJudged = request.folded === undefined && (request.steps?.clauses.length ?? 0) < CLAUSES_OF_A_TASK;
    const { confidence, isLow } = judgeFit(request.text, found, refuse);
    const refused = isLow && isJudged && refuse !== "never" && scoreThreshold > 0;
    // The default threshold never drops all tools; a configured one can.
    const isConfigured = settings.scoreThreshold !== DEFAULT_SETTINGS.scoreThreshold;
    const mayEmpty = given.scoreThreshold !== undefined || (isConfigured && refuse !== "never");
    const isAnyAbove = ranked.some((candidate) => candidate.semanticScore >= scoreThreshold);
    const applied = isAnyAbove || mayEmpty ? scoreThreshold : 0;
    const fitting = refused
      ? []
      : ranked.filter(({ semanticScore }, place) => semanticScore >= applied || (!mayEmpty && place < ALWAYS_KEPT));
    const nothingFits = (isLow && isJudged) || fitting.length === 0;
    return { fitting, confidence, nothingFits, refused, scoreThreshold: applied };
  }

  /** A caller who requests diversity gets plain MMR. Ordinary retrieval only displaces near-copies. */
  function diversityOf({ diversityFactor }: CheckedQuery, { similarity }: EngineAnswer): MmrOptions {
    if (diversityFactor !== undefined) return { lambda: 1 - diversityFactor, similarity };
    return {
      lambda: settings.enableMmr ? settings.mmrLambda : 1,
      similarity: (a, b) => nearDuplication(similarity(a, b)),
    };
  }

  async function companionsOf(
    selected: readonly Candidate[],
    { filter, accept, signal }: CandidateQuery,
    limit: number,
  ): Promise<readonly Companion[]> {
    const owners = selected.map(({ tool }) => tool);
    const options = signal === undefined ? {} : { signal };
    const loaded = await loadDependencies(owners, (ids) => engine.get(ids, options));
    const passes = toPredicate(filter);
    return findCompanions(owners, {
      limit,
      get: (id) => loaded.get(id),
      accept: (tool) => passes(tool) && accept(tool),
    });
  }

  /** Scores companions that the search did not return. */
  async function judgeStrangers(
    companions: readonly Companion[],
    known: ReadonlyMap<string, Candidate>,
    request: Request,
    vectors: RequestVectors,
    wanted: CandidateQuery,
  ): Promise<FusedEvidence["hits"]> {
    const ids = companions.map(({ tool }) => tool.id).filter((id) => !known.has(id));
    if (ids.length === 0) return [];
    const { answer } = await findCandidates(engine, request, vectors, { ...wanted, filter: { ids } });
    return fuseEvidence(request, answer, vectors).hits;
  }

  return { retrieve };
}

type RetrievalSpan = Omit<EventMap["retrieval-failed"], "toolset" | "durationMs" | "code" | "message">;

/** Reads a query's trace before validation, so that an invalid query has a span too. */
function beginSpan(given: ToolQuery, startedAt: number): RetrievalSpan {
  const { traceId, parentSpanId, sampled, tracestate }: { readonly [Key in keyof ToolQuery]?: unknown } = given ?? {};
  const state = readTracestate(tracestate);
  const made = randomBytes(24).toString("hex");
  return {
    traceId: typeof traceId === "string" && traceId !== "" ? traceId : made.slice(0, 32),
    spanId: made.slice(32),
    ...(typeof parentSpanId === "string" && { parentSpanId }),
    ...(sampled === false && { sampled }),
    ...(state !== undefined && { tracestate: state }),
    startedAt,
  };
}

function cancelled(signal: AbortSignal): ArsenalError {
  const message = "The retrieval was cancelled by its caller before it finished.";
  return new ArsenalError("CANCELLED", message, { cause: signal.reason });
}

function inConversation({ text, folded }: Request): string {
  return folded?.text ?? text;
}

/** Ensures that the result contains a tool for each clear wish of a request. */
function coverWishes(selected: readonly Candidate[], all: readonly Candidate[], limit: number): readonly Candidate[] {
  const taken = new Set(selected);
  const others = all.filter((candidate) => !taken.has(candidate)).slice(0, CONSIDERED_FOR_WISHES);
  return coverClauses([...selected, ...others], limit).slice(0, limit);
}

function toScoredTool(candidate: Candidate, query: CheckedQuery, companions: readonly Companion[]): ScoredTool {
  const { tool, score, semanticScore, rerankScore, signals } = candidate;
  const asked = query.context.requireConfirmationFor ?? [];
  const required = companions.find((companion) => companion.type === "requires" && companion.tool.id === tool.id);
  return {
    tool,
    score,
    semanticScore,
    ...(rerankScore === undefined ? {} : { rerankScore }),
    signals,
    requiresConfirmation:
      tool.requiresConfirmation || tool.capabilities.some((capability) => asked.includes(capability)),
    ...(required === undefined ? {} : { requiredBy: required.of }),
  };
}
