import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Reranker } from "../../retrieve/reranker.port.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { isPlainObject, listParameters } from "../../tool/json-schema.ts";
import type { Tool } from "../../tool/tool.ts";
import { createModelApi, cutText, type ModelApi, type ModelApiSurroundings, type PostOptions } from "../model-api.ts";

/** What every remote reranker takes. */
export interface RemoteRerankerSettings {
  readonly model?: string;
  /** A reference to the key (`env:NAME`, `file:PATH`), or the key itself. */
  readonly apiKey?: string;
  readonly apiBase?: string;
  /** Time one attempt may take. Defaults to 5 seconds. */
  readonly timeoutMs?: number;
}

/** How one provider is asked. */
export interface RemoteReranking {
  /** For messages: `Cohere`. */
  readonly title: string;
  readonly model: string;
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** The most texts that the API takes in one request. */
  readonly maxTexts: number;
  toBody(query: string, texts: readonly string[]): object;
  /** One score for each text, in order, in [0, 1]. Throws PROTOCOL_ERROR if the answer is not that. */
  toScores(answer: unknown, count: number): readonly number[];
}

/** Somebody waits for a retrieval: one more attempt is all there is time for. */
const RETRIES = 1;
const MAX_QUERY_BYTES = 4000;
const MAX_TEXT_BYTES = 4000;

/** Makes a reranker of a provider. Nothing is sent before the first query. */
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

/** What a tool says of itself, in one text: names, title, description, parameters. */
function describeTool({ namespace, name, title, description, parameters }: Tool): string {
  const whole = namespace === "default" ? name : `${namespace} ${name}`;
  const names = listParameters(parameters).map((parameter) => parameter.name);
  return [
    `${whole}: ${title === undefined ? "" : `${title}. `}${description}`,
    ...(names.length > 0 ? [`Parameters: ${names.join(", ")}`] : []),
  ].join("\n");
}

/** Reads a list of places and scores, in whatever order: one for each text. */
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

/** Returns an adapter's `check`: it says that the reranker answers, or rejects with what is wrong. */
export function checkOf<Settings>(create: (settings: Settings, surroundings?: ModelApiSurroundings) => Reranker) {
  return async (settings: Settings, surroundings?: ModelApiSurroundings): Promise<string> => {
    const reranker = create(settings, surroundings);
    const tool = defineTool({ name: "send_email", description: "Sends an email message." });
    await reranker.rerank("send an email", [tool]);
    return `${reranker.model} answers`;
  };
}
