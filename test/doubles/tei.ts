import { createHashingEmbedder } from "../../src/testing/hashing-embedder.ts";
import { type DoubleAnswer, type HttpDouble, startDouble, strictly } from "./http-double.ts";
import { relevance } from "./relevance.ts";

/*
 * Text Embeddings Inference: `/embed` and `/rerank`, after its published OpenAPI document (version 1.7), and the hosted feature-extraction pipeline
 * of Hugging Face, which takes the same body. Unknown members are refused, which is stricter than the server.
 */

export const HF_KEY = "hf_double0123456789abcdef";

const wrongEmbed = strictly(
  {
    inputs: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" }, maxItems: 32 }] },
    normalize: { type: "boolean" },
    prompt_name: { type: ["string", "null"] },
    truncate: { type: ["boolean", "null"] },
    truncation_direction: { enum: ["Left", "Right"] },
  },
  ["inputs"],
);

const wrongRerank = strictly(
  {
    query: { type: "string" },
    texts: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 32 },
    raw_scores: { type: "boolean" },
    return_text: { type: "boolean" },
    truncate: { type: ["boolean", "null"] },
    truncation_direction: { enum: ["Left", "Right"] },
  },
  ["query", "texts"],
);

export interface TeiDoubleOptions {
  /** Default 384. */
  readonly dimension?: number;
  /** The key that is asked for. Default none. */
  readonly key?: string;
}

export function teiDouble({ dimension = 384, key }: TeiDoubleOptions = {}): Promise<HttpDouble> {
  const embedder = createHashingEmbedder({ dimension });
  return startDouble(async ({ method, path, headers, body }): Promise<DoubleAnswer> => {
    if (key !== undefined && headers.authorization !== `Bearer ${key}`)
      return {
        status: 401,
        body: { error: `Invalid credentials in Authorization header: ${headers.authorization ?? ""}` },
      };
    const hosted = /^\/hf-inference\/models\/[^/]+\/[^/]+\/pipeline\/feature-extraction$/.test(path);
    if (method === "POST" && (path === "/embed" || hosted)) {
      const wrong = wrongEmbed(body);
      if (wrong !== undefined) return { status: 422, body: { error: wrong, error_type: "Validation" } };
      const vectors = await embedder.embed([(body as { readonly inputs: string | string[] }).inputs].flat(), {
        kind: "tool",
      });
      return { status: 200, body: vectors.map((vector) => [...vector]) };
    }
    if (method === "POST" && path === "/rerank") {
      const wrong = wrongRerank(body);
      if (wrong !== undefined) return { status: 422, body: { error: wrong, error_type: "Validation" } };
      const { query, texts } = body as { readonly query: string; readonly texts: readonly string[] };
      const ranks = texts.map((text, index) => ({ index, score: relevance(query, text) }));
      return { status: 200, body: ranks.sort((one, other) => other.score - one.score) };
    }
    return { status: 404, body: "" };
  });
}
