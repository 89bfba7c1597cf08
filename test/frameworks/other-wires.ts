import type { ServerResponse } from "node:http";
import type { ModelRequest, ScriptedTurn } from "./scripted-model.ts";

/** A turn to write. */
export interface WrittenTurn {
  readonly turn: ScriptedTurn;
  /** The number of earlier turns, which makes the ids of calls unique. */
  readonly before: number;
  readonly stream: boolean;
}

/** How an API that is not OpenAI's looks on the wire. */
export interface OtherWire {
  read(body: Readonly<Record<string, unknown>>): ModelRequest;
  write(response: ServerResponse, written: WrittenTurn): void;
}

interface AnthropicBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly name: string }[];
}

/** Anthropic's Messages API. Names have `prefix` on the wire, as those of an MCP server in Claude Code. */
function anthropicWire(prefix: string): OtherWire {
  return {
    read(body) {
      const { messages, tools = [] } = body as unknown as AnthropicBody;
      return {
        tools: tools.map(({ name }) => (name.startsWith(prefix) ? name.slice(prefix.length) : name)),
        messages: messages.map(({ role, content }) => ({ role, content: JSON.stringify(content) })),
      };
    },
    write(response, { turn: { text = "", calls = [] }, before }) {
      const blocks = [
        ...(text === "" ? [] : [{ type: "text", text } as const]),
        ...calls.map(([name, input], index) => {
          return { type: "tool_use", id: `toolu_${before}_${index}`, name: `${prefix}${name}`, input } as const;
        }),
      ];
      const send = sender(response);
      const event = (type: string, data: object = {}): void => send({ type, ...data }, type);
      const usage = { input_tokens: 10, output_tokens: 5 };
      const begun = { content: [], stop_reason: null, stop_sequence: null, usage };
      const message = { id: `msg_${before}`, type: "message", role: "assistant", model: "scripted", ...begun };
      event("message_start", { message });
      for (const [index, block] of blocks.entries()) {
        const isText = block.type === "text";
        event("content_block_start", {
          index,
          content_block: isText ? { ...block, text: "" } : { ...block, input: {} },
        });
        const delta = isText
          ? { type: "text_delta", text: block.text }
          : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
        event("content_block_delta", { index, delta });
        event("content_block_stop", { index });
      }
      const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
      event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage });
      event("message_stop");
      response.end();
    },
  };
}

interface GeminiBody {
  readonly contents: readonly { readonly role?: string; readonly parts?: readonly object[] }[];
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
}

/** Gemini's `generateContent` and `streamGenerateContent`. Calls have no ids, as most of its models answer. */
const geminiWire: OtherWire = {
  read(body) {
    const { contents, tools = [] } = body as unknown as GeminiBody;
    return {
      tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
      messages: contents.map(({ role, parts }) => ({
        role: role === "model" ? "assistant" : (role ?? "user"),
        content: JSON.stringify(parts),
      })),
    };
  },
  write(response, { turn: { text = "", calls = [] }, before, stream }) {
    const parts = [
      ...(text === "" ? [] : [{ text }]),
      ...calls.map(([name, args]) => ({ functionCall: { name, args } })),
    ];
    const answer = {
      candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: "scripted",
      responseId: `turn_${before}`,
    };
    if (stream) {
      sender(response)(answer);
      response.end();
      return;
    }
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer));
  },
};

function sender(response: ServerResponse): (data: object, event?: string) => void {
  response.setHeader("content-type", "text/event-stream");
  return (data, event) => {
    if (event !== undefined) response.write(`event: ${event}\n`);
    response.write(`data: ${JSON.stringify(data)}\n\n`);
  };
}

/** Returns the API at a path, and whether the answer is streamed; undefined for OpenAI's. `/named/PREFIX/v1/messages` has names with a prefix. */
export function otherWireAt(path: string): { readonly wire: OtherWire; readonly stream: boolean } | undefined {
  const { pathname } = new URL(path, "http://127.0.0.1");
  if (pathname.endsWith("/v1/messages")) {
    const [, prefix = ""] = /^\/named\/([^/]+)\//.exec(pathname) ?? [];
    return { wire: anthropicWire(prefix), stream: true };
  }
  const [, verb] = /:(generateContent|streamGenerateContent)$/.exec(pathname) ?? [];
  return verb === undefined ? undefined : { wire: geminiWire, stream: verb === "streamGenerateContent" };
}
