import { googleAI } from "@genkit-ai/google-genai";
import { genkit, type MessageData, restartTool, tool, type ToolRequestPart, z } from "genkit";
import { arsenalMiddleware } from "../../../src/integrations/genkit.ts";
import type { FrameworkCall, FrameworkRow, FrameworkRun, FrameworkTask } from "../row.ts";

interface SavedRun {
  readonly messages: MessageData[];
  readonly interrupt: ToolRequestPart;
}

type Asked = { readonly prompt: string } | { readonly messages: MessageData[]; readonly restart: ToolRequestPart };

async function drive(task: FrameworkTask, asked: Asked): Promise<FrameworkRun> {
  const { arsenal, baseURL, limit, principal, approver, signal } = task;
  const { origin } = new URL(baseURL);
  const ai = genkit({ plugins: [googleAI({ apiKey: "none", baseUrl: origin })] });
  const { response, stream } = ai.generateStream({
    model: googleAI.model("gemini-2.5-flash"),
    use: [
      arsenalMiddleware(arsenal, {
        limit,
        approver,
        principal: ({ auth }) => ({ ...principal, id: String(auth?.["uid"]) }),
      }),
    ],
    context: { auth: { uid: "robin" } },
    abortSignal: signal,
    ...("prompt" in asked ? asked : { messages: asked.messages, resume: { restart: [asked.restart] } }),
  });
  const progress: string[] = [];
  const calls: FrameworkCall[] = [];
  response.catch(() => {}); // the stream rejects too
  for await (const { custom, role, content } of stream) {
    const { toolProgress } = (custom ?? {}) as { readonly toolProgress?: { readonly message: string } };
    if (toolProgress !== undefined) progress.push(toolProgress.message);
    if (role !== "tool") continue;
    for (const { toolResponse } of content) {
      if (toolResponse === undefined) continue;
      const { name, output } = toolResponse;
      const failed = typeof output === "object" && output !== null && "error" in output;
      calls.push({ name, failed, text: JSON.stringify(output) });
    }
  }
  signal.throwIfAborted();
  const { text, interrupts, messages } = await response;
  const [interrupt] = interrupts;
  return { text, calls, progress, ...(interrupt && { saved: JSON.stringify({ messages, interrupt }) }) };
}

export const row: FrameworkRow = {
  skipped: {},
  caller: "robin",
  ownTools: [
    tool(
      { name: "double", description: "Doubles a number", inputSchema: z.object({ x: z.number() }) },
      async ({ x }) => x * 2,
    ),
  ],
  run: (task) => drive(task, { prompt: task.prompt }),
  resume(task, saved, answer) {
    const { messages, interrupt } = JSON.parse(saved) as SavedRun;
    return drive(task, { messages, restart: restartTool(interrupt, answer) });
  },
};
