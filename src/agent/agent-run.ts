import type { ToolResult } from "../execute/result.ts";
import type { AgentMessage, TokenUsage } from "./llm.port.ts";
import type { SavedRun } from "./saved-run.ts";

/** One run of an agent: a request being worked on. It has started; iterate it to follow its events from the first one. */
export interface AgentRun extends AsyncIterable<AgentEvent> {
  /** How the run ended. Rejects with the model's error if the model failed. `save` and `resume` can then continue the run. */
  readonly result: Promise<AgentResult>;
  /**
   * The current state of the run as plain JSON, at any time. It contains the conversation with arguments and results, but no keys and not the
   * caller's identity.
   */
  save(): SavedRun;
}

/**
 * How a run ended. `answered`: the model gave its answer. `paused`: calls wait for approval. `aborted`: its signal fired. `step-limit`,
 * `token-limit`: a budget was used up. `cut-off`: the answer was too long for the model. `refused`: the provider blocked the answer.
 */
export type RunStatus = "answered" | "paused" | "aborted" | "step-limit" | "token-limit" | "cut-off" | "refused";

/** The outcome of a run. */
export interface AgentResult {
  readonly status: RunStatus;
  /** The answer, or the model's last text in this run. */
  readonly text: string;
  /** The calls that wait for approval. */
  readonly approvals: readonly NeededApproval[];
  /** The whole conversation, with every call answered. Pass it as `history` to the next run. */
  readonly messages: readonly AgentMessage[];
  /** The number of requests to the model. */
  readonly steps: number;
  readonly usage: TokenUsage;
  /** The trace id of every search and call of the run, also in the audit log. */
  readonly traceId: string;
}

/** A call that a person must approve before it runs. */
export interface NeededApproval {
  readonly confirmationId: string;
  readonly callId: string;
  readonly toolName: string;
  readonly toolId?: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Why it needs approval, and how to approve it. */
  readonly message: string;
}

/** A tool of the catalog that was sent to the model, and why. `find_tools` is not listed. */
export interface OfferedTool {
  readonly id: string;
  /**
   * `pinned`: in every request. `found`: by the model's own search. `used`: called earlier in the conversation. `retrieved`: matches the request or
   * the model's last text.
   */
  readonly because: "pinned" | "found" | "used" | "retrieved";
  /** The retrieval score, if the tool was retrieved. */
  readonly score?: number;
}

/** An event of a run, in order. `step` counts the model's turns from 1. */
export type AgentEvent =
  | { readonly type: "step-started"; readonly step: number }
  | { readonly type: "tools-offered"; readonly step: number; readonly tools: readonly OfferedTool[] }
  /** A piece of the model's text, or all of it if the agent does not stream. */
  | { readonly type: "text"; readonly step: number; readonly text: string }
  | {
      readonly type: "call-started";
      readonly step: number;
      readonly callId: string;
      readonly toolName: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "call-finished"; readonly step: number; readonly callId: string; readonly result: ToolResult }
  | { readonly type: "approval-needed"; readonly step: number; readonly approval: NeededApproval }
  | {
      readonly type: "finished";
      readonly status: RunStatus | "failed";
      readonly text: string;
      readonly steps: number;
      readonly usage: TokenUsage;
      /** Why the run failed. */
      readonly error?: { readonly code?: string; readonly message: string };
    };
