import { asRecord, asRecords } from "../../tool/json-schema.ts";
import type { AnsweredCall, ProviderSearch, SearchingDialect } from "../../transcode/dialect.port.ts";
import type { SchemaTarget } from "../../transcode/convert-schema.ts";
import { ALL_BELOW_ROOT, plainAnd } from "../../transcode/features.ts";
import { createPieceStream, toReadCall } from "./parts/read-call.ts";
import { definitions, type ObjectSchema, STRICT_FORMATS } from "./parts/definitions.ts";
import { contentOf, type ResultPart, textOrBlocks, unshown } from "./parts/result-content.ts";

/** A tool in the format of the Messages API. */
export type AnthropicTool = { name: string; description: string; input_schema: ObjectSchema; strict?: true };

/** A tool of a request with the API's own tool search: a loaded tool, a deferred tool, or the search itself. */
export type AnthropicSearchedTool =
  | (AnthropicTool & { defer_loading?: true })
  | { type: "tool_search_tool_bm25_20251119"; name: "tool_search_tool_bm25" };

/** Results in the format of the Messages API: one message for all calls of one response. */
export type AnthropicResults = { role: "user"; content: AnthropicResult[] };

type AnthropicResult = {
  type: "tool_result";
  tool_use_id: string;
  content: string | AnthropicBlock[];
  is_error?: true;
};

type AnthropicBlock =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: ImageType; data: string } }
  | { type: "document"; source: { type: "base64"; media_type: "application/pdf"; data: string } };

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;
type ImageType = (typeof IMAGE_TYPES)[number];

const PARAMETER_NAMES = /^[a-zA-Z0-9_.-]{1,64}$/;

/** The API checks schemas against draft 2020-12, except combinators at the root and the names of parameters. @internal */
export const ANTHROPIC_TARGET: SchemaTarget = { features: ALL_BELOW_ROOT, parameterNames: PARAMETER_NAMES };

/** The features that the SDK's transformJSONSchema keeps. The API also accepts simple patterns, but the SDK moves them into the description. @internal */
export const ANTHROPIC_STRICT_TARGET: SchemaTarget = {
  features: plainAnd("const format arrayLimits anyOf ref optionalProperties titles"),
  nullable: "any-of",
  formats: new Set([...STRICT_FORMATS, "uri"]),
  without: new Set(["maxItems"]),
  maxMinItems: 1,
  closedObjects: true,
  typed: true,
  bareReferences: true,
  untypedLiterals: true,
  enumValues: "primitives",
  parameterNames: PARAMETER_NAMES,
};

/** The API accepts deferred tools only together with a search tool, which is never deferred. */
const TOOL_SEARCH: ProviderSearch<AnthropicTool, AnthropicSearchedTool> = {
  maxTools: 10_000,
  write: (loaded, deferred) =>
    deferred.length === 0
      ? [...loaded]
      : [
          { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" },
          ...loaded,
          ...deferred.map(({ definition }) => ({ ...definition, defer_loading: true as const })),
        ],
};

/** Anthropic's Messages API. */
export function anthropicDialect(): SearchingDialect<AnthropicTool, AnthropicResults, AnthropicSearchedTool> {
  return {
    ...definitions<AnthropicTool>({
      name: "anthropic",
      target: ANTHROPIC_TARGET,
      strictTarget: ANTHROPIC_STRICT_TARGET,
      looksLike: '{"name": …, "input_schema": …}',
      write: ({ name, description, schema, strict }) => {
        return { name, description, input_schema: schema, ...(strict && { strict }) };
      },
      read: ({ type, name, description, input_schema: parameters }) =>
        (type ?? "custom") === "custom" ? { name, description, parameters } : undefined,
    }),
    providerSearch: TOOL_SEARCH,
    limits: { maxStrictTools: 20, maxOptionalParameters: 24, maxUnionParameters: 16 },
    readCalls: (response) =>
      asRecords(Array.isArray(response) ? response : asRecord(response)["content"])
        .filter(({ type }) => type === "tool_use")
        .map(({ id, name, input }, position) => toReadCall({ id, name, arguments: input }, position)),
    writeResults: (answered) => (answered.length === 0 ? [] : [{ role: "user", content: answered.map(toResult) }]),
    readStream: () =>
      createPieceStream((event, calls) => {
        const { type, index, content_block, delta } = asRecord(event);
        const key = String(index ?? 0);
        if (type === "content_block_start") {
          const { type: kind, id, name, input } = asRecord(content_block);
          if (kind !== "tool_use") return;
          calls.open(key, { id, name });
          calls.set(key, input);
        } else if (type === "content_block_delta") calls.add(key, asRecord(delta)["partial_json"]);
        else if (type === "content_block_stop") return calls.close(key);
      }),
  };
}

function toResult(answered: AnsweredCall): AnthropicResult {
  const content = contentOf(answered);
  return {
    type: "tool_result",
    tool_use_id: answered.read.id,
    content: textOrBlocks(content, toBlock),
    ...(content.isError && { is_error: true }),
  };
}

function toBlock(part: ResultPart): AnthropicBlock {
  if (part.kind === "text") return { type: "text", text: part.text };
  const { mimeType, data } = part;
  const media_type = IMAGE_TYPES.find((type) => type === mimeType);
  if (media_type !== undefined) return { type: "image", source: { type: "base64", media_type, data } };
  if (mimeType === "application/pdf")
    return { type: "document", source: { type: "base64", media_type: mimeType, data } };
  return { type: "text", text: unshown(part) };
}

export { anthropicDialect as create };
