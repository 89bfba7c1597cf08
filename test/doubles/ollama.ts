import { createHashingEmbedder } from "../../src/testing/hashing-embedder.ts";
import { type DoubleAnswer, type HttpDouble, startDouble, strictly } from "./http-double.ts";

/* Ollama's `/api/embed`, after the types of the official SDK. Unknown members are refused, which is stricter than the server. */

const wrongEmbed = strictly(
  {
    model: { type: "string", minLength: 1 },
    input: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    truncate: { type: "boolean" },
    dimensions: { type: "integer" },
    keep_alive: { type: ["string", "number"] },
    options: { type: "object" },
  },
  ["model", "input"],
);

export interface OllamaDoubleOptions {
  /** The models it has. */
  readonly models?: readonly string[];
  /** Default 768. */
  readonly dimension?: number;
}

export function ollamaDouble({
  models = ["nomic-embed-text"],
  dimension = 768,
}: OllamaDoubleOptions = {}): Promise<HttpDouble> {
  return startDouble(async ({ method, path, body }): Promise<DoubleAnswer> => {
    if (method !== "POST" || path !== "/api/embed") return { status: 404, body: "404 page not found" };
    const wrong = wrongEmbed(body);
    if (wrong !== undefined) return { status: 400, body: { error: wrong } };
    const { model, input, dimensions } = body as EmbedBody;
    if (!models.includes(model))
      return { status: 404, body: { error: `model "${model}" not found, try pulling it first` } };
    const embedder = createHashingEmbedder({ dimension: dimensions ?? dimension });
    const vectors = await embedder.embed([input].flat(), { kind: "tool" });
    // Not of unit length.
    const embeddings = vectors.map((vector) => [...vector].map((value) => value * 3));
    return { status: 200, body: { model, embeddings, total_duration: 1, load_duration: 1, prompt_eval_count: 1 } };
  });
}

interface EmbedBody {
  readonly model: string;
  readonly input: string | readonly string[];
  readonly dimensions?: number;
}
