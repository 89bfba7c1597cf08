import type { Embedder } from "../../../catalog/embedder.port.ts";
import { endpoint, type ModelApiSurroundings } from "../../model-api.ts";
import { object } from "../../settings.ts";
import { PREFIX_SETTINGS, type PrefixSettings, prefixesOf } from "./prefixes.ts";
import {
  checkOf,
  createRemoteEmbedder,
  REMOTE_SETTINGS,
  type RemoteEmbedderSettings,
  type RemoteProvider,
} from "./remote-embedder.ts";

const DIMENSIONS: Readonly<Record<string, number>> = {
  "nomic-embed-text": 768,
  "mxbai-embed-large": 1024,
  "all-minilm": 384,
  "bge-m3": 1024,
  embeddinggemma: 768,
};

/** What the Ollama embedder takes. */
export type OllamaEmbedderSettings = RemoteEmbedderSettings & PrefixSettings;

/** The body of a request to `/api/embed`. @internal */
export interface OllamaEmbedBody {
  readonly model: string;
  readonly input: string[];
  readonly truncate: true;
  readonly dimensions?: number;
}

/** Embeds with a server of Ollama. */
export function ollamaEmbedder(settings: OllamaEmbedderSettings = {}, surroundings?: ModelApiSurroundings): Embedder {
  const { model = "nomic-embed-text", apiKey, apiBase = "http://127.0.0.1:11434" } = settings;
  const provider: RemoteProvider = {
    title: "Ollama",
    name: "ollama",
    model,
    dimensions: DIMENSIONS,
    url: endpoint(apiBase, "/api/embed"),
    apiKey,
    maxTexts: 256,
    maxBytes: 1_000_000,
    prefixes: prefixesOf(model, settings),
    toBody: (input, { shorter }): OllamaEmbedBody => ({
      model,
      input,
      truncate: true,
      ...(shorter && { dimensions: shorter }),
    }),
    toVectors: (answer) => (answer as { readonly embeddings?: unknown } | null)?.embeddings,
  };
  return createRemoteEmbedder(provider, settings, surroundings);
}

export const config = object("A server of Ollama.", { ...REMOTE_SETTINGS, ...PREFIX_SETTINGS });

export { ollamaEmbedder as create };

export const check = checkOf(ollamaEmbedder);
