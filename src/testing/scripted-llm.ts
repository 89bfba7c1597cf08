import type { Llm, LlmRequest, LlmTurn } from "../agent/llm.port.ts";

/** A model that follows a script and records its requests. */
export interface ScriptedLlm extends Llm {
  readonly requests: readonly LlmRequest[];
}

/** Returns a model that answers each request with the next turn of a script: a text, a turn made with `say`, or an error to throw. */
export function scriptedLlm(script: readonly (string | LlmTurn | Error)[]): ScriptedLlm {
  const requests: LlmRequest[] = [];
  return {
    name: "scripted",
    requests,
    async next(request) {
      request.signal?.throwIfAborted();
      const turn = script[requests.length] ?? "The script has ended.";
      requests.push({ ...request, messages: [...request.messages] });
      if (turn instanceof Error) throw turn;
      const said = typeof turn === "string" ? say(turn) : turn;
      if (said.message.text !== "") request.onText?.(said.message.text);
      return said;
    },
    close() {},
  };
}

/** Creates a turn of a model: text, then calls, each with the tool's name and arguments. Uses 10 input and 5 output tokens. */
export function say(text: string, ...calls: readonly (readonly [tool: string, args: object])[]): LlmTurn {
  return {
    message: {
      role: "assistant",
      text,
      calls: calls.map(([toolName, args], index) => ({
        id: `call_${index + 1}`,
        call: { toolName, arguments: args as Readonly<Record<string, unknown>> },
      })),
    },
    stop: calls.length === 0 ? "answer" : "calls",
    usage: { inputTokens: 10, outputTokens: 5 },
  };
}
