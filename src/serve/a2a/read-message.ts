import { present } from "../../base/present.ts";
import { type Message, Role, type Task } from "@a2a-js/sdk";
import { isPlainObject } from "../../tool/json-schema.ts";
import { bytesLeftOut } from "./tasks/kept-task.ts";

export type MessageRequest =
  | { readonly kind: "call"; readonly call: RequestedCall }
  | { readonly kind: "text"; readonly text: string; readonly limit?: number }
  | { readonly kind: "invalid"; readonly message: string };

export interface RequestedCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly confirmationId?: string;
  readonly idempotencyKey?: string;
}

const HOW = 'Send a text, or a data part such as {"tool": "billing.refund_user", "arguments": {"id": "42"}}.';

/**
 * Reads a message. A data part with `tool` is a call. A data part with only `confirmationId` repeats the call of its task. Texts are a search
 * request.
 */
export function readMessage(message: Message, task: Task | undefined): MessageRequest {
  const data = dataOf(message);
  const text = message.parts
    .map(({ content }) => (content?.$case === "text" ? content.value : ""))
    .filter((each) => each.trim() !== "")
    .join("\n");
  const isAnswer = data?.["tool"] === undefined && data?.["confirmationId"] !== undefined;
  const last = isAnswer ? lastRequest(task) : undefined;
  if (last !== undefined && bytesLeftOut(last) > 0)
    return invalid(
      "The call of this task was too large to be stored. Send its tool and arguments again, with the confirmationId.",
    );
  const call = isAnswer ? { ...(last && dataOf(last)), ...data } : data;
  if (call !== undefined && call["tool"] !== undefined) return readCall(call);
  if (isAnswer) return invalid(`confirmationId needs the call that it is for. ${HOW}`);
  if (text === "") return invalid(`The message contains no request. ${HOW}`);
  const limit = data?.["limit"];
  if (limit !== undefined && !(Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= 50))
    return invalid("limit must be a whole number from 1 to 50.");
  return { kind: "text", text, ...(limit !== undefined && { limit: Number(limit) }) };
}

function readCall(data: Readonly<Record<string, unknown>>): MessageRequest {
  const { tool, arguments: given = {}, confirmationId, idempotencyKey } = data;
  if (typeof tool !== "string" || tool.trim() === "") return invalid(`tool must be the name of a tool. ${HOW}`);
  if (!isPlainObject(given)) return invalid(`arguments must be an object. ${HOW}`);
  for (const [name, value] of Object.entries({ confirmationId, idempotencyKey }))
    if (value !== undefined && typeof value !== "string") return invalid(`${name} must be a string.`);
  return { kind: "call", call: present({ tool, arguments: given, confirmationId, idempotencyKey }) as RequestedCall };
}

/** Returns the toolset that a data part or the skill's id names; undefined if the message is for the whole agent. */
export function toolsetOf(
  message: Message,
  metadata: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const { toolset } = dataOf(message) ?? {};
  if (typeof toolset === "string") return toolset;
  const skillId: unknown = message.metadata?.["skillId"] ?? metadata?.["skillId"];
  const isToolset = typeof skillId === "string" && skillId.startsWith(TOOLSET_SKILL);
  return isToolset ? skillId.slice(TOOLSET_SKILL.length) : undefined;
}

const TOOLSET_SKILL = "toolset_";

export const toSkillId = (toolset: string): string => TOOLSET_SKILL + toolset;

function dataOf({ parts }: Message): Readonly<Record<string, unknown>> | undefined {
  for (const { content } of parts) if (content?.$case === "data" && isPlainObject(content.value)) return content.value;
  return undefined;
}

/** Returns the last message of a task that contained a call, or that was not stored completely. */
function lastRequest(task: Task | undefined): Message | undefined {
  return task?.history.findLast(
    (message) =>
      message.role === Role.ROLE_USER && (dataOf(message)?.["tool"] !== undefined || bytesLeftOut(message) > 0),
  );
}

function invalid(message: string): MessageRequest {
  return { kind: "invalid", message };
}
