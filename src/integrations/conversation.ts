import type { AgentMessage } from "../agent/llm.port.ts";
import type { ToolResult } from "../execute/result.ts";
import { fromAlias } from "../transcode/alias.ts";
import type { ReadCall } from "../transcode/dialect.port.ts";

/** A message of a conversation, reduced to the parts that retrieval reads. Integrations create it from their framework's messages. */
export type ConversationMessage =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls?: readonly ConversationCall[] }
  | {
      readonly role: "tool";
      readonly callId: string;
      /** The name that the model called. */
      readonly name: string;
      /** The result that the model reads: data or text. */
      readonly value: unknown;
      readonly failed?: boolean;
    };

/** A call in a turn of the model. */
export interface ConversationCall {
  readonly id: string;
  readonly name: string;
}

/** Converts messages for `offerTools`, which chooses the tools of a turn. */
export function toAgentMessages(messages: readonly ConversationMessage[]): readonly AgentMessage[] {
  return messages.map((message): AgentMessage => {
    switch (message.role) {
      case "user":
        return message;
      case "assistant":
        return { role: "assistant", text: message.text, calls: (message.calls ?? []).map(toReadCall) };
      case "tool": {
        const read = toReadCall({ id: message.callId, name: message.name });
        return { role: "tool", results: [{ read, result: toResult(message) }], format: "native" };
      }
    }
  });
}

/** Returns the conversation's request: the last text of the user. */
export function requestIn(messages: readonly ConversationMessage[]): string {
  const last = messages.findLast(({ role }) => role === "user");
  return last?.role === "user" ? last.text : "";
}

/** Returns the names of calls without a result, which a resumed run still has to make. */
export function openCallsIn(messages: readonly ConversationMessage[]): readonly string[] {
  const answered = new Set(messages.flatMap((message) => (message.role === "tool" ? [message.callId] : [])));
  const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.calls ?? []) : []));
  return [...new Set(calls.filter(({ id }) => !answered.has(id)).map(({ name }) => name))];
}

function toReadCall({ id, name }: ConversationCall): ReadCall {
  return { id, call: { toolName: name } };
}

/** Fills in the other fields of a result. Retrieval reads only the tool, the status and the value. */
function toResult({
  name,
  value,
  failed = false,
}: Extract<ConversationMessage, { readonly role: "tool" }>): ToolResult {
  const toolId = fromAlias(name);
  return {
    toolName: name,
    ...(toolId !== undefined && { toolId }),
    status: failed ? "failure" : "success",
    result: value,
    queuedAt: 0,
    completedAt: 0,
    latencyMs: 0,
    attempts: 1,
    traceId: "",
    spanId: "",
  };
}
