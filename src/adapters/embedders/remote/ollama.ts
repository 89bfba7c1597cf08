import type { Embedder } from "../../../catalog/embedder.port.ts";
import { endpoint, type ModelApiSurroundings } from "../../model-api.ts";
import { object } from "../../../tool/shape/shape.ts";
import { PREFIX_SETTINGS, type PrefixSettings, prefixesOf } from "./prefixes.ts";
import { checkOf, createRemoteEmbedder, REMOTE_SETTINGS, type RemoteEmbedderSettings } from "./remote-embedder.ts";

const DIMENSIONS: Readonly<Record<string, number>> = {
  "nomic-embed-text": 768,
  "mxbai-embed-large": 1024,
  "all-minilm": 384,
  "bge-m3": 1024,
  embeddinggemma: 768,
};

/** The settings of the Ollama embedder. */
export type OllamaEmbedderSettings = RemoteEmbedderSettings & PrefixSettings;

/** The body of a request to `/api/embed`. @internal */
export const embedBody = (model: string, input: string[], dimensions: number | undefined) => ({
  model,
  input,
  truncate: true,
  ...(dimensions && { dimensions }),
});

/** Embeds with an Ollama server. */
export function ollamaEmbedder(settings: OllamaEmbedderSettings = {}, surroundings?: ModelApiSurroundings): Embedder {
  const { model = "nomic-embed-text", apiKey, apiBase = "http://127.0.0.1:11434" } = settings;
  return createRemoteEmbedder(settings, surroundings, {
    title: "Ollama",
    name: "ollama",
    model,
    dimensions: DIMENSIONS,
    url: endpoint(apiBase, "/api/embed"),
    apiKey,
    maxTexts: 256,
    maxBytes: 1_000_000,
    prefixes: prefixesOf(model, settings),
    toBody: (input, { shorter }) => embedBody(model, input, shorter),
    toVectors: (answer) => (answer as { readonly embeddings?: unknown } | null)?.embeddings,
  });
}

export const config = object("An Ollama server.", { ...REMOTE_SETTINGS, ...PREFIX_SETTINGS });

export { ollamaEmbedder as create };

export const check = checkOf(ollamaEmbedder);
