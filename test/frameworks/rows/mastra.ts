import { createOpenAI } from "@ai-sdk/openai";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { RequestContext } from "@mastra/core/request-context";
import { InMemoryStore } from "@mastra/core/storage";
import { mastraTools } from "../../../src/integrations/mastra.ts";
import type { FrameworkCall, FrameworkRow, FrameworkRun, FrameworkTask } from "../row.ts";

function prepare({ arsenal, baseURL, limit, principal, approver }: FrameworkTask) {
  const { tools, processor } = mastraTools(arsenal, {
    limit,
    approver,
    principal: (requestContext) => ({ ...principal, id: String(requestContext.get("user")) }),
  });
  const model = createOpenAI({ baseURL, apiKey: "none" }).chat("scripted");
  const instructions = "Work for the shop.";
  const shop = new Agent({ id: "shop", name: "Shop", instructions, model, tools, inputProcessors: [processor] });
  const storage = new InMemoryStore();
  const mastra = new Mastra({ agents: { shop }, storage, logger: false });
  const requestContext = new RequestContext();
  requestContext.set("user", principal.id);
  return { agent: mastra.getAgent("shop"), storage, requestContext };
}

type Prepared = ReturnType<typeof prepare>;

async function follow(
  { storage }: Prepared,
  output: Awaited<ReturnType<Prepared["agent"]["stream"]>>,
): Promise<FrameworkRun> {
  const calls: FrameworkCall[] = [];
  const progress: string[] = [];
  let waiting: string | undefined;
  for await (const chunk of output.fullStream) {
    if (chunk.type === "tool-result") {
      const { toolName: name, result } = chunk.payload;
      calls.push({ name, failed: chunk.payload.isError === true, text: JSON.stringify(result) });
    } else if (chunk.type === "tool-error") {
      const { toolName: name, error } = chunk.payload;
      calls.push({ name, failed: true, text: String((error as Error).message ?? error) });
    } else if (chunk.type === "tool-output") {
      const { message } = chunk.payload.output as { readonly message?: string };
      if (message !== undefined) progress.push(message);
    } else if (chunk.type === "tool-call-suspended") waiting = chunk.payload.toolCallId;
  }
  const workflows = await storage.getStore("workflows");
  const { runs } = (await workflows?.listWorkflowRuns()) ?? { runs: [] };
  return {
    text: await output.text,
    calls,
    progress,
    ...(waiting !== undefined && { saved: JSON.stringify({ runId: output.runId, toolCallId: waiting, runs }) }),
  };
}

interface SavedRun {
  readonly runId: string;
  readonly toolCallId: string;
  readonly runs: readonly { readonly workflowName: string; readonly runId: string; readonly snapshot: never }[];
}

export const row: FrameworkRow = {
  skipped: {},
  async run(task) {
    const prepared = prepare(task);
    const { agent, requestContext } = prepared;
    const { signal: abortSignal } = task;
    return follow(prepared, await agent.stream(task.prompt, { requestContext, abortSignal, maxSteps: 8 }));
  },
  async resume(task, saved, answer) {
    const prepared = prepare(task);
    const { agent, requestContext, storage } = prepared;
    const { runId, toolCallId, runs } = JSON.parse(saved) as SavedRun;
    const workflows = await storage.getStore("workflows");
    for (const each of runs) await workflows?.persistWorkflowSnapshot(each);
    const approved = answer === "approve";
    return follow(prepared, await agent.resumeStream({ approved }, { runId, toolCallId, requestContext, maxSteps: 8 }));
  },
};
