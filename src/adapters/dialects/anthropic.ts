import { asRecord, asRecords } from "../../tool/json-schema.ts";
import type { StreamingDialect } from "../../transcode/dialect.port.ts";
import type { SchemaTarget } from "../../transcode/convert-schema.ts";
import { ALL_BELOW_ROOT, PLAIN_FEATURES } from "../../transcode/features.ts";
import { type CallAssembly, type Completed, createPieceStream, toReadCall } from "./parts/read-call.ts";
import { definitions, type ObjectSchema, STRICT_FORMATS } from "./parts/definitions.ts";
import { contentOf, type ResultPart, textOf, unshown } from "./parts/result-content.ts";

/** A tool as the Messages API takes it. */
export type AnthropicTool = { name: string; description: string; input_schema: ObjectSchema; strict?: true };

/** Results as the Messages API takes them: one message for all calls of one answer. */
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

/** Schemas are checked against draft 2020-12, except the root's combinators and the names of parameters. @internal */
export const ANTHROPIC_TARGET: SchemaTarget = { features: ALL_BELOW_ROOT, parameterNames: PARAMETER_NAMES };

/** What the SDK's transformJSONSchema keeps: the API accepts simple patterns too, but the SDK writes them into the description. @internal */
export const ANTHROPIC_STRICT_TARGET: SchemaTarget = {
  features: new Set([
    ...PLAIN_FEATURES,
    "const",
    "format",
    "arrayLimits",
    "anyOf",
    "ref",
    "optionalProperties",
    "titles",
  ]),
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

/** Anthropic's Messages API. */
export function anthropicDialect(): StreamingDialect<AnthropicTool, AnthropicResults> {
  return {
    ...definitions<AnthropicTool>({
      name: "anthropic",
      target: ANTHROPIC_TARGET,
      strictTarget: ANTHROPIC_STRICT_TARGET,
      looksLike: '{"name": …, "input_schema": …}',
      write: ({ name, description, schema, strict }) => ({
        name,
        description,
        input_schema: schema,
        ...(strict ? { strict } : {}),
      }),
      read: ({ type, name, description, input_schema }) =>
        (type === undefined || type === null || type === "custom") && typeof name === "string"
          ? { name, description, parameters: input_schema }
          : undefined,
    }),
    limits: { maxStrictTools: 20, maxOptionalParameters: 24, maxUnionParameters: 16 },
    readCalls: (response) =>
      asRecords(Array.isArray(response) ? response : asRecord(response)["content"])
        .filter(({ type }) => type === "tool_use")
        .map(({ id, name, input }, position) => toReadCall({ id, name, arguments: input }, position)),
    writeResults: (answered) =>
      answered.length === 0
        ? []
        : [
            {
              role: "user",
              content: answered.map((each) => {
                const content = contentOf(each);
                const hasMedia = content.parts.some(({ kind }) => kind === "media");
                return {
                  type: "tool_result",
                  tool_use_id: each.read.id,
                  content: hasMedia ? content.parts.map(toBlock) : textOf(content),
                  ...(content.isError ? { is_error: true } : {}),
                };
              }),
            },
          ],
    readStream: () => createPieceStream(readPiece),
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

function readPiece(event: unknown, calls: CallAssembly): Completed {
  const { type, index, content_block, delta } = asRecord(event);
  const key = String(index ?? 0);
  if (type === "content_block_start") {
    const { type: kind, id, name, input } = asRecord(content_block);
    if (kind !== "tool_use") return;
    calls.open(key, { id, name });
    calls.set(key, input);
  } else if (type === "content_block_delta") calls.add(key, asRecord(delta)["partial_json"]);
  else if (type === "content_block_stop") return calls.close(key);
}

export { anthropicDialect as create };
