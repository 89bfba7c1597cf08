import { ArsenalError, fixable, isArsenalError } from "../errors/arsenal-error.ts";
import type { BatchResult, ResultError, ToolResult } from "../execute/result.ts";
import type { Progress } from "../tool/handler.ts";
import type { RemoteBatch, RemoteCall } from "./arsenal.ts";
import { readEvents } from "./events.ts";
import type { FetchedResponse } from "./fetched.ts";
import type { Http } from "./http.ts";
import { readJson, readProblem, toStreamedError } from "./problem.ts";

/** The client sets no timeout, because the gateway enforces the time limits of calls. */
const CALL = { method: "POST", timeoutMs: Number.POSITIVE_INFINITY } as const;

/** Runs a call at the gateway. A call without a response is a result too: its error describes the outcome. */
export async function execute(http: Http, given: RemoteCall): Promise<ToolResult> {
  const { signal, onProgress, ...call } = given;
  const queuedAt = Date.now();
  refusePrincipal(call);
  const headers = { accept: onProgress === undefined ? "application/json" : "text/event-stream" };
  const safe = call.idempotencyKey !== undefined;
  try {
    const asked = { ...CALL, path: "/execute", body: call, headers, safe, signal };
    return await http.send(asked, (response, alive) => readResult(response, onProgress, alive));
  } catch (error) {
    return unanswered(call, error, queuedAt);
  }
}

export async function executeBatch(http: Http, given: RemoteBatch): Promise<BatchResult> {
  const { signal, ...batch } = given;
  const queuedAt = Date.now();
  for (const call of batch.calls) refusePrincipal(call);
  const safe = batch.calls.every(({ idempotencyKey }) => idempotencyKey !== undefined);
  try {
    const asked = { ...CALL, path: "/batch", body: batch, safe, signal, malformed: "CALL_INVALID" } as const;
    return await http.json<BatchResult>(asked);
  } catch (error) {
    // The batch itself is invalid, or has no calls whose results could carry the error.
    if (batch.calls.length === 0 || (isArsenalError(error) && error.code === "CALL_INVALID")) throw error;
    const results = batch.calls.map((call) => unanswered(call, error, queuedAt));
    return { results, totalTimeMs: Date.now() - queuedAt, successfulCount: 0, failedCount: results.length };
  }
}

/** Rejects calls with a principal, because ignoring the principal would run the call with the client's rights. */
export function refusePrincipal(given: object): void {
  const { principal } = given as { readonly principal?: unknown };
  if (principal === undefined) return;
  const problem = `"principal" cannot be sent: the client's credentials identify the caller.`;
  const fix = "Leave it out, and create a client with the credentials of that caller.";
  throw fixable("INPUT_INVALID", problem, fix, { field: "principal" });
}

async function readResult(
  response: FetchedResponse,
  onProgress: RemoteCall["onProgress"],
  alive: () => void,
): Promise<ToolResult> {
  if (!response.ok) {
    const { error, result } = await readProblem(response, "CALL_INVALID");
    if (result === undefined) throw error;
    return result as ToolResult;
  }
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true)
    return (await readJson(response)) as ToolResult;
  for await (const { event, data } of readEvents(response, alive)) {
    if (event === "result") return JSON.parse(data) as ToolResult;
    if (event === "error") throw toStreamedError(data);
    if (event === "progress") tell(onProgress, JSON.parse(data) as Progress);
  }
  throw new Error("the answer ended before the result");
}

function tell(onProgress: RemoteCall["onProgress"], update: Progress): void {
  try {
    onProgress?.(update);
  } catch {
    // An error of the listener does not stop the call.
  }
}

/** Returns the result of a call without a response. Rethrows the error if the request itself is invalid. */
function unanswered(call: Omit<RemoteCall, "signal" | "onProgress">, error: unknown, queuedAt: number): ToolResult {
  if (!isArsenalError(error)) throw error;
  const { toolName, traceId = "" } = call;
  return {
    toolName,
    status: error.code === "CANCELLED" ? "cancelled" : "failure",
    error: fateOf(toolName, error),
    queuedAt,
    completedAt: Date.now(),
    latencyMs: 0,
    attempts: error.details.beforeSend === true || error.code === "CALL_INVALID" ? 0 : 1,
    traceId,
    spanId: "",
  };
}

/** Describes the outcome of a call whose request failed. */
function fateOf(toolName: string, error: ArsenalError): ResultError {
  const { code, message, details } = error;
  const { beforeSend = false } = details;
  if (code === "CANCELLED") {
    const effect = beforeSend ? "It was not started." : "If it had started, it may have taken effect.";
    return { ...details, code, message: `The call of ${toolName} was cancelled. ${effect}` };
  }
  if (beforeSend || code === "CALL_INVALID") return { ...details, code, message };
  if (code !== "TRANSPORT_FAILED" && code !== "SOURCE_UNAVAILABLE") throw error;
  const fix = "Check whether it did before you repeat it, or call with an idempotencyKey.";
  const lost = `The answer to the call of ${toolName} was lost, and it may have taken effect: ${message} ${fix}`;
  return { code: "OUTCOME_UNKNOWN", message: lost, fix };
}

/** Throws a failed result as an error if `onFailure` is `"throw"`. */
export function thrownIfFailed(result: ToolResult): ToolResult {
  const { status, error } = result;
  if (status === "success" || status === "pending_confirmation" || error === undefined) return result;
  const { code, message, ...details } = error;
  throw new ArsenalError(code, message, { ...details, cause: result });
}
