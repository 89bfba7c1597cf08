import type { ToolArsenal, Principal } from "../../src/index.ts";
import type { GivenTools } from "../../src/transcode/import-tools.ts";

/** One task for a framework's agent. */
export interface FrameworkTask {
  readonly arsenal: ToolArsenal;
  /** The address of a model that takes OpenAI's Chat Completions. */
  readonly baseURL: string;
  readonly prompt: string;
  /** The most tools of one turn. */
  readonly limit: number;
  readonly principal: Principal;
  /** The person whose answers to the framework's approval questions count. */
  readonly approver: Principal;
  readonly signal: AbortSignal;
}

/** What a framework's agent ended with, read from the framework's own result. */
export interface FrameworkRun {
  /** The model's last text. */
  readonly text: string;
  /** The calls in order, as the framework shows their outcomes. */
  readonly calls: readonly FrameworkCall[];
  /** The messages of progress reports, as the framework shows them. */
  readonly progress: readonly string[];
  /** The run as text, if it waits for an approval. */
  readonly saved?: string;
}

/** A call as a framework shows it. */
export interface FrameworkCall {
  readonly name: string;
  /** Whether the framework counts it as failed. */
  readonly failed: boolean;
  /** The result or the error, as text. */
  readonly text: string;
}

/** A claim of the contract suite that a row can skip. */
export type FrameworkCell =
  | "multi-step"
  | "tool error"
  | "denial"
  | "approval"
  | "approval denied"
  | "cancel"
  | "progress"
  | "unknown outcome";

/** One framework in the contract suite: how its own agent is driven. */
export interface FrameworkRow {
  /** Claims that the framework has no terms for, each with the explanation. */
  readonly skipped: Partial<Record<FrameworkCell, string>>;
  /** Runs a task to its end, or until a call waits for a person. Rejects if the framework ends a cancelled run with an error. */
  run(task: FrameworkTask): Promise<FrameworkRun>;
  /** The id of the principal that the row reads from the framework's request context. Defaults to that of the task. */
  readonly caller?: string;
  /** The framework's own tool `double`, which doubles the number `x`, for `arsenal.add`. */
  readonly ownTools?: GivenTools;
  /** Continues a run in another process, with the person's answer. */
  resume(task: FrameworkTask, saved: string, answer: "approve" | "deny"): Promise<FrameworkRun>;
}
