import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { otherWireAt } from "./other-wires.ts";

/** One turn of the scripted model: its text, and its calls as the tool's name and the arguments. */
export interface ScriptedTurn {
  readonly text?: string;
  readonly calls?: readonly (readonly [name: string, args: object])[];
}

/** A request that the model got. */
export interface ModelRequest {
  /** The names of the tools that it could call. */
  readonly tools: readonly string[];
  readonly messages: readonly ModelMessage[];
}

interface ModelMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
}

/** A model on loopback behind OpenAI's Chat Completions API, Anthropic's Messages API and Gemini's API. */
export interface ScriptedModel {
  /** `http://127.0.0.1:PORT/v1` */
  readonly baseURL: string;
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

/**
 * Starts a model that follows a script: the turn is the number of its earlier turns in the request, so a run that another process resumes goes on where it
 * stopped. After the last turn it answers with that turn again.
 */
export async function startScriptedModel(script: readonly ScriptedTurn[]): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const server = createServer(async (request, response) => {
    const given = JSON.parse(await text(request)) as Readonly<Record<string, unknown>>;
    const other = otherWireAt(request.url ?? "");
    if (other !== undefined) {
      const { wire, stream } = other;
      const read = wire.read(given);
      requests.push(read);
      const before = turnsIn(read);
      wire.write(response, { turn: script[before] ?? script.at(-1) ?? {}, before, stream });
      return;
    }
    const body = given as unknown as {
      readonly messages: readonly ModelMessage[];
      readonly tools?: readonly { readonly function: { readonly name: string } }[];
      readonly stream?: boolean;
    };
    const { messages, tools = [], stream = false } = body;
    requests.push({ tools: tools.map((tool) => tool.function.name), messages });
    const before = turnsIn({ messages });
    answer(response, { turn: script[before] ?? script.at(-1) ?? {}, before, stream });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function turnsIn({ messages }: Pick<ModelRequest, "messages">): number {
  return messages.filter(({ role }) => role === "assistant").length;
}

interface Answer {
  readonly turn: ScriptedTurn;
  /** The number of earlier turns. */
  readonly before: number;
  readonly stream: boolean;
}

function answer(response: ServerResponse, { turn: { text: said = "", calls = [] }, before, stream }: Answer): void {
  const tool_calls = calls.map(([name, args], index) => ({
    index,
    id: `call_${before}_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  const message = { role: "assistant", content: said, ...(calls.length > 0 && { tool_calls }) };
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const common = { id: `turn_${before}`, created: 1_700_000_000, model: "scripted" };
  if (!stream) {
    response.setHeader("content-type", "application/json");
    const choices = [{ index: 0, message, finish_reason }];
    response.end(JSON.stringify({ ...common, object: "chat.completion", choices, usage }));
    return;
  }
  response.setHeader("content-type", "text/event-stream");
  const chunk = (choices: readonly object[], more: object = {}): string =>
    `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices, ...more })}\n\n`;
  response.write(chunk([{ index: 0, delta: message, finish_reason: null }]));
  response.write(chunk([{ index: 0, delta: {}, finish_reason }]));
  response.write(chunk([], { usage }));
  response.end("data: [DONE]\n\n");
}
