import { createHashingEmbedder } from "../../src/testing/hashing-embedder.ts";
import { type DoubleAnswer, type HttpDouble, startDouble, strictly } from "./http-double.ts";
import { relevance } from "./relevance.ts";

/* Cohere's `/v2/embed` and `/v2/rerank`, after the serialization schemas of the official SDK. Unknown members are refused. */

export const COHERE_KEY = "co-double-0123456789abcdef";

const wrongEmbed = strictly(
  {
    model: { type: "string", minLength: 1 },
    texts: { type: "array", minItems: 1, maxItems: 96, items: { type: "string", minLength: 1 } },
    input_type: { enum: ["search_document", "search_query", "classification", "clustering", "image"] },
    embedding_types: { type: "array", items: { enum: ["float", "int8", "uint8", "binary", "ubinary", "base64"] } },
    truncate: { enum: ["NONE", "START", "END"] },
    output_dimension: { enum: [256, 512, 1024, 1536] },
    max_tokens: { type: "integer" },
  },
  ["model", "input_type"],
);

const wrongRerank = strictly(
  {
    model: { type: "string", minLength: 1 },
    query: { type: "string", minLength: 1 },
    documents: { type: "array", minItems: 1, maxItems: 1000, items: { type: "string" } },
    top_n: { type: "integer", minimum: 1 },
    max_tokens_per_doc: { type: "integer", minimum: 1 },
  },
  ["model", "query", "documents"],
);

export function cohereDouble({ dimension = 1536 }: { readonly dimension?: number } = {}): Promise<HttpDouble> {
  return startDouble(async ({ method, path, headers, body }): Promise<DoubleAnswer> => {
    if (headers.authorization !== `Bearer ${COHERE_KEY}`)
      return { status: 401, body: { id: "1", message: `invalid api token: ${headers.authorization ?? ""}` } };
    if (method === "POST" && path === "/v2/embed") {
      const wrong = wrongEmbed(body);
      if (wrong !== undefined) return { status: 400, body: { id: "1", message: `invalid request: ${wrong}` } };
      const { texts, input_type, output_dimension } = body as EmbedBody;
      // Which kind of text it is changes the vector a little, as it does for real.
      const embedder = createHashingEmbedder({ dimension: output_dimension ?? dimension });
      const vectors = await embedder.embed(
        texts.map((text) => `${text} ${input_type}`),
        { kind: "tool" },
      );
      const float = vectors.map((vector) => [...vector]);
      return { status: 200, body: { id: "1", embeddings: { float }, texts, response_type: "embeddings_by_type" } };
    }
    if (method === "POST" && path === "/v2/rerank") {
      const wrong = wrongRerank(body);
      if (wrong !== undefined) return { status: 400, body: { id: "1", message: `invalid request: ${wrong}` } };
      const { query, documents, top_n = documents.length } = body as RerankBody;
      const results = documents
        .map((document, index) => ({ index, relevance_score: relevance(query, document) }))
        .sort((one, other) => other.relevance_score - one.relevance_score)
        .slice(0, top_n);
      return { status: 200, body: { id: "1", results, meta: { api_version: { version: "2" } } } };
    }
    return { status: 404, body: { id: "1", message: "not found" } };
  });
}

interface EmbedBody {
  readonly texts: readonly string[];
  readonly input_type: string;
  readonly output_dimension?: number;
}

interface RerankBody {
  readonly query: string;
  readonly documents: readonly string[];
  readonly top_n?: number;
}
