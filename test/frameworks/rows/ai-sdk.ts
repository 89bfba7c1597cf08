import { createOpenAI } from "@ai-sdk/openai";
import { isStepCount, type ModelMessage, readUIMessageStream, streamText, toUIMessageStream } from "ai";
import { stepTools } from "../../../src/integrations/ai-sdk.ts";
import type { FrameworkCall, FrameworkRow, FrameworkRun, FrameworkTask } from "../row.ts";

/** Streams a run as `useChat` gets it, and reads the calls from its parts. */
async function drive(task: FrameworkTask, messages: readonly ModelMessage[]): Promise<FrameworkRun> {
  const { arsenal, baseURL, limit, principal, approver, signal } = task;
  const result = streamText({
    model: createOpenAI({ baseURL, apiKey: "none" }).chat("scripted"),
    messages: [...messages],
    stopWhen: isStepCount(8),
    abortSignal: signal,
    ...(await stepTools(arsenal, messages, { limit, principal, approver })),
  });
  const progress: string[] = [];
  const calls = new Map<string, FrameworkCall>();
  const stream = toUIMessageStream({ stream: result.stream, onError: (error) => String(error) });
  for await (const { parts } of readUIMessageStream({ stream, onError: () => {} }))
    for (const part of parts) {
      if (part.type !== "dynamic-tool") continue;
      const { toolCallId, toolName: name } = part;
      if (part.state === "output-available" && part.preliminary === true) {
        // The last preliminary output is the result itself.
        const { message } = part.output as { readonly message?: string };
        if (message !== undefined && progress.at(-1) !== message) progress.push(message);
      } else if (part.state === "output-available")
        calls.set(toolCallId, { name, failed: false, text: JSON.stringify(part.output) });
      else if (part.state === "output-error") calls.set(toolCallId, { name, failed: true, text: part.errorText });
    }
  signal.throwIfAborted();
  const [content, { messages: answered }] = await Promise.all([result.content, result.response]);
  const waits = content.some(({ type }) => type === "tool-approval-request");
  return {
    text: await result.text,
    calls: [...calls.values()],
    progress,
    ...(waits && { saved: JSON.stringify([...messages, ...answered]) }),
  };
}

export const row: FrameworkRow = {
  skipped: {},
  run: (task) => drive(task, [{ role: "user", content: task.prompt }]),
  resume(task, saved, answer) {
    const messages = JSON.parse(saved) as ModelMessage[];
    const [request] = messages.flatMap(({ role, content }) =>
      role === "assistant" && typeof content !== "string"
        ? content.filter((part) => part.type === "tool-approval-request")
        : [],
    );
    const approvalId = request?.approvalId ?? "";
    const response = { type: "tool-approval-response", approvalId, approved: answer === "approve" } as const;
    return drive(task, [...messages, { role: "tool", content: [response] }]);
  },
};
