import { type ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import type { ToolResult } from "../execute/result.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import type { ReadCall } from "../transcode/dialect.port.ts";
import type { RunStatus } from "./agent-run.ts";
import type { AgentMessage, TokenUsage } from "./llm.port.ts";

const TYPE = "toolarsenal/agent-run";
const VERSION = 1;

/** A run as plain JSON. `agent.resume` continues it in this process or another. */
export interface SavedRun extends RunState {
  readonly type: typeof TYPE;
  readonly version: typeof VERSION;
}

export interface RunState {
  readonly agent: string;
  readonly traceId: string;
  readonly request: string;
  readonly summary?: string;
  readonly toolset?: string;
  readonly status: RunStatus | "running" | "failed";
  readonly steps: number;
  readonly usage: TokenUsage;
  /** Oldest first. Ends with the turn whose calls are in `open`, if there are any. */
  readonly messages: readonly AgentMessage[];
  readonly open?: OpenStep;
}

/** The step of a saved run whose calls have not all ended. */
export interface OpenStep {
  readonly format: "native" | "text";
  readonly calls: readonly OpenCall[];
}

/** One open call. If it has no result, it had started when the run was saved, and its outcome is unknown. */
export interface OpenCall {
  readonly read: ReadCall;
  readonly result?: ToolResult;
}

export function toSavedRun(state: RunState): SavedRun {
  return JSON.parse(JSON.stringify({ type: TYPE, version: VERSION, ...state })) as SavedRun;
}

/** Checks a saved run. Throws INPUT_INVALID with the reason if it is invalid. */
export function fromSavedRun(given: unknown): RunState {
  if (!isPlainObject(given) || given["type"] !== TYPE)
    throw invalid("", given, "is not a saved run", "Pass what run.save() returned, or the parsed JSON of it.");
  const { type: _type, version, ...state } = given;
  if (typeof version === "number" && version > VERSION) {
    const fix = "Resume it with the version that saved it, or update.";
    throw invalid("version", version, `is newer than ${VERSION}`, fix);
  }
  if (version !== VERSION) throw invalid("version", version, `must be ${VERSION}`, START_AGAIN);
  for (const [field, isRight] of Object.entries(FIELDS))
    if (!isRight(state[field])) throw invalid(field, state[field], "has the wrong shape", START_AGAIN);
  return state as unknown as RunState;
}

/** Returns true if the model finished its answer, so that there is nothing to resume. */
export function hasEnded({ status }: Pick<RunState, "status">): boolean {
  return ENDED.includes(status);
}

/** Returns the state of a saved run that an agent with this toolset can continue. Throws INPUT_INVALID if it cannot. */
export function toResumed(saved: unknown, toolset?: string): RunState {
  const state = fromSavedRun(saved);
  if (toolset !== undefined && state.toolset !== undefined && state.toolset !== toolset) {
    const fix = "Create the agent with the run's toolset, or without a toolset.";
    throw invalid("toolset", state.toolset, `is not the agent's toolset, ${showValue(toolset)}`, fix);
  }
  if (!hasEnded(state)) return toolset === undefined ? state : { ...state, toolset };
  const fix = "Start a new run, with its messages as history.";
  throw invalid("status", state.status, "is already answered", fix);
}

const ENDED: readonly string[] = ["answered", "refused"];
const GOES_ON: readonly string[] = ["paused", "aborted", "step-limit", "token-limit", "cut-off", "running", "failed"];
const START_AGAIN = "The file was changed or cut off. Start the run again.";

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isListOf =
  (item: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(item);
const isObjectOf =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isPlainObject(value) && Object.entries(members).every(([name, isRight]) => isRight(value[name]));
const orAbsent =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const isFormat: Check = (value) => value === "native" || value === "text";
const isRead = isObjectOf({
  id: isText,
  call: isObjectOf({ toolName: isText, arguments: orAbsent(isPlainObject) }),
  problem: orAbsent(isText),
});
const isResult = isObjectOf({ toolName: isText, status: isText, confirmationId: orAbsent(isText) });
const isMessage: Check = (value) => {
  if (!isPlainObject(value)) return false;
  switch (value["role"]) {
    case "user":
      return isText(value["text"]);
    case "assistant":
      return isText(value["text"]) && isListOf(isRead)(value["calls"]);
    case "tool":
      return isFormat(value["format"]) && isListOf(isObjectOf({ read: isRead, result: isResult }))(value["results"]);
    default:
      return false;
  }
};

const FIELDS: Readonly<Record<keyof RunState, Check>> = {
  agent: isText,
  traceId: (value) => typeof value === "string" && /^[0-9a-f]{32}$/.test(value),
  request: isText,
  summary: orAbsent(isText),
  toolset: orAbsent(isText),
  status: (value) => [...ENDED, ...GOES_ON].includes(String(value)),
  steps: isCount,
  usage: isObjectOf({ inputTokens: isCount, outputTokens: isCount }),
  messages: (value) => isListOf(isMessage)(value) && (value as readonly unknown[]).length > 0,
  open: orAbsent(
    isObjectOf({ format: isFormat, calls: isListOf(isObjectOf({ read: isRead, result: orAbsent(isResult) })) }),
  ),
};

function invalid(field: string, value: unknown, problem: string, fix: string): ArsenalError {
  const what = field === "" ? showValue(value) : `${field} ${showValue(value)}`;
  return fixable("INPUT_INVALID", `Cannot resume the run: ${what} ${problem}.`, fix, { field, value });
}
