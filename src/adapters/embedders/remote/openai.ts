import type { Embedder } from "../../../catalog/embedder.port.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { endpoint, type ModelApiSurroundings } from "../../model-api.ts";
import { object } from "../../../tool/shape/shape.ts";
import {
  checkOf,
  createRemoteEmbedder,
  REMOTE_SETTINGS,
  type RemoteEmbedderSettings,
  type RemoteProvider,
} from "./remote-embedder.ts";

const OPENAI = "https://api.openai.com/v1";

/** Dimensions of OpenAI's own models. @internal */
export const OPENAI_DIMENSIONS: Readonly<Record<string, number>> = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "text-embedding-ada-002": 1536,
};

/** The body of a request to `/embeddings`. @internal */
export const embeddingBody = (model: string, input: string[], dimensions: number | undefined) => ({
  model,
  input,
  encoding_format: "float" as const,
  ...(dimensions && { dimensions }),
});

/**
 * Common settings of OpenAI, Azure and compatible servers. The API accepts 2,048 texts and 300,000 tokens, and a token has at least one byte.
 * @internal
 */
export function openAiProvider(
  model: string,
): Pick<RemoteProvider, "model" | "maxTexts" | "maxBytes" | "toBody" | "toVectors"> {
  return {
    model,
    maxTexts: 2048,
    maxBytes: 300_000,
    toBody: (input, { shorter }) => embeddingBody(model, input, shorter),
    toVectors: openAiVectors,
  };
}

/** Returns the vectors of an `/embeddings` response, in the order of the texts. */
function openAiVectors(answer: unknown): readonly unknown[] | undefined {
  const data = isPlainObject(answer) ? answer["data"] : undefined;
  if (!Array.isArray(data)) return undefined;
  const vectors: unknown[] = [];
  for (const [at, entry] of data.entries()) {
    if (!isPlainObject(entry)) return undefined;
    const { index = at, embedding } = entry;
    if (typeof index !== "number" || !(index in data) || index in vectors) return undefined;
    vectors[index] = embedding;
  }
  return vectors;
}

/** Embeds with OpenAI's API. */
export function openaiEmbedder(settings: RemoteEmbedderSettings = {}, surroundings?: ModelApiSurroundings): Embedder {
  const { model = "text-embedding-3-small", apiKey = "env:OPENAI_API_KEY", apiBase = OPENAI } = settings;
  return createRemoteEmbedder(settings, surroundings, {
    ...openAiProvider(model),
    dimensions: OPENAI_DIMENSIONS,
    title: "OpenAI",
    name: "openai",
    url: endpoint(apiBase, "/embeddings"),
    apiKey,
  });
}

export const config = object("OpenAI's API.", REMOTE_SETTINGS);

export { openaiEmbedder as create };

export const check = checkOf(openaiEmbedder);
