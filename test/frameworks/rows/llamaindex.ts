import { openai } from "@llamaindex/openai";
import { agentToolCallResultEvent, multiAgent, stopAgentEvent } from "@llamaindex/workflow";
import type { ChatMessage } from "@llamaindex/core/llms";
import { tool } from "llamaindex";
import { z } from "zod";
import { approvalEvent, arsenalAgent, toolProgressEvent } from "../../../src/integrations/llamaindex.ts";
import type { FrameworkCall, FrameworkRow, FrameworkRun, FrameworkTask } from "../row.ts";

interface SavedRun {
  readonly history: ChatMessage[];
}

interface Resumed {
  readonly chatHistory: ChatMessage[];
  readonly answer: "approve" | "deny";
}

async function drive(task: FrameworkTask, prompt: string, resumed?: Resumed): Promise<FrameworkRun> {
  const { arsenal, baseURL, limit, principal, approver, signal } = task;
  const { chatHistory, ...answer } = resumed ?? { chatHistory: [] };
  const llm = openai({ model: "gpt-4o", apiKey: "none", baseURL });
  const helper = arsenalAgent(arsenal, { llm, limit, principal, approver, signal, ...answer });
  const progress: string[] = [];
  const calls: FrameworkCall[] = [];
  let text = "";
  let waits = false;
  let history: ChatMessage[] = [];
  for await (const event of multiAgent({ agents: [helper], rootAgent: helper }).runStream(prompt, { chatHistory })) {
    if (toolProgressEvent.include(event)) progress.push(String(event.data.message));
    if (approvalEvent.include(event)) waits = true;
    if (agentToolCallResultEvent.include(event)) {
      const { toolName: name, toolOutput } = event.data;
      calls.push({ name, failed: toolOutput.isError, text: JSON.stringify(toolOutput.result) });
    }
    if (stopAgentEvent.include(event)) {
      text = String(event.data.result);
      history = ((await event.data.state?.memory.getLLM(llm)) ?? []) as ChatMessage[];
    }
  }
  signal.throwIfAborted();
  return { text, calls, progress, ...(waits && { saved: JSON.stringify({ history }) }) };
}

export const row: FrameworkRow = {
  skipped: {},
  ownTools: [
    tool({
      name: "double",
      description: "Doubles a number",
      parameters: z.object({ x: z.number() }),
      execute: ({ x }) => x * 2,
    }),
  ],
  run: (task) => drive(task, task.prompt),
  resume(task, saved, answer) {
    const { history: chatHistory } = JSON.parse(saved) as SavedRun;
    return drive(task, "", { chatHistory, answer });
  },
};
