import type { ModelMessage } from "ai";
import type { ConversationMessage } from "../conversation.ts";

/** Converts the AI SDK's messages. Omits system messages, which are not relevant for choosing tools. */
export function toConversation(messages: readonly ModelMessage[]): readonly ConversationMessage[] {
  return messages.flatMap((message): ConversationMessage[] => {
    const { role, content } = message;
    switch (role) {
      case "system":
        return [];
      case "user":
        return [{ role, text: textIn(content) }];
      case "assistant": {
        const parts = typeof content === "string" ? [] : content;
        const calls = parts.flatMap((part) =>
          part.type === "tool-call" && part.providerExecuted !== true
            ? [{ id: part.toolCallId, name: part.toolName }]
            : [],
        );
        return [{ role, text: textIn(content), calls }];
      }
      case "tool":
        return content.flatMap((part) => {
          if (part.type !== "tool-result") return [];
          const { toolCallId: callId, toolName: name, output } = part;
          const failed = output.type === "error-text" || output.type === "error-json";
          const value = output.type === "execution-denied" ? output.reason : output.value;
          return [{ role, callId, name, value, failed }];
        });
    }
  });
}

/** True if a person approved the call in this conversation. */
export function isApproved(messages: readonly ModelMessage[], callId: string): boolean {
  const asked = messages.flatMap(({ role, content }) =>
    role === "assistant" && typeof content !== "string"
      ? content.flatMap((part) =>
          part.type === "tool-approval-request" && part.toolCallId === callId ? [part.approvalId] : [],
        )
      : [],
  );
  return messages.some(
    ({ role, content }) =>
      role === "tool" &&
      content.some(
        (part) => part.type === "tool-approval-response" && part.approved && asked.includes(part.approvalId),
      ),
  );
}

function textIn(content: ModelMessage["content"]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
