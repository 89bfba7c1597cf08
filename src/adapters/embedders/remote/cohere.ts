import type { Embedder } from "../../../catalog/embedder.port.ts";
import { endpoint, type ModelApiSurroundings } from "../../model-api.ts";
import { object } from "../../../tool/shape/shape.ts";
import { checkOf, createRemoteEmbedder, REMOTE_SETTINGS, type RemoteEmbedderSettings } from "./remote-embedder.ts";

const DIMENSIONS: Readonly<Record<string, number>> = {
  "embed-v4.0": 1536,
  "embed-english-v3.0": 1024,
  "embed-multilingual-v3.0": 1024,
  "embed-english-light-v3.0": 384,
  "embed-multilingual-light-v3.0": 384,
};

/** Embeds with Cohere's API. */
export function cohereEmbedder(settings: RemoteEmbedderSettings = {}, surroundings?: ModelApiSurroundings): Embedder {
  const { model = "embed-v4.0", apiKey = "env:COHERE_API_KEY", apiBase = "https://api.cohere.com" } = settings;
  return createRemoteEmbedder(settings, surroundings, {
    title: "Cohere",
    name: "cohere",
    model,
    dimensions: DIMENSIONS,
    url: endpoint(apiBase, "/v2/embed"),
    apiKey,
    maxTexts: 96,
    maxBytes: 1_000_000,
    toBody: (texts, { kind, shorter }) => ({
      model,
      texts,
      input_type: kind === "query" ? "search_query" : "search_document",
      embedding_types: ["float"],
      truncate: "END",
      ...(shorter && { output_dimension: shorter }),
    }),
    toVectors: (answer) => (answer as { readonly embeddings?: { readonly float?: unknown } } | null)?.embeddings?.float,
  });
}

export const config = object("Cohere's API.", REMOTE_SETTINGS);

export { cohereEmbedder as create };

export const check = checkOf(cohereEmbedder);
