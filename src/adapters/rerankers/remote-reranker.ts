import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Reranker } from "../../retrieve/reranker.port.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { isPlainObject, listParameters } from "../../tool/json-schema.ts";
import type { Tool } from "../../tool/tool.ts";
import { createModelApi, cutText, type ModelApi, type ModelApiSurroundings, type PostOptions } from "../model-api.ts";

/** The settings of every remote reranker. */
export interface RemoteRerankerSettings {
  readonly model?: string;
  /** A reference to the key (`env:NAME`, `file:PATH`), or the key itself. */
  readonly apiKey?: string;
  readonly apiBase?: string;
  /** The timeout of one attempt. Defaults to 5 seconds. */
  readonly timeoutMs?: number;
}

export interface RemoteReranking {
  /** The name in messages: `Cohere`. */
  readonly title: string;
  readonly model: string;
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly maxTexts: number;
  toBody(query: string, texts: readonly string[]): object;
  /** Returns one score in [0, 1] for each text, in order. Throws PROTOCOL_ERROR if the response is invalid. */
  toScores(answer: unknown, count: number): readonly number[];
}

/** A retrieval waits for the reranker, so there is time for only one retry. */
const RETRIES = 1;
const MAX_QUERY_BYTES = 4000;
const MAX_TEXT_BYTES = 4000;

/** Creates a reranker for a provider. Sends nothing before the first query. */
export function createRemoteReranker(
  { timeoutMs = 5000 }: RemoteRerankerSettings,
  surroundings: ModelApiSurroundings | undefined,
  provider: RemoteReranking,
): Reranker {
  const { title, model, url, apiKey, maxTexts } = provider;
  const connection = { provider: title, section: "reranker", url, apiKey, maxRetries: RETRIES, timeoutMs } as const;
  let api: ModelApi | undefined;

  async function score(query: string, texts: readonly string[], options: PostOptions): Promise<readonly number[]> {
    api ??= createModelApi(connection, surroundings);
    const maxBytes = 65_536 + 8 * texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const answer = await api.post(provider.toBody(query, texts), { ...options, maxBytes });
    return provider.toScores(answer, texts.length);
  }

  return {
    model,
    async rerank(query, tools, options = {}) {
      options.signal?.throwIfAborted();
      const texts = tools.map((tool) => cutText(describeTool(tool), MAX_TEXT_BYTES));
      const asked = cutText(query, MAX_QUERY_BYTES);
      const parts = Array.from({ length: Math.ceil(texts.length / maxTexts) }, (_, at) =>
        score(asked, texts.slice(at * maxTexts, (at + 1) * maxTexts), options),
      );
      return (await Promise.all(parts)).flat();
    },
  };
}

function describeTool({ namespace, name, title, description, parameters }: Tool): string {
  const whole = namespace === "default" ? name : `${namespace} ${name}`;
  const names = listParameters(parameters).map((parameter) => parameter.name);
  return [
    `${whole}: ${title === undefined ? "" : `${title}. `}${description}`,
    ...(names.length > 0 ? [`Parameters: ${names.join(", ")}`] : []),
  ].join("\n");
}

/** Reads a list of positions and scores in any order, with one entry for each text. */
export function readRanks(
  title: string,
  ranks: unknown,
  member: "score" | "relevance_score",
  count: number,
): readonly number[] {
  const scores: number[] = [];
  let read = 0;
  for (const rank of Array.isArray(ranks) ? ranks : []) {
    const { index, [member]: score } = isPlainObject(rank) ? rank : {};
    if (typeof index !== "number" || typeof score !== "number" || !Number.isFinite(score)) break;
    if (!Number.isInteger(index) || index < 0 || index >= count || index in scores) break;
    scores[index] = score;
    read++;
  }
  if (read === count) return scores;
  throw new ArsenalError("PROTOCOL_ERROR", `${title} did not return one score for each of ${count} texts.`);
}

/** Creates an adapter's `check`. It resolves with a status text, or rejects with the problem. */
export function checkOf<Settings>(create: (settings: Settings, surroundings?: ModelApiSurroundings) => Reranker) {
  return async (settings: Settings, surroundings?: ModelApiSurroundings): Promise<string> => {
    const reranker = create(settings, surroundings);
    const tool = defineTool({ name: "send_email", description: "Sends an email message." });
    await reranker.rerank("send an email", [tool]);
    return `${reranker.model} answers`;
  };
}
