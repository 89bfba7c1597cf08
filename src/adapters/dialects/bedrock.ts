import { asRecord, asRecords, isPlainObject } from "../../tool/json-schema.ts";
import { Buffer } from "node:buffer";
import type { AnsweredCall, StreamingDialect } from "../../transcode/dialect.port.ts";
import { ANTHROPIC_STRICT_TARGET, ANTHROPIC_TARGET } from "./anthropic.ts";
import { createPieceStream, toReadCall } from "./parts/read-call.ts";
import { definitions } from "./parts/definitions.ts";
import { contentOf, isPureData, type MediaPart, type ResultPart, unshown } from "./parts/result-content.ts";

/** A tool in the format of Converse. */
export type BedrockTool = {
  toolSpec: { name: string; description: string; inputSchema: { json: BedrockDocument }; strict?: true };
};

/** Results in the format of Converse: one message for all calls of one response. Images are bytes, as the AWS SDK sends them. */
export type BedrockResults = { role: "user"; content: { toolResult: BedrockToolResult }[] };

type BedrockToolResult = { toolUseId: string; status: "success" | "error"; content: BedrockBlock[] };

type BedrockBlock =
  | { text: string }
  | { json: BedrockDocument }
  | { image: { format: ImageFormat; source: { bytes: Uint8Array } } }
  | { document: { format: "pdf"; name: string; source: { bytes: Uint8Array } } };

type BedrockDocument = null | boolean | number | string | BedrockDocument[] | { [key: string]: BedrockDocument };

const IMAGE_FORMATS = ["png", "jpeg", "gif", "webp"] as const;
type ImageFormat = (typeof IMAGE_FORMATS)[number];

/** Amazon Bedrock's Converse API. */
export function bedrockDialect(): StreamingDialect<BedrockTool, BedrockResults> {
  return {
    ...definitions<BedrockTool>({
      name: "bedrock",
      // Every model requires an object at the root, and the Anthropic models reject combinators there.
      target: ANTHROPIC_TARGET,
      strictTarget: ANTHROPIC_STRICT_TARGET,
      looksLike: '{"toolSpec": {"name": …, "inputSchema": {"json": …}}}',
      write: ({ name, description, schema, strict }) => ({
        toolSpec: { name, description, inputSchema: { json: schema as BedrockDocument }, ...(strict && { strict }) },
      }),
      read({ toolSpec }) {
        const { name, description, inputSchema } = asRecord(toolSpec);
        return { name, description, parameters: asRecord(inputSchema)["json"] };
      },
    }),
    limits: { maxStrictTools: 20, maxOptionalParameters: 24 },
    readCalls(response) {
      const answer = asRecord(response);
      const message = asRecord(asRecord(answer["output"])["message"] ?? answer["message"] ?? answer);
      return asRecords(Array.isArray(response) ? response : message["content"])
        .flatMap(({ toolUse }) => (toolUse === undefined ? [] : [asRecord(toolUse)]))
        .map(({ toolUseId, name, input }, position) => toReadCall({ id: toolUseId, name, arguments: input }, position));
    },
    writeResults: (answered) => (answered.length === 0 ? [] : [{ role: "user", content: answered.map(toResult) }]),
    readStream: () =>
      createPieceStream((event, calls) => {
        const { contentBlockStart, contentBlockDelta, contentBlockStop } = asRecord(event);
        const { contentBlockIndex, start, delta } = asRecord(
          contentBlockStart ?? contentBlockDelta ?? contentBlockStop,
        );
        const key = String(contentBlockIndex ?? 0);
        if (contentBlockStop !== undefined) return calls.close(key);
        const { toolUse } = asRecord(start ?? delta);
        if (toolUse === undefined) return;
        const { toolUseId, name, input } = asRecord(toolUse);
        if (contentBlockStart !== undefined) calls.open(key, { id: toolUseId, name });
        else calls.add(key, input);
      }),
  };
}

function toResult(answered: AnsweredCall): { toolResult: BedrockToolResult } {
  const content = contentOf(answered);
  const { parts, structured, isError } = content;
  return {
    toolResult: {
      toolUseId: answered.read.id,
      status: isError ? "error" : "success",
      // The API accepts only objects as JSON.
      content:
        isPureData(content) && isPlainObject(structured)
          ? [{ json: structured as BedrockDocument }]
          : parts.map(toBlock),
    },
  };
}

function toBlock(part: ResultPart): BedrockBlock {
  if (part.kind === "text") return { text: part.text };
  const format = IMAGE_FORMATS.find((name) => part.mimeType === `image/${name}`);
  if (format !== undefined) return { image: { format, source: { bytes: bytesOf(part) } } };
  if (part.mimeType === "application/pdf")
    return { document: { format: "pdf", name: "result", source: { bytes: bytesOf(part) } } };
  return { text: unshown(part) };
}

function bytesOf({ data }: MediaPart): Uint8Array {
  return Uint8Array.from(Buffer.from(data, "base64"));
}

export { bedrockDialect as create };
