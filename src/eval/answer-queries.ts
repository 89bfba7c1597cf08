import { setImmediate as nextTurn } from "node:timers/promises";
import type { Message, ToolQuery } from "../retrieve/query.ts";
import type { RetrievalResult } from "../retrieve/result.ts";
import { type AnsweredQuery, RANKED, type RankedTool } from "./answer.ts";
import { figuresOf } from "./metrics.ts";
import type { SetQuery } from "./read-set.ts";

export interface Answering {
  retrieve(query: ToolQuery): Promise<RetrievalResult>;
}

/** The progress and cancellation of an evaluation step. */
export interface Work {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number) => void;
}

/** The interval of turns for the event loop, in milliseconds: retrieval from memory alone would block Ctrl-C. */
const TURN_MS = 50;

/** Answers every query, in order. `tier` is the ranker that answered the last query. */
export async function answerQueries<Query extends SetQuery>(
  arsenal: Answering,
  queries: readonly Query[],
  { signal, onProgress, now = performance.now.bind(performance) }: Work & { readonly now?: () => number },
): Promise<{ readonly answers: readonly (AnsweredQuery & Query)[]; readonly tier: string }> {
  const answers: (AnsweredQuery & Query)[] = [];
  let tier = "";
  let turnedAt = now();
  for (const query of queries) {
    const started = now();
    if (started - turnedAt >= TURN_MS) {
      turnedAt = started;
      await nextTurn();
    }
    signal.throwIfAborted();
    const askedAt = now();
    const result = await arsenal.retrieve(toToolQuery(query, signal));
    const durationMs = now() - askedAt;
    const { scoreThreshold: _, limit: __, ...plain } = toToolQuery(query, signal);
    const { tools: given } = await arsenal.retrieve(plain);
    tier = result.tier;
    const relevant = new Set(query.relevant);
    const ranking = rankingOf(result, query);
    const ids = ranking.map(({ id }) => id);
    const figures = relevant.size > 0 ? figuresOf(ids, relevant) : undefined;
    answers.push({ ...query, figures, ranking, refused: given.length === 0, durationMs });
    onProgress(answers.length);
  }
  return { answers, tier };
}

/** Requests the complete ranking, without refusal. Whether a user would get no tools is checked separately. */
export function toToolQuery(query: SetQuery, signal: AbortSignal): ToolQuery {
  return {
    context: { query: query.query, recentMessages: query.history.slice(-10).map(toMessage) },
    scoreThreshold: 0,
    limit: RANKED,
    ...(query.namespaces === undefined ? {} : { namespaces: query.namespaces }),
    signal,
  };
}

function rankingOf(result: RetrievalResult, { relevant, alsoOk }: SetQuery): readonly RankedTool[] {
  const ignored = new Set(alsoOk.filter((id) => !relevant.includes(id)));
  return result.tools
    .map(({ tool, score, semanticScore }) => ({ id: String(tool.sourceMeta["setId"]), score, semanticScore }))
    .filter(({ id }) => !ignored.has(id));
}

function toMessage(turn: string): Message {
  const [, role = "user", content = turn] = /^(user|assistant|system|tool):\s*([\s\S]*)$/i.exec(turn) ?? [];
  return { role, content };
}
