import {
  type Event,
  FunctionTool,
  Gemini,
  InMemorySessionService,
  isFinalResponse,
  LlmAgent,
  LogLevel,
  Runner,
  setLogLevel,
} from "@google/adk";
import type { Content } from "@google/genai";
import { z } from "zod";
import { arsenalToolset } from "../../../src/integrations/google-adk.ts";
import type { FrameworkCall, FrameworkRow, FrameworkRun, FrameworkTask } from "../row.ts";

setLogLevel(LogLevel.ERROR);

const PLACE = { appName: "shop", userId: "robin", sessionId: "one" };

interface SavedRun {
  readonly events: readonly Event[];
  /** The id of the call with which ADK asks for a confirmation. */
  readonly requestId: string;
}

async function drive(task: FrameworkTask, newMessage: Content, earlier: readonly Event[]): Promise<FrameworkRun> {
  const { arsenal, baseURL, limit, principal, approver, signal } = task;
  const agent = new LlmAgent({
    name: "helper",
    model: new Gemini({ model: "gemini-scripted", apiKey: "none" }),
    generateContentConfig: { httpOptions: { baseUrl: new URL(baseURL).origin } },
    tools: [
      arsenalToolset(arsenal, {
        limit,
        approver,
        principal: ({ userId }) => ({ ...principal, id: `${principal.id} of ${userId}` }),
      }),
    ],
  });
  const sessionService = new InMemorySessionService();
  const session = await sessionService.createSession(PLACE);
  for (const event of earlier) await sessionService.appendEvent({ session, event });
  const runner = new Runner({ appName: PLACE.appName, agent, sessionService });
  const progress: string[] = [];
  const calls: FrameworkCall[] = [];
  let text = "";
  let requestId: string | undefined;
  for await (const event of runner.runAsync({ ...PLACE, newMessage, abortSignal: signal })) {
    const { toolProgress } = (event.customMetadata ?? {}) as { readonly toolProgress?: { readonly message: string } };
    if (toolProgress !== undefined) progress.push(toolProgress.message);
    for (const { functionCall, functionResponse, text: said } of event.content?.parts ?? []) {
      if (functionCall?.name === "adk_request_confirmation") requestId = functionCall.id;
      if (said !== undefined && isFinalResponse(event)) text = said;
      if (functionResponse === undefined) continue;
      const { name = "", response = {} } = functionResponse;
      calls.push({ name, failed: "error" in response, text: JSON.stringify(response) });
    }
  }
  signal.throwIfAborted();
  const { events = [] } = (await sessionService.getSession(PLACE)) ?? {};
  return { text, calls, progress, ...(requestId !== undefined && { saved: JSON.stringify({ events, requestId }) }) };
}

export const row: FrameworkRow = {
  skipped: {},
  caller: "agent of robin",
  ownTools: [
    new FunctionTool({
      name: "double",
      description: "Doubles a number",
      parameters: z.object({ x: z.number() }),
      execute: ({ x }) => x * 2,
    }),
  ],
  run: (task) => drive(task, { role: "user", parts: [{ text: task.prompt }] }, []),
  resume(task, saved, answer) {
    const { events, requestId: id } = JSON.parse(saved) as SavedRun;
    const response = { confirmed: answer === "approve" };
    const functionResponse = { id, name: "adk_request_confirmation", response };
    return drive(task, { role: "user", parts: [{ functionResponse }] }, events);
  },
};
