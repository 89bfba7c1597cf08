import { Agent, type AgentResult, type InvokeArgs, type Snapshot, tool } from "@strands-agents/sdk";
import { AnthropicModel } from "@strands-agents/sdk/models/anthropic";
import { z } from "zod";
import { arsenalPlugin } from "../../../src/integrations/strands.ts";
import type { FrameworkCall, FrameworkRow, FrameworkRun, FrameworkTask } from "../row.ts";

interface SavedRun {
  readonly snapshot: Snapshot;
  readonly interruptId: string;
}

async function drive(task: FrameworkTask, args: InvokeArgs, snapshot?: Snapshot): Promise<FrameworkRun> {
  const { arsenal, baseURL, limit, approver, signal } = task;
  const { origin } = new URL(baseURL);
  const agent = new Agent({
    model: new AnthropicModel({
      apiKey: "none",
      modelId: "scripted",
      maxTokens: 100,
      clientConfig: { baseURL: origin },
    }),
    plugins: [arsenalPlugin(arsenal, { limit, approver, principal: ({ caller }) => caller as typeof task.principal })],
    printer: false,
  });
  if (snapshot !== undefined) agent.loadSnapshot(snapshot);
  const stream = agent.stream(args, { cancelSignal: signal, invocationState: { caller: task.principal } });
  const progress: string[] = [];
  const calls: FrameworkCall[] = [];
  let result: AgentResult;
  for (;;) {
    const { value, done } = await stream.next();
    if (done === true) {
      result = value;
      break;
    }
    if (value.type === "toolStreamUpdateEvent")
      progress.push(String((value.event.data as { readonly message: string }).message));
    if (value.type === "afterToolCallEvent") {
      const { status, content } = value.result;
      calls.push({ name: value.toolUse.name, failed: status === "error", text: JSON.stringify(content) });
    }
  }
  const [interrupt] = result.interrupts ?? [];
  const saved = interrupt && { snapshot: agent.takeSnapshot({ preset: "session" }), interruptId: interrupt.id };
  return { text: String(result), calls, progress, ...(saved && { saved: JSON.stringify(saved) }) };
}

export const row: FrameworkRow = {
  skipped: {},
  ownTools: [
    tool({
      name: "double",
      description: "Doubles a number",
      inputSchema: z.object({ x: z.number() }),
      callback: ({ x }) => x * 2,
    }),
  ],
  run: (task) => drive(task, task.prompt),
  resume(task, saved, answer) {
    const { snapshot, interruptId } = JSON.parse(saved) as SavedRun;
    return drive(task, [{ interruptResponse: { interruptId, response: answer } }], snapshot);
  },
};
