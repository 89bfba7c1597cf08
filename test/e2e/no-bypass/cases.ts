import type { CallRecord } from "./place.ts";
import type { Seen } from "./surface.ts";

/** One thing that can become of a call. */
export interface Case {
  readonly what: string;
  /** The namespace of a tool that it becomes of. */
  readonly verdict: "open" | "closed" | "secret" | "waits";
  readonly tool: "echo" | "check";
  readonly args: object;
  /** What the caller learns. */
  readonly seen: Seen;
  /** What is recorded, beside the tool and the caller. */
  readonly record: Pick<CallRecord, "decision" | "status" | "code" | "attempts" | "arguments">;
}

const HI = { text: "hi" };
/** As a record has them: hashed, and the types they are made of. */
const HI_RECORDED = {
  sha256: "e7b995efa755c5ff3b84d2188b58cb4ae916a59470eb3761df8a814f11763500",
  shape: { text: "string" },
};
const NOTHING_RECORDED = { sha256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", shape: {} };

/** What can become of a call, in the order they are made: the limit is one call a minute of each tool. */
export const CASES: readonly Case[] = [
  {
    what: "allowed",
    verdict: "open",
    tool: "echo",
    args: HI,
    seen: { status: "success" },
    record: { decision: { effect: "allowed" }, status: "success", attempts: 1, arguments: HI_RECORDED },
  },
  {
    what: "limited",
    verdict: "open",
    tool: "echo",
    args: HI,
    seen: { status: "failure", code: "RATE_LIMITED" },
    record: {
      decision: { effect: "denied", rule: "rate-limit" },
      status: "failure",
      code: "RATE_LIMITED",
      attempts: 0,
      arguments: HI_RECORDED,
    },
  },
  {
    what: "denied and visible",
    verdict: "closed",
    tool: "echo",
    args: HI,
    seen: { status: "permission_denied", code: "PERMISSION_DENIED" },
    record: {
      decision: { effect: "denied", rule: "shut" },
      status: "permission_denied",
      code: "PERMISSION_DENIED",
      attempts: 0,
      arguments: HI_RECORDED,
    },
  },
  {
    what: "hidden",
    verdict: "secret",
    tool: "echo",
    args: HI,
    seen: { status: "failure", code: "TOOL_NOT_FOUND" },
    record: {
      decision: { effect: "denied", rule: "not-visible" },
      status: "failure",
      code: "TOOL_NOT_FOUND",
      attempts: 0,
      arguments: HI_RECORDED,
    },
  },
  {
    what: "pending",
    verdict: "waits",
    tool: "echo",
    args: HI,
    seen: { status: "pending_confirmation", code: "CONFIRMATION_REQUIRED", confirmation: true },
    record: {
      decision: { effect: "pending", rule: "asked" },
      status: "pending_confirmation",
      code: "CONFIRMATION_REQUIRED",
      attempts: 0,
      arguments: HI_RECORDED,
    },
  },
  {
    what: "of wrong arguments",
    verdict: "open",
    tool: "check",
    args: {},
    seen: { status: "failure", code: "ARGUMENTS_INVALID" },
    record: {
      decision: { effect: "none" },
      status: "failure",
      code: "ARGUMENTS_INVALID",
      attempts: 0,
      arguments: NOTHING_RECORDED,
    },
  },
];
