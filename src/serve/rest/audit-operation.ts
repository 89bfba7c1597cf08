import { randomUUID } from "node:crypto";
import { type ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import type { OperatorActionRecord } from "../../guard/audit.port.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { RestContext, RestResponse, RestRequest, Operation } from "./operation.ts";

type RecordedRequest = Pick<RestRequest<never, never, never>, "params" | "body" | "principal" | "trace">;

/** Maximum number of targets in one record. */
const MAX_TARGETS = 100;

/**
 * Runs an operation and audits it. A change is recorded before it runs, and again with its outcome, so that an action that hangs or ends the process
 * is in the log. If the audit is strict and cannot be written, rejects with AUDIT_FAILED before the operation runs.
 */
export async function runRecorded(
  operation: Operation,
  asked: RestRequest<never, never, never>,
  context: RestContext,
): Promise<RestResponse> {
  if (operation.role === undefined || operation.method === "get") return operation.run(asked, context);
  const recorder = await context.administration?.recorder();
  if (recorder === undefined) return operation.run(asked, context);
  if (operation.targets === undefined) {
    const answer = await operation.run(asked, context);
    // Answered approvals are recorded through events. These records are also stored before the answer.
    await recorder.settled();
    return answer;
  }
  const problem = await recorder.refusal(undefined, true);
  if (problem !== undefined) throw notRecorded(`${operation.id} was refused: it cannot be recorded`, problem);
  const sent: unknown = asked.body;
  // Settings may contain passwords, so their values are not recorded, regardless of the setting for calls.
  const given = isPlainObject(sent) ? { arguments: recorder.describe(sent, "shape") } : {};
  const id = randomUUID();
  const record = (outcome: Outcome): Promise<string | undefined> | undefined =>
    recorder.record({ ...recordOf(operation, asked, id, outcome), ...given });
  const unrecorded = await record({ outcome: "started" });
  if (unrecorded !== undefined) throw notRecorded(`${operation.id} was refused: it cannot be recorded`, unrecorded);
  let answer: RestResponse;
  try {
    answer = await operation.run(asked, context);
  } catch (error) {
    await record(failed(isArsenalError(error) ? error.code : "INTERNAL_ERROR"));
    throw error;
  }
  const lost = await record(outcomeOf(answer));
  if (lost !== undefined) throw notRecorded(`${operation.id} was done, but could not be recorded`, lost);
  return answer;
}

/** Records that a caller requested an operation that it may not use. Reads are never recorded. */
export async function recordDenied(
  operation: Operation,
  asked: RecordedRequest,
  { administration }: RestContext,
): Promise<void> {
  if (operation.method === "get") return;
  const recorder = await administration?.recorder();
  await recorder?.record(recordOf(operation, asked, randomUUID(), failed("PERMISSION_DENIED")));
}

type Outcome = Pick<OperatorActionRecord, "outcome" | "code"> & { readonly body?: unknown };

function failed(code: ErrorCode): Outcome {
  return { outcome: code === "PERMISSION_DENIED" ? "denied" : "failed", code };
}

function outcomeOf(answer: RestResponse): Outcome {
  if ("refused" in answer) return failed(answer.refused.code);
  const body = "body" in answer ? answer.body : undefined;
  // A failed connection is a successful answer, whose body contains the state of the ensemble.
  return { outcome: isPlainObject(body) && body["state"] === "failed" ? "failed" : "done", body };
}

function recordOf(
  operation: Operation,
  asked: RecordedRequest,
  id: string,
  { body, ...outcome }: Outcome,
): OperatorActionRecord {
  const { principal, trace } = asked;
  const targets = operation.targets?.(asked, body) ?? Object.values(asked.params);
  const more = targets.length - MAX_TARGETS;
  return {
    kind: "operator-action",
    id,
    action: operation.id,
    targets: targets.slice(0, MAX_TARGETS),
    ...(more > 0 && { more }),
    by: principal.id,
    ...(principal.tenant !== undefined && { tenant: principal.tenant }),
    ...outcome,
    ...(trace !== undefined && { traceId: trace.traceId }),
  };
}

function notRecorded(what: string, problem: string): ArsenalError {
  return fixable("AUDIT_FAILED", `${what}: ${problem}.`, "Make the audit log writable.");
}
