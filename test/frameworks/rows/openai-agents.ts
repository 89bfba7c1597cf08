import { Agent, OpenAIProvider, Runner, RunState, setTracingDisabled } from "@openai/agents";
import OpenAI from "openai";
import { runTools } from "../../../src/integrations/openai-agents.ts";
import type { FrameworkRow, FrameworkRun, FrameworkTask } from "../row.ts";

setTracingDisabled(true);

interface User {
  readonly user: string;
}

async function prepare({ arsenal, baseURL, limit, principal, approver }: FrameworkTask) {
  const context: User = { user: principal.id };
  const offered = await runTools(arsenal, {
    context,
    limit,
    approver,
    principal: (given: User) => ({ ...principal, id: given.user }),
  });
  const agent = new Agent<User>({ name: "Shop", model: "scripted", tools: offered.tools });
  const openAIClient = new OpenAI({ baseURL, apiKey: "none" });
  const provider = new OpenAIProvider({ openAIClient, useResponses: false });
  return { agent, context, runner: new Runner({ modelProvider: offered.modelProvider(provider) }) };
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function drive(
  { agent, context, runner }: Prepared,
  input: string | RunState<User, Agent<User>>,
  signal: AbortSignal,
): Promise<FrameworkRun> {
  const result = await runner.run(agent, input, { context, signal });
  const calls = result.newItems.flatMap((item) => {
    if (item.type !== "tool_call_output_item" || item.rawItem.type !== "function_call_result") return [];
    const text = typeof item.output === "string" ? item.output : JSON.stringify(item.output);
    // The SDK gives the model an error as the output of the call.
    return [{ name: item.rawItem.name, failed: text.startsWith("Tool Execution Failed"), text }];
  });
  const saved = result.interruptions.length > 0 ? { saved: result.state.toString() } : {};
  return { text: String(result.finalOutput ?? ""), calls, progress: [], ...saved };
}

export const row: FrameworkRow = {
  skipped: { progress: "the SDK shows no progress of function tools; the option onProgress gets it" },
  run: async (task) => drive(await prepare(task), task.prompt, task.signal),
  async resume(task, saved, answer) {
    const prepared = await prepare(task);
    const state = await RunState.fromString<User, Agent<User>>(prepared.agent, saved);
    for (const interruption of state.getInterruptions())
      if (answer === "approve") state.approve(interruption);
      else state.reject(interruption);
    return drive(prepared, state, task.signal);
  },
};
