import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { Part, TaskState, Update } from "./messages.ts";

/** What is known of a task so far, from all its updates. */
export interface FollowedTask {
  taskId: string | undefined;
  contextId: string | undefined;
  state: TaskState;
  /** What the agent said last. */
  said: readonly Part[];
  readonly artifacts: Map<string, readonly Part[]>;
}

/** What a tool of an agent returns. */
export interface AgentAnswer {
  readonly state: TaskState;
  readonly text: string;
  readonly data?: readonly unknown[];
  readonly files?: readonly AgentFile[];
  /** Pass both to continue the same conversation. */
  readonly taskId?: string;
  readonly contextId?: string;
  /** How to go on, if the agent waits for an answer. */
  readonly next?: string;
}

/** A file that an agent made: where it is, or what it holds. */
export interface AgentFile {
  readonly name?: string;
  readonly mediaType?: string;
  readonly url?: string;
  readonly bytes?: number;
  /** Omitted if the files of the answer are larger than 1 MiB together. */
  readonly base64?: string;
}

const SETTLED: ReadonlySet<TaskState> = new Set<TaskState>([
  "completed",
  "failed",
  "canceled",
  "rejected",
  "input-required",
  "auth-required",
]);

/** Bytes of files that one answer holds, before they are written as base64. */
const MAX_FILE_BYTES = 1024 * 1024;

/** True once the agent does no more by itself. */
export function isSettled({ state }: Pick<FollowedTask, "state">): boolean {
  return SETTLED.has(state);
}

/** Adds an update. */
export function applyUpdate(task: FollowedTask, update: Update): void {
  task.taskId = update.taskId ?? task.taskId;
  task.contextId = update.contextId ?? task.contextId;
  switch (update.kind) {
    case "message":
      task.state = "completed";
      task.said = update.parts;
      return;
    case "status":
      task.state = update.state;
      task.said = update.parts;
      return;
    case "task":
      task.state = update.state;
      task.said = update.parts;
      for (const { id, parts } of update.artifacts) task.artifacts.set(id, parts);
      return;
    case "artifact": {
      const { id, parts } = update.artifact;
      task.artifacts.set(id, update.append ? joined(task.artifacts.get(id) ?? [], parts) : parts);
    }
  }
}

/** The pieces of a text that comes in several updates belong together. */
function joined(before: readonly Part[], after: readonly Part[]): readonly Part[] {
  const last = before.at(-1);
  const [first, ...rest] = after;
  if (last?.kind !== "text" || first?.kind !== "text") return [...before, ...after];
  return [...before.slice(0, -1), { kind: "text", text: last.text + first.text }, ...rest];
}

/** The answer of a settled task. Throws EXECUTION_FAILED if the agent failed, or needs what a call cannot give. */
export function toAnswer(task: FollowedTask, agent: string, tool: string): AgentAnswer {
  const { state, taskId, contextId } = task;
  const ids = { ...(taskId === undefined ? {} : { taskId }), ...(contextId === undefined ? {} : { contextId }) };
  const said = textOf(task.said);
  const because = said === "" ? "it gave no reason" : said;
  const failed = (what: string, fix?: string): ArsenalError =>
    new ArsenalError("EXECUTION_FAILED", `The agent ${agent} ${what}${fix === undefined ? "" : ` ${fix}`}`, {
      value: { state, ...ids },
      answered: true,
      ...(fix === undefined ? {} : { fix }),
    });
  switch (state) {
    case "failed":
      throw failed(`failed: ${because}`);
    case "rejected":
      throw failed(`rejected the task: ${because}`);
    case "canceled":
      throw failed(`cancelled the task: ${because}`);
    case "auth-required": {
      const fix = `Give the agent what it asks for, then call ${tool} again with taskId ${JSON.stringify(taskId)}.`;
      throw failed(`needs an authorization before it continues: ${because.replace(/\.$/, "")}.`, fix);
    }
    default: {
      const parts = [...[...task.artifacts.values()].flat(), ...task.said];
      const data = parts.flatMap((part) => (part.kind === "data" ? [part.data] : []));
      const files = toFiles(parts);
      const texts = [...task.artifacts.values(), task.said].map(textOf).filter((text) => text !== "");
      const next = `Call ${tool} again with this taskId and contextId, and the answer as message.`;
      return {
        state,
        text: [...new Set(texts)].join("\n\n"),
        ...(data.length === 0 ? {} : { data }),
        ...(files.length === 0 ? {} : { files }),
        ...ids,
        ...(state === "input-required" ? { next } : {}),
      };
    }
  }
}

/** What the text parts say. */
export function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}

function toFiles(parts: readonly Part[]): readonly AgentFile[] {
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
