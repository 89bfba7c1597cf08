import { randomBytes } from "node:crypto";
import type { Catalog, SearchResult } from "../catalog/catalog.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { HealthBook } from "../observe/health.ts";
import type { Tool } from "../tool/tool.ts";
import { throwIfCancelled, untilCancelled } from "./cancellation.ts";
import { byScore, type Candidate } from "./rank/candidate.ts";
import { stepsOf } from "./understand/clauses.ts";
import { conversationQuery } from "./understand/conversation-query.ts";
import { readConversation } from "./understand/conversation-view.ts";
import { coverClauses } from "./rank/cover-clauses.ts";
import { dropConflicts, findCompanions, type Companion } from "./rank/dependencies.ts";
import { explain, leftOut, type Verdict } from "./explain.ts";
import { createFilter } from "./filters.ts";
import type { IntentClassifier } from "./understand/intent.ts";
import type { Learning } from "./learn/learning.ts";
import { nearDuplication, selectDiverse, type MmrOptions } from "./rank/mmr.ts";
import type { ToolQuery } from "./query.ts";
import { applyReranking, rerank, type Reranking } from "./rank/rerank.ts";
import type { Reranker } from "./reranker.port.ts";
import { judgeFit } from "./fit/judge-fit.ts";
import { resolveIntent } from "./understand/resolve-intent.ts";
import type { RetrievalResult, ScoredTool } from "./result.ts";
import { createScorer } from "./rank/scorer.ts";
import { DEFAULT_SETTINGS, type RetrieverSettings } from "./settings.ts";
import { createTagMatcher } from "./rank/tag-matcher.ts";
import { validateQuery, type CheckedQuery } from "./understand/validate-query.ts";

/** Finds the few tools that matter for a request. */
export interface Retriever {
  /** Rejects with `QUERY_INVALID` for a malformed query and `CANCELLED` when its signal fires. */
  retrieve(query: ToolQuery): Promise<RetrievalResult>;
}

/** What a retriever works with. */
export interface RetrieverParts {
  readonly catalog: Catalog;
  readonly health: Pick<HealthBook, "of">;
  /** Whether a principal may know of a tool: the Aegis's answer. Says too who asks where a query names nobody. */
  readonly sees: (tool: Tool, principal: Principal | undefined) => boolean;
  readonly reranker?: Reranker;
  readonly classifyIntent?: IntentClassifier;
  /** What the arsenal learns from use. Absent where it learns nothing; the ranking is then the routing formula's alone. */
  readonly learning?: Pick<Learning, "priors" | "noteRetrieval"> | undefined;
  readonly settings: RetrieverSettings;
  readonly emit: Emit;
  readonly clock: Clock;
}

/** Room for the signals to lift a tool that the words alone rank too low. */
const SMALLEST_POOL = 50;
const POOL_PER_TOOL = 4;
/** From here up a request is a task of several steps, and no single tool is expected to serve it. */
const CLAUSES_OF_A_TASK = 4;
/** Below this rank no wish looks for its tool. */
const CONSIDERED_FOR_WISHES = 30;
/** Tools named where nothing fits. */
const NEAREST = 3;
/** The default threshold leaves this many: what it would cut so near the top is often the right tool. */
const ALWAYS_KEPT = 3;

