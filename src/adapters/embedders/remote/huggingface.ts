import type { Embedder } from "../../../catalog/embedder.port.ts";
import { endpoint, type ModelApiSurroundings } from "../../model-api.ts";
import { neededSetting } from "../../needed-setting.ts";
import { object } from "../../../tool/shape/shape.ts";
import { PREFIX_SETTINGS, type PrefixSettings, prefixesOf } from "./prefixes.ts";
import { checkOf, createRemoteEmbedder, REMOTE_SETTINGS, type RemoteEmbedderSettings } from "./remote-embedder.ts";

const ROUTER = "https://router.huggingface.co/hf-inference";

/** The settings of the Hugging Face embedder. */
export type HuggingfaceEmbedderSettings = RemoteEmbedderSettings & PrefixSettings;

/** Embeds with Hugging Face: the hosted inference API, or a Text Embeddings Inference server at `apiBase`. */
export function huggingfaceEmbedder(
  settings: HuggingfaceEmbedderSettings,
  surroundings?: ModelApiSurroundings,
): Embedder {
  const { model, apiBase, apiKey = apiBase === undefined ? "env:HF_TOKEN" : undefined } = settings;
  if (model === undefined) throw neededSetting("embedder.model", "huggingface", needs.model);
  const hosted = `/models/${model.split("/").map(encodeURIComponent).join("/")}/pipeline/feature-extraction`;
  return createRemoteEmbedder(settings, surroundings, {
    title: "Hugging Face",
    name: "huggingface",
    model,
    dimensions: DIMENSIONS,
    url: apiBase === undefined ? endpoint(ROUTER, hosted) : endpoint(apiBase, "/embed"),
    apiKey,
    // The default limit of Text Embeddings Inference.
    maxTexts: 32,
    maxBytes: 1_000_000,
    prefixes: prefixesOf(model, settings),
    // The format of `/embed` in Text Embeddings Inference. The hosted API accepts it too.
    toBody: (inputs) => ({ inputs, normalize: true, truncate: true }),
    toVectors: (answer) => answer,
  });
}

const DIMENSIONS: Readonly<Record<string, number>> = {
  "BAAI/bge-small-en-v1.5": 384,
  "BAAI/bge-base-en-v1.5": 768,
  "BAAI/bge-large-en-v1.5": 1024,
  "BAAI/bge-m3": 1024,
  "intfloat/e5-small-v2": 384,
  "intfloat/multilingual-e5-small": 384,
  "intfloat/multilingual-e5-large": 1024,
  "sentence-transformers/all-MiniLM-L6-v2": 384,
  "sentence-transformers/all-mpnet-base-v2": 768,
};

export const needs = { model: "Set it to the model's id: BAAI/bge-small-en-v1.5." };

export const config = object("Hugging Face's inference API, or a Text Embeddings Inference server.", {
  ...REMOTE_SETTINGS,
  ...PREFIX_SETTINGS,
});

export { huggingfaceEmbedder as create };

export const check = checkOf(huggingfaceEmbedder);
