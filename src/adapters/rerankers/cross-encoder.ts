import type { Reranker } from "../../retrieve/reranker.port.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { endpoint, type ModelApiSurroundings } from "../model-api.ts";
import { neededSetting } from "../needed-setting.ts";
import { choice, object } from "../../tool/shape/shape.ts";
import {
  checkOf,
  createRemoteReranker,
  readRanks,
  type RemoteRerankerSettings,
  type RemoteReranking,
} from "./remote-reranker.ts";

/** The settings of the cross-encoder. */
export interface CrossEncoderSettings extends RemoteRerankerSettings {
  /**
   * The server's protocol: `tei` for Text Embeddings Inference, `jina` for Jina, vLLM and others. Defaults to `jina` if `apiBase` ends with `/v1`,
   * otherwise to `tei`.
   */
  readonly format?: "tei" | "jina";
}

/** Reranks with a cross-encoder behind any `/rerank` endpoint. */
export function crossEncoderReranker(settings: CrossEncoderSettings, surroundings?: ModelApiSurroundings): Reranker {
  const { apiBase, apiKey, model } = settings;
  if (apiBase === undefined) throw neededSetting("reranker.api_base", "cross_encoder", needs.apiBase);
  const { format = /\/v1\/*$/.test(apiBase) ? "jina" : "tei" } = settings;
  const title = `The reranker at ${URL.parse(apiBase)?.host ?? "reranker.api_base"}`;
  const connection = { title, url: endpoint(apiBase, "/rerank"), apiKey };
  return createRemoteReranker(settings, surroundings, {
    ...connection,
    ...(format === "tei" ? tei(title, model) : jina(title, model)),
  });
}

type Format = Pick<RemoteReranking, "model" | "maxTexts" | "toBody" | "toScores">;

function tei(title: string, model = "tei"): Format {
  return {
    model: `cross_encoder/${model}`,
    // The default limit of the server. The server scores each text independently, so scores of different requests are comparable.
    maxTexts: 32,
    toBody: (query, texts) => ({ query, texts, truncate: true, raw_scores: false }),
    toScores: (answer, count) => readRanks(title, answer, "score", count),
  };
}

function jina(title: string, model?: string): Format {
  const fix = "Set it to a model that the server has.";
  if (model === undefined) throw neededSetting("reranker.model", "cross_encoder at a /v1 address", fix);
  let isLogit = false;
  return {
    model: `cross_encoder/${model}`,
    maxTexts: 1000,
    toBody: (query, texts) => ({ model, query, documents: texts }),
    toScores(answer, count) {
      const scores = readRanks(title, isPlainObject(answer) ? answer["results"] : undefined, "relevance_score", count);
      // Some servers return the model's raw output, which is unbounded.
      isLogit ||= scores.some((score) => score < 0 || score > 1);
      return isLogit ? scores.map((score) => 1 / (1 + Math.exp(-score))) : scores;
    },
  };
}

export const config = object("A cross-encoder on a server with a /rerank endpoint.", {
  format: choice(
    "For cross_encoder: the server's protocol. Defaults to jina if api_base ends with /v1, otherwise to tei.",
    ["tei", "jina"],
  ),
});

export const needs = { apiBase: "Set it to the address before /rerank: http://HOST:8080." };

export { crossEncoderReranker as create };

export const check = checkOf(crossEncoderReranker);
