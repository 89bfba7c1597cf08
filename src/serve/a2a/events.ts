import { randomUUID } from "node:crypto";
import { type Message, type Part, Role, type Task, TaskState } from "@a2a-js/sdk";
import { AgentEvent, type ExecutionEventBus, type RequestContext } from "@a2a-js/sdk/server";
import { WRAPPED } from "../../adapters/sources/a2a/messages.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { writeData } from "../../tool/schema/plain-data.ts";

export function textPart(value: string): Part {
  return { content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "text/plain" };
}

/** Creates a part with JSON. Version 0.3 accepts only objects, so any other value is wrapped in `value`, and the part's metadata marks it. */
export function dataPart(value: unknown): Part {
  const [data, metadata] = isPlainObject(value) ? [value, undefined] : [{ value }, { [WRAPPED]: true }];
  return { content: { $case: "data", value: data }, metadata, filename: "", mediaType: "application/json" };
}

/** Converts the output of a tool to parts: text as text, each block of an MCP result by its type, other values as data. */
export function resultParts(value: unknown): Part[] {
  if (typeof value === "string") return [textPart(value)];
  const json = toJson(value);
  if (json === undefined) return [textPart(value === undefined ? "(nothing)" : String(value))];
  if (!isPlainObject(json) || !Array.isArray(json["content"])) return [dataPart(json)];
  const { content, structuredContent } = json;
  const blocks = content.map(blockPart);
  if (content.length === 0 || blocks.includes(undefined)) return [dataPart(json)];
  const structured = structuredContent === undefined ? [] : [dataPart(structuredContent)];
  return [...structured, ...blocks.filter((part) => part !== undefined)];
}

/** Converts one content block of an MCP result; undefined if the value is not a block. */
function blockPart(block: unknown): Part | undefined {
  if (!isPlainObject(block)) return undefined;
  const { type, text, data, mimeType } = block;
  if (type === "text" && typeof text === "string") return textPart(text);
  if ((type === "image" || type === "audio") && typeof data === "string") {
    const mediaType = typeof mimeType === "string" ? mimeType : "application/octet-stream";
    const content = { $case: "raw", value: Buffer.from(data, "base64") } as const;
    return { content, metadata: undefined, filename: "", mediaType };
  }
  return type === "resource" || type === "resource_link" ? dataPart(block) : undefined;
}

function toJson(value: unknown): unknown {
  const text = writeData(value)?.text;
  return text === undefined ? undefined : JSON.parse(text);
}

export interface TaskReport {
  /** Must be called first. */
  begin(): void;
  working(parts?: readonly Part[], metadata?: Readonly<Record<string, unknown>>): void;
  artifact(artifact: ReportedArtifact): void;
  /** Must be called last. */
  end(state: EndState, parts?: readonly Part[]): void;
}

export interface ReportedArtifact {
  /** Also the id of the artifact. */
  readonly name: string;
  readonly parts: readonly Part[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** True appends the parts to the earlier parts with the same name. */
  readonly append?: boolean;
  /** False if more parts follow. */
  readonly last?: boolean;
}

export type EndState = "completed" | "failed" | "canceled" | "input-required";

const STATES: Readonly<Record<EndState, TaskState>> = {
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
  "input-required": TaskState.TASK_STATE_INPUT_REQUIRED,
};

export function createReport(
  { taskId, contextId, task }: Pick<RequestContext, "taskId" | "contextId" | "task">,
  bus: ExecutionEventBus,
  clock: Pick<Clock, "now"> = systemClock,
): TaskReport {
  const status = (state: TaskState, parts: readonly Part[] | undefined): NonNullable<Task["status"]> => ({
    state,
    message: parts && agentMessage(parts, { taskId, contextId }),
    timestamp: new Date(clock.now()).toISOString(),
  });
  const update = (state: TaskState, parts: readonly Part[] | undefined, metadata: object = {}): void => {
    const event = { taskId, contextId, status: status(state, parts), metadata: { ...metadata } };
    bus.publish(AgentEvent.statusUpdate(event));
  };

  return {
    begin() {
      const started = { id: taskId, contextId, artifacts: [], history: [], metadata: undefined, ...task };
      bus.publish(AgentEvent.task({ ...started, status: status(TaskState.TASK_STATE_SUBMITTED, undefined) }));
    },
    working: (parts, metadata) => update(TaskState.TASK_STATE_WORKING, parts, metadata),
    artifact({ name, parts: [...parts], metadata: about, append = false, last = true }) {
      const metadata = about && { ...about };
      const artifact = { artifactId: name, name, description: "", parts, metadata, extensions: [] };
      const event = { taskId, contextId, artifact, append, lastChunk: last, metadata: undefined };
      bus.publish(AgentEvent.artifactUpdate(event));
    },
    end: (state, parts) => update(STATES[state], parts),
  };
}

export function agentMessage(
  parts: readonly Part[],
  { taskId, contextId }: { readonly taskId: string; readonly contextId: string },
): Message {
  return {
    messageId: randomUUID(),
    contextId,
    taskId,
    role: Role.ROLE_AGENT,
    parts: [...parts],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}
