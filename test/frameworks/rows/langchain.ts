import { Command, type Interrupt, MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { AIMessage, type BaseMessage, createAgent, ToolMessage } from "langchain";
import { arsenalMiddleware } from "../../../src/integrations/langchain.ts";
import type { FrameworkRow, FrameworkRun, FrameworkTask } from "../row.ts";

const thread = { configurable: { thread_id: "one" } };

async function drive(task: FrameworkTask, input: object, saver: MemorySaver): Promise<FrameworkRun> {
  const { arsenal, baseURL, limit, principal, approver, signal } = task;
  const agent = createAgent({
    model: new ChatOpenAI({ model: "scripted", apiKey: "none", configuration: { baseURL } }),
    middleware: [
      arsenalMiddleware(arsenal, {
        limit,
        approver,
        principal: ({ user }: { user: string }) => ({ ...principal, id: user }),
      }),
    ],
    checkpointer: saver,
  });
  const progress: string[] = [];
  let state: { messages: BaseMessage[]; __interrupt__?: Interrupt[] } = { messages: [] };
  const stream = await agent.stream(input as never, {
    ...thread,
    signal,
    context: { user: principal.id } as never,
    streamMode: ["values", "custom"],
  });
  for await (const [mode, chunk] of stream as AsyncIterable<[string, unknown]>) {
    if (mode === "custom") progress.push((chunk as { message: string }).message);
    else state = { ...state, ...(chunk as typeof state) };
  }
  const { messages, __interrupt__: waiting = [] } = state;
  const last = messages.at(-1);
  return {
    text: last !== undefined && AIMessage.isInstance(last) ? last.text : "",
    calls: messages
      .filter((message) => ToolMessage.isInstance(message))
      .map(({ name = "", status, text }) => {
        return { name, failed: status === "error", text };
      }),
    progress,
    ...(waiting.length > 0 && { saved: save(saver) }),
  };
}

/** What a checkpointer in a database would keep: LangGraph's own memory saver, as text. */
function save({ storage, writes }: MemorySaver): string {
  const encode = (_key: string, value: unknown): unknown =>
    value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : value;
  return JSON.stringify({ storage, writes }, encode);
}

function load(saved: string): MemorySaver {
  const decode = (_key: string, value: unknown): unknown => {
    const { bytes } = (value ?? {}) as { bytes?: unknown };
    return typeof bytes === "string" ? new Uint8Array(Buffer.from(bytes, "base64")) : value;
  };
  return Object.assign(new MemorySaver(), JSON.parse(saved, decode) as object);
}

export const row: FrameworkRow = {
  skipped: {},
  run: (task) => drive(task, { messages: [{ role: "user", content: task.prompt }] }, new MemorySaver()),
  resume(task, saved, answer) {
    const decision = { type: answer === "approve" ? "approve" : "reject" };
    return drive(task, new Command({ resume: { decisions: [decision] } }), load(saved));
  },
};
