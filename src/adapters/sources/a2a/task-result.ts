import { ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import type { Artifact, MessagePart, TaskState, Update } from "./messages.ts";

export interface FollowedTask {
  taskId?: string | undefined;
  contextId?: string | undefined;
  state: TaskState;
  said: readonly MessagePart[];
  readonly artifacts: Map<string, MessagePart[]>;
  /** Approximate size of the artifacts. Limits agents that send them over many updates. */
  bytes: number;
}

/** States in which the agent is still working. */
const UNSETTLED: ReadonlySet<TaskState> = new Set<TaskState>(["submitted", "working", "unknown"]);

/** The most bytes of files in one result, before base64. */
const MAX_FILE_BYTES = 1024 * 1024;

export function isSettled({ state }: Pick<FollowedTask, "state">): boolean {
  return !UNSETTLED.has(state);
}

export function applyUpdate(task: FollowedTask, update: Update): void {
  task.taskId = update.taskId ?? task.taskId;
  task.contextId = update.contextId ?? task.contextId;
  if (update.kind === "artifact") return addArtifact(task, update.artifact, update.append);
  task.said = update.parts;
  task.state = update.kind === "message" ? "completed" : update.state;
  if (update.kind === "task") for (const artifact of update.artifacts) addArtifact(task, artifact, false);
}

function addArtifact(task: FollowedTask, { id, parts }: Artifact, append: boolean): void {
  const before = task.artifacts.get(id);
  task.bytes += sizeOf(parts);
  if (append && before !== undefined) return join(before, parts);
  task.bytes += id.length - (before === undefined ? 0 : sizeOf(before) + id.length);
  task.artifacts.set(id, [...parts]);
}

/** Appends parts to an artifact. Joins pieces of one text that arrive in several updates. */
function join(before: MessagePart[], [first, ...rest]: readonly MessagePart[]): void {
  const last = before.at(-1);
  if (first === undefined) return;
  if (last?.kind === "text" && first.kind === "text")
    before[before.length - 1] = { kind: "text", text: last.text + first.text };
  else before.push(first);
  for (const part of rest) before.push(part);
}

/** Overhead of one part. */
const PART_BYTES = 64;

function sizeOf(parts: readonly MessagePart[]): number {
  return parts.reduce((total, part) => total + PART_BYTES + contentSize(part), 0);
}

function contentSize(part: MessagePart): number {
  switch (part.kind) {
    case "text":
      return part.text.length;
    case "data":
      return JSON.stringify(part.data)?.length ?? 0;
    case "file":
      return (part.url ?? part.base64 ?? "").length;
  }
}

/**
 * Returns the result of a settled task, with the ids that continue its conversation. Throws EXECUTION_FAILED if the agent failed, or if it requires
 * input that a call cannot provide.
 */
export function toAnswer(task: FollowedTask, agent: string, tool: string) {
  const { state, taskId, contextId } = task;
  const ids = { ...(taskId !== undefined && { taskId }), ...(contextId !== undefined && { contextId }) };
  const details = { value: { state, ...ids }, answered: true };
  const because = textOf(task.said) || "it gave no reason";
  const verb = FAILURES[state];
  if (verb !== undefined) throw new ArsenalError("EXECUTION_FAILED", `The agent ${agent} ${verb}: ${because}`, details);
  if (state === "auth-required") {
    const problem = `The agent ${agent} needs an authorization before it continues: ${because.replace(/\.$/, "")}.`;
    const fix = `Give the agent what it asks for, then call ${tool} again with taskId ${JSON.stringify(taskId)}.`;
    throw fixable("EXECUTION_FAILED", problem, fix, details);
  }
  const made = [...task.artifacts.values(), task.said];
  const data = made.flat().flatMap((part) => (part.kind === "data" ? [part.data] : []));
  const files = toFiles(made.flat());
  const texts = made.map(textOf).filter((text) => text !== "");
  const next = `Call ${tool} again with this taskId and contextId, and the answer as message.`;
  return {
    state,
    text: [...new Set(texts)].join("\n\n"),
    ...(data.length > 0 && { data }),
    ...(files.length > 0 && { files }),
    ...ids,
    ...(state === "input-required" && { next }),
  };
}

const FAILURES: Partial<Record<TaskState, string>> = {
  failed: "failed",
  rejected: "rejected the task",
  canceled: "cancelled the task",
};

export function textOf(parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}

/** Returns the files that an agent made. Contents are included until they total 1 MiB. */
function toFiles(parts: readonly MessagePart[]): readonly object[] {
  let left = MAX_FILE_BYTES;
  return parts.flatMap((part) => {
    if (part.kind !== "file") return [];
    const { kind: _kind, base64, ...about } = part;
    if (base64 === undefined) return [about];
    const bytes = Buffer.byteLength(base64, "base64");
    if (bytes > left) return [{ ...about, bytes }];
    left -= bytes;
    return [{ ...about, bytes, base64 }];
  });
}
