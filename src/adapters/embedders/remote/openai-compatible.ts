import type { Embedder } from "../../../catalog/embedder.port.ts";
import { endpoint, type ModelApiSurroundings } from "../../model-api.ts";
import { neededSetting } from "../../needed-setting.ts";
import { object } from "../../../tool/shape/shape.ts";
import { openAiProvider } from "./openai.ts";
import { PREFIX_SETTINGS, type PrefixSettings, prefixesOf } from "./prefixes.ts";
import { checkOf, createRemoteEmbedder, REMOTE_SETTINGS, type RemoteEmbedderSettings } from "./remote-embedder.ts";

/** The settings of the embedder for OpenAI-compatible servers. */
export type OpenaiCompatibleEmbedderSettings = RemoteEmbedderSettings & PrefixSettings;

/** Embeds with any server that offers OpenAI's `POST /embeddings`: vLLM, LiteLLM, LM Studio, llama.cpp and others. */
export function openaiCompatibleEmbedder(
  settings: OpenaiCompatibleEmbedderSettings,
  surroundings?: ModelApiSurroundings,
): Embedder {
  const { model, apiKey, apiBase } = settings;
  if (apiBase === undefined) throw neededSetting("embedder.api_base", "openai_compatible", needs.apiBase);
  if (model === undefined) throw neededSetting("embedder.model", "openai_compatible", needs.model);
  return createRemoteEmbedder(settings, surroundings, {
    ...openAiProvider(model),
    dimensions: {},
    title: `The embedder at ${URL.parse(apiBase)?.host ?? "embedder.api_base"}`,
    name: "openai_compatible",
    url: endpoint(apiBase, "/embeddings"),
    apiKey,
    prefixes: prefixesOf(model, settings),
  });
}

export const needs = {
  apiBase: "Set it to the address before /embeddings: http://HOST:8000/v1.",
  model: "Set it to a model that the server has.",
};

export const config = object("Any server with OpenAI's embeddings API.", { ...REMOTE_SETTINGS, ...PREFIX_SETTINGS });

export { openaiCompatibleEmbedder as create };

export const check = checkOf(openaiCompatibleEmbedder);
