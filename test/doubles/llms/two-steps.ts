import { onTestFinished } from "vitest";
import type { AgentMessage, Llm, LlmTurn } from "../../../src/agent/llm.port.ts";
import type { ToolResult } from "../../../src/index.ts";
import { sampleTools } from "../../../src/testing/index.ts";
import { type ModelApiName, type ModelDouble, openModel, type ScriptedTurn } from "./model-double.ts";

export const QUESTION: AgentMessage = { role: "user", text: "How many orders?" };
export const QUERY = { name: "query_database", arguments: { sql: "SELECT 1" } };
export const RESULT: ToolResult = {
  toolName: "query_database",
  status: "success",
  result: { rows: 7 },
  queuedAt: 1,
  completedAt: 2,
  latencyMs: 1,
  attempts: 1,
  traceId: "t",
  spanId: "s",
};

/** The turn that the model answers with once it has its result. */
export const ANSWER = { text: "There are seven.", calls: [QUERY] } satisfies ScriptedTurn;

/** The question, the call that the model made, and its result. */
export function answered(message: LlmTurn["message"]): readonly AgentMessage[] {
  const results = message.calls.map((read) => ({ read, result: RESULT }));
  return [QUESTION, message, { role: "tool", format: "native", results }];
}

/**
 * Asks a model, gives it the result of its call, and asks it again, whole and streamed: requests 0, 1 and 2 of the double. The double then answers
 * two more requests in the same way.
 */
export async function askInTwoSteps(
  api: ModelApiName,
  make: (settings: ModelDouble["settings"]) => Llm,
): Promise<{ readonly double: ModelDouble; readonly whole: LlmTurn; readonly streamed: LlmTurn }> {
  const calling: ScriptedTurn = { thinking: "Hm.", text: "Let me see.", calls: [QUERY] };
  const double = await openModel(api, [calling, ANSWER, ANSWER, ANSWER, ANSWER]);
  onTestFinished(() => double.close());
  const llm = make(double.settings);
  const request = { system: "Be brief.", messages: [QUESTION], tools: sampleTools() };
  const { message } = await llm.next(request);
  const messages = answered(message);
  const whole = await llm.next({ ...request, messages });
  const streamed = await llm.next({ ...request, messages, onText: () => {} });
  return { double, whole, streamed };
}