/** Wires the ranking: search, signals, score, rerank, threshold, conflicts, diversity, limit, dependencies. */
export function createRetriever(parts: RetrieverParts): Retriever {
  const { catalog, health, settings, emit, clock } = parts;
  /** The default threshold leaves out weak tools but never all of them; one that somebody chose does. */
  const isConfigured = settings.scoreThreshold !== DEFAULT_SETTINGS.scoreThreshold;

  async function retrieve(given: ToolQuery): Promise<RetrievalResult> {
    const startedAt = clock.now();
    const query = validateQuery(given, settings);
    const { context, limit, scoreThreshold, signal } = query;
    throwIfCancelled(signal);

    const accept = createFilter(query, parts);
    const { text, folded } = conversationQuery(context);
    const steps = stepsOf(text);
    const inConversation = folded?.text ?? text;
    const search = (count: number, accepted: (tool: Tool) => boolean): Promise<SearchResult> =>
      catalog.search(text, {
        limit: count,
        accept: accepted,
        ...(folded === undefined ? {} : { folded }),
        ...(steps === undefined ? {} : { steps }),
        ...(signal === undefined ? {} : { signal }),
      });

    const [{ intent, shares }, found] = await untilCancelled(
      Promise.all([
        resolveIntent(context, settings, parts.classifyIntent, signal),
        search(Math.max(SMALLEST_POOL, POOL_PER_TOOL * limit), accept),
      ]),
      signal,
    );

    const conversation = readConversation(context, catalog);
    const tags = createTagMatcher(context.query, shares);
    const learned = parts.learning?.priors(inConversation, query.principal);
    const score = createScorer(
      { tags, conversation, penalties: settings.penalties, health, ...(learned === undefined ? {} : { learned }) },
      settings.weights,
    );
    const scored = found.hits.map((hit) => score(hit)).sort(byScore);

    const rerankedFrom = clock.now();
    const reranking = query.enableReranking ? await askReranker(inConversation, scored, query) : undefined;
    const rerankTimeMs = clock.now() - rerankedFrom;
    const ranked = applyReranking(scored, reranking, score);

    // A follow-up says too little by itself to be judged, and no single tool serves a long task.
    const isJudged = folded === undefined && (steps?.clauses.length ?? 0) < CLAUSES_OF_A_TASK;
    const { confidence, isLow } = judgeFit(text, found, query.refuse);
    const refused = isLow && isJudged && query.refuse !== "never" && scoreThreshold > 0;
    const mayEmpty = given.scoreThreshold !== undefined || (isConfigured && query.refuse !== "never");
    const isAnyAbove = ranked.some((candidate) => candidate.semanticScore >= scoreThreshold);
    const applied = isAnyAbove || mayEmpty ? scoreThreshold : 0;
    const fitting = refused
      ? []
      : ranked.filter(({ semanticScore }, place) => semanticScore >= applied || (!mayEmpty && place < ALWAYS_KEPT));
    const nothingFits = (isLow && isJudged) || fitting.length === 0;
    const { kept, conflicts } = dropConflicts(fitting);
    const { selected: diverse, displaced } = selectDiverse(kept, limit, diversityOf(query));
    const selected = steps === undefined ? diverse : coverWishes(diverse, kept, limit);

    const companions = query.includeDependencies
      ? findCompanions(
          selected.map((candidate) => candidate.tool),
          { limit, get: (id) => catalog.get(id), accept },
        )
      : [];
    const known = new Map(ranked.map((candidate) => [candidate.tool.id, candidate]));
    const strangers = new Set(companions.map(({ tool }) => tool.id).filter((id) => !known.has(id)));
    if (strangers.size > 0) {
      const { hits } = await untilCancelled(
        search(strangers.size, (tool) => strangers.has(tool.id)),
        signal,
      );
      for (const hit of hits) known.set(hit.tool.id, score(hit));
    }

    const chosen: readonly Verdict[] = [
      ...selected.map((candidate) => ({ candidate, reason: "chosen" as const })),
      ...companions.map(({ tool, of }) => ({
        candidate: known.get(tool.id) ?? score({ tool, semanticScore: 0, matchedTerms: () => [] }),
        reason: "dependency" as const,
        because: of,
      })),
    ];
    const tools = chosen.map(({ candidate }) => toScoredTool(candidate, query, companions));

    const traceId = query.traceId ?? randomBytes(16).toString("hex");
    if (parts.learning !== undefined) {
      const toolIds = tools.map(({ tool }) => tool.id);
      parts.learning.noteRetrieval(inConversation, { principal: query.principal, traceId, toolIds });
    }
    const totalTimeMs = clock.now() - startedAt;
    emit("retrieval-finished", {
      traceId,
      query: context.query,
      tools: tools.map((tool) => ({ toolId: tool.tool.id, score: tool.score })),
      candidateCount: found.candidateCount,
      filteredCount: found.filteredCount,
      durationMs: totalTimeMs,
    });
    return {
      tools,
      confidence,
      nothingFits,
      ...(nothingFits ? { nearest: ranked.slice(0, NEAREST).map((one) => toScoredTool(one, query, [])) } : {}),
      intent,
      tier: found.tier,
      candidateCount: found.candidateCount,
      filteredCount: found.filteredCount,
      queryEmbeddingTimeMs: found.embeddingTimeMs,
      searchTimeMs: found.searchTimeMs,
      ...(reranking === undefined ? {} : { rerankTimeMs }),
      ...(reranking !== undefined && "error" in reranking ? { rerankError: reranking.error } : {}),
      totalTimeMs,
      traceId,
      ...(query.explain
        ? {
            explanation: explain(
              chosen,
              leftOut(ranked, chosen, { scoreThreshold: applied, refused, conflicts, displaced }),
              settings.weights,
            ),
          }
        : {}),
    };
  }

  /** Tools under the threshold are not sent: no reranker's word can bring them back. */
  async function askReranker(text: string, ranked: readonly Candidate[], query: CheckedQuery): Promise<Reranking> {
    if (parts.reranker === undefined) {
      return {
        error: "The query asks for reranking, but no reranker is configured: set one, or leave enableReranking out.",
      };
    }
    const fitting = ranked.filter((candidate) => candidate.semanticScore >= query.scoreThreshold);
    const best = fitting.slice(0, settings.rerankTopK);
    return untilCancelled(rerank(parts.reranker, text, best, query.signal), query.signal);
  }

  /** A caller who asks for diversity gets plain MMR; ordinary retrieval only holds back near-copies. */
  function diversityOf(query: CheckedQuery): MmrOptions {
    if (query.diversityFactor !== undefined) {
      return { lambda: 1 - query.diversityFactor, similarity: (a, b) => catalog.similarity(a, b) };
    }
    return {
      lambda: settings.enableMmr ? settings.mmrLambda : 1,
      similarity: (a, b) => nearDuplication(catalog.similarity(a, b)),
    };
  }

  return { retrieve };
}

/** Sees to it that each clear wish of a request for several things has its tool among those shown. */
function coverWishes(selected: readonly Candidate[], all: readonly Candidate[], limit: number): readonly Candidate[] {
  const taken = new Set(selected);
  const others = all.filter((candidate) => !taken.has(candidate)).slice(0, CONSIDERED_FOR_WISHES);
  const rankable = [...selected, ...others].map((candidate) => {
    return { candidate, score: candidate.score, wishes: candidate.wishes ?? [] };
  });
  return coverClauses(rankable, limit)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
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
