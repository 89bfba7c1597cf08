import { asRecord, asRecords } from "../../../tool/json-schema.ts";
import type { SearchingDialect } from "../../../transcode/dialect.port.ts";
import { type ResponsesSearchedTool, TOOL_SEARCH } from "./tool-search.ts";
import { OPENAI_LIMITS, OPENAI_STRICT_TARGET, OPENAI_TARGET } from "./openai.ts";
import { createPieceStream, toReadCall } from "../parts/read-call.ts";
import { definitions, type ObjectSchema } from "../parts/definitions.ts";
import { contentOf, type ResultPart, textOrBlocks, unshown } from "../parts/result-content.ts";

/** A tool in the format of the Responses API. Strict by default in the API. */
export type ResponsesTool = {
  type: "function";
  name: string;
  description: string;
  parameters: ObjectSchema;
  strict: boolean;
};

/** A result in the format of the Responses API. */
export type ResponsesToolOutput = {
  type: "function_call_output";
  call_id: string;
  output: string | ResponsesContent[];
};

type ResponsesContent =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" }
  | { type: "input_file"; filename: string; file_data: string };

/** OpenAI's Responses API. */
export function openaiResponsesDialect(): SearchingDialect<ResponsesTool, ResponsesToolOutput, ResponsesSearchedTool> {
  return {
    ...definitions<ResponsesTool>({
      name: "openai-responses",
      target: OPENAI_TARGET,
      strictTarget: OPENAI_STRICT_TARGET,
      looksLike: '{"type": "function", "name": …, "parameters": …}',
      write: ({ name, description, schema: parameters, strict }) => {
        return { type: "function", name, description, parameters, strict };
      },
      read: ({ type, name, description, parameters }) =>
        type === "function" ? { name, description, parameters } : undefined,
    }),
    providerSearch: TOOL_SEARCH,
    limits: OPENAI_LIMITS,
    readCalls: (response) =>
      itemsOf(response)
        .filter(({ type }) => type === "function_call")
        .map(({ call_id, id, name, arguments: args }, position) =>
          toReadCall({ id: call_id ?? id, name, arguments: args }, position),
        ),
    writeResults: (answered) =>
      answered.map((each) => {
        const output = textOrBlocks(contentOf(each), toBlock);
        return { type: "function_call_output", call_id: each.read.id, output };
      }),
    // An `output_item.done` event has the complete call. The deltas are used only if the event never arrives.
    readStream: () =>
      createPieceStream((event, calls) => {
        const { type, item, output_index, delta, arguments: args } = asRecord(event);
        const key = String(output_index ?? 0);
        const { type: kind, call_id, id, name, arguments: whole } = asRecord(item);
        switch (type) {
          case "response.output_item.added":
          case "response.output_item.done":
            if (kind !== "function_call") return;
            calls.open(key, { id: call_id ?? id, name });
            if (type === "response.output_item.added") return;
            calls.set(key, whole);
            return calls.close(key);
          case "response.function_call_arguments.delta":
            return calls.add(key, delta);
          case "response.function_call_arguments.done":
            return calls.set(key, args);
        }
      }),
  };
}

type ResponseItem = Readonly<Record<string, unknown>>;

function itemsOf(response: unknown): readonly ResponseItem[] {
  if (Array.isArray(response)) return asRecords(response);
  const answer = asRecord(response);
  return "output" in answer ? asRecords(answer["output"]) : [answer];
}

function toBlock(part: ResultPart): ResponsesContent {
  if (part.kind === "text") return { type: "input_text", text: part.text };
  const data = `data:${part.mimeType};base64,${part.data}`;
  if (part.mimeType.startsWith("image/")) return { type: "input_image", image_url: data, detail: "auto" };
  if (part.mimeType === "application/pdf")
    return { type: "input_file", filename: part.name?.split("/").at(-1) || "result.pdf", file_data: data };
  return { type: "input_text", text: unshown(part) };
}

export type { ResponsesSearchedTool } from "./tool-search.ts";
export { openaiResponsesDialect as create };
