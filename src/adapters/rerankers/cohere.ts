import type { Reranker } from "../../retrieve/reranker.port.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { endpoint, type ModelApiSurroundings } from "../model-api.ts";
import { checkOf, createRemoteReranker, readRanks, type RemoteRerankerSettings } from "./remote-reranker.ts";

/** Reranks with Cohere's API. */
export function cohereReranker(settings: RemoteRerankerSettings = {}, surroundings?: ModelApiSurroundings): Reranker {
  const { model = "rerank-v3.5", apiKey = "env:COHERE_API_KEY", apiBase = "https://api.cohere.com" } = settings;
  const title = "Cohere";
  return createRemoteReranker(settings, surroundings, {
    title,
    model: `cohere/${model}`,
    url: endpoint(apiBase, "/v2/rerank"),
    apiKey,
    maxTexts: 1000,
    toBody: (query, texts) => ({ model, query, documents: texts }),
    toScores: (answer, count) =>
      readRanks(title, isPlainObject(answer) ? answer["results"] : undefined, "relevance_score", count),
  });
}

export { cohereReranker as create };

export const check = checkOf(cohereReranker);
