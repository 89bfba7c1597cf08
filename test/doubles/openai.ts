import { createHashingEmbedder } from "../../src/testing/hashing-embedder.ts";
import { type DoubleAnswer, type HttpDouble, type SeenRequest, startDouble, strictly } from "./http-double.ts";

/*
 * OpenAI's `/v1/embeddings` and `/v1/chat/completions`, and the same below a deployment of Azure OpenAI, after the types of the official SDK and the
 * limits that they document. Unknown members, empty texts and texts that are too long are refused, as the API does.
 */

export const OPENAI_KEY = "sk-double-0123456789abcdef";

const AZURE =
  /^\/openai\/deployments\/(?<deployment>[^/]+)(?<rest>\/[^?]+)\?api-version=\d{4}-\d{2}-\d{2}(?:-preview)?$/;

const wrongEmbeddings = strictly(
  {
    model: { type: "string", minLength: 1 },
    input: {
      anyOf: [
        { type: "string", minLength: 1 },
        { type: "array", minItems: 1, maxItems: 2048, items: { type: "string", minLength: 1 } },
      ],
    },
    encoding_format: { enum: ["float", "base64"] },
    dimensions: { type: "integer", minimum: 1 },
    user: { type: "string" },
  },
  ["model", "input"],
);

const wrongChat = strictly(
  {
    model: { type: "string", minLength: 1 },
    messages: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["role", "content"],
        additionalProperties: false,
        properties: { role: { enum: ["system", "developer", "user", "assistant"] }, content: { type: "string" } },
      },
    },
    temperature: { type: "number", minimum: 0, maximum: 2 },
    response_format: {
      type: "object",
      required: ["type", "json_schema"],
      additionalProperties: false,
      properties: {
        type: { const: "json_schema" },
        json_schema: {
          type: "object",
          required: ["name", "schema"],
          additionalProperties: false,
          properties: {
            name: { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" },
            description: { type: "string" },
            strict: { type: "boolean" },
            schema: { type: "object" },
          },
        },
      },
    },
  },
  ["model", "messages"],
);

export interface OpenAiDoubleOptions {
  /** Length of the vectors unless the request names one. Default 1536. */
  readonly dimension?: number;
  /** Tokens that one text may have. A byte counts as one, the worst case. Default 8192. */
  readonly maxTokens?: number;
  /** Writes the message of a chat completion. */
  readonly complete?: (request: SeenRequest) => string;
}

export function openAiDouble({
  dimension = 1536,
  maxTokens = 8192,
  complete,
}: OpenAiDoubleOptions = {}): Promise<HttpDouble> {
  async function embeddings(body: EmbeddingBody): Promise<DoubleAnswer> {
    const texts = [body.input].flat();
    if (texts.some((text) => Buffer.byteLength(text) > maxTokens))
      return invalid(
        `This model's maximum context length is ${maxTokens} tokens. Please reduce the length of the messages.`,
      );
    const vectors = await createHashingEmbedder({ dimension: body.dimensions ?? dimension }).embed(texts, {
      kind: "tool",
    });
    const data = vectors.map((vector, index) => ({ object: "embedding", index, embedding: encode(vector, body) }));
    const usage = { prompt_tokens: texts.length, total_tokens: texts.length };
    // The answer names each place, and nothing promises their order.
    return { status: 200, body: { object: "list", data: data.toReversed(), model: body.model, usage } };
  }

  function chat(request: SeenRequest): DoubleAnswer {
    const { model } = request.body as { readonly model: string };
    const message = { role: "assistant", content: complete?.(request) ?? "", refusal: null };
    const choices = [{ index: 0, message, finish_reason: "stop", logprobs: null }];
    return { status: 200, body: { id: "chatcmpl-1", object: "chat.completion", created: 1, model, choices } };
  }

  return startDouble((request) => {
    const { method, path, headers, body } = request;
    const azure = AZURE.exec(path)?.groups;
    const key = azure ? headers["api-key"] : headers.authorization?.replace(/^Bearer /, "");
    if (key !== OPENAI_KEY) return unauthorized(String(key));
    const place = azure ? `/v1${azure["rest"] ?? ""}` : path;
    if (method !== "POST")
      return { status: 405, body: { error: { message: "Not allowed to " + method, type: "invalid_request_error" } } };
    if (place === "/v1/embeddings") {
      const wrong = wrongEmbeddings(body);
      return wrong === undefined ? embeddings(body as EmbeddingBody) : invalid(wrong);
    }
    if (place === "/v1/chat/completions") {
      const wrong = wrongChat(body);
      return wrong === undefined ? chat(request) : invalid(wrong);
    }
    return {
      status: 404,
      body: {
        error: { message: `Invalid URL (${method} ${path})`, type: "invalid_request_error", param: null, code: null },
      },
    };
  });
}

interface EmbeddingBody {
  readonly model: string;
  readonly input: string | readonly string[];
  readonly encoding_format?: "float" | "base64";
  readonly dimensions?: number;
}

function encode(vector: Float32Array, { encoding_format }: EmbeddingBody): readonly number[] | string {
  return encoding_format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector];
}

function invalid(message: string): DoubleAnswer {
  return { status: 400, body: { error: { message, type: "invalid_request_error", param: null, code: null } } };
}

/** It repeats the key, as a careless server might. */
function unauthorized(key: string): DoubleAnswer {
  const message = `Incorrect API key provided: ${key}. You can find your API key at https://platform.openai.com.`;
  return {
    status: 401,
    body: { error: { message, type: "invalid_request_error", param: null, code: "invalid_api_key" } },
  };
}
