import { asRecord, asRecords } from "../../tool/json-schema.ts";
import type { LiveTool, StreamingDialect } from "../../transcode/dialect.port.ts";
import { ALL_FEATURES } from "../../transcode/features.ts";
import { createPieceStream, toReadCall } from "./parts/read-call.ts";
import { definitions, type ObjectSchema } from "./parts/definitions.ts";
import { readLiveSchema } from "./parts/live-schema.ts";
import { contentOf, type ResultPart, textOrBlocks } from "./parts/result-content.ts";

/** A tool in the format of `bindTools`. */
export type LangChainTool = { name: string; description: string; schema: ObjectSchema };

/** A result in the format of LangChain's messages: the fields of a `ToolMessage`. */
export type LangChainToolMessage = {
  role: "tool";
  tool_call_id: string;
  name: string;
  content: string | LangChainBlock[];
  status: "success" | "error";
  /** The result as data. LangChain does not send it to the model. */
  artifact?: unknown;
};

type LangChainBlock =
  | { type: "text"; text: string }
  | { type: "image" | "audio" | "file"; mimeType: string; data: string };

/** LangChain's chat models. */
export function langchainDialect(): StreamingDialect<LangChainTool, LangChainToolMessage> {
  return {
    ...definitions<LangChainTool>({
      name: "langchain",
      target: { features: ALL_FEATURES },
      looksLike: '{"name": …, "schema": …}',
      write: ({ name, description, schema }) => ({ name, description, schema }),
      read: ({ name, description, schema }) => ({ name, description, parameters: schema }),
    }),
    readLive,
    readCalls(response) {
      const message = asRecord(response);
      // A serialised message has its fields under `kwargs`.
      const { tool_calls, invalid_tool_calls } = asRecord(
        message["tool_calls"] ? message : (message["kwargs"] ?? message),
      );
      const calls = [...asRecords(tool_calls), ...asRecords(invalid_tool_calls)];
      return calls.map(({ id, name, args }, position) => toReadCall({ id, name, arguments: args }, position));
    },
    writeResults: (answered) =>
      answered.map((each) => {
        const content = contentOf(each);
        return {
          role: "tool",
          tool_call_id: each.read.id,
          name: each.read.call.toolName,
          content: textOrBlocks(content, toBlock),
          status: content.isError ? "error" : "success",
          ...(content.structured !== undefined && { artifact: content.structured }),
        };
      }),
    // Chunks do not mark the end of a call, so calls are complete when the stream ends.
    readStream: () =>
      createPieceStream((chunk, calls) => {
        for (const { index, id, name, args } of asRecords(asRecord(chunk)["tool_call_chunks"])) {
          const key = String(index ?? id ?? 0);
          calls.open(key, { id, name });
          calls.add(key, args);
        }
      }),
  };
}

/** A `StructuredTool`, which validates its own arguments. */
interface RunnableTool {
  readonly name: string;
  readonly description?: string;
  readonly schema: unknown;
  invoke(input: unknown, config: { readonly signal: AbortSignal }): Promise<unknown>;
}

function readLive(tool: object): Promise<LiveTool> | undefined {
  const { name, schema, invoke } = tool as Partial<RunnableTool>;
  const isRunnable = typeof name === "string" && schema !== undefined && typeof invoke === "function";
  return isRunnable ? toLive(tool as RunnableTool) : undefined;
}

async function toLive(tool: RunnableTool): Promise<LiveTool> {
  const { name, description, schema } = tool;
  const { parameters } = await readLiveSchema(schema);
  return {
    definition: { name, description, schema: parameters },
    handler: (args, { signal }) => tool.invoke(args, { signal }),
  };
}

function toBlock(part: ResultPart): LangChainBlock {
  if (part.kind === "text") return { type: "text", text: part.text };
  const { mimeType, data } = part;
  const [kind] = mimeType.split("/");
  return { type: kind === "image" || kind === "audio" ? kind : "file", mimeType, data };
}

export { langchainDialect as create };
