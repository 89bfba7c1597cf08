import type { Principal } from "../../guard/principal.ts";
import type { RetrievalResult } from "../../retrieve/result.ts";
import type { ArsenalEvent } from "../events.ts";
import type { CallRecord, RetrievalRecord } from "./record.ts";

/** The part of a query that the history keeps. */
interface RecordedQuery {
  readonly context: { readonly query: string };
  readonly toolset?: string;
  readonly principal?: Principal;
}

/** Creates the record of a retrieval, without its explanation. */
export function toRetrievalRecord(
  { context, toolset, principal }: RecordedQuery,
  result: RetrievalResult,
  at: number,
): Omit<RetrievalRecord, "explanation"> {
  const { tools: _tools, nearest: _nearest, explanation: _explanation, rerankError: _error, ...kept } = result;
  const { totalTimeMs: durationMs, ...rest } = kept;
  return {
    ...rest,
    kind: "retrieval",
    at: Math.round(at),
    query: context.query,
    durationMs,
    ...(toolset !== undefined && { toolset }),
    ...(principal !== undefined && { principal: principal.id }),
    ...(principal?.tenant !== undefined && { tenant: principal.tenant }),
  };
}

export function toCallRecord({ at, data }: ArsenalEvent<"call-finished">): CallRecord {
  const { toolId, ensemble, traceId, spanId, parentSpanId, toolset, status, code, message, cached } = data;
  const { attempts, queuedMs, latencyMs, principal, tenant, cost, startedAt, durationMs, steps } = data;
  const record: { -readonly [Key in keyof CallRecord]: CallRecord[Key] } = {
    kind: "call",
    at,
    traceId,
    spanId,
    toolId,
    status,
    attempts,
    queuedMs,
    latencyMs,
    startedAt,
    durationMs,
    steps,
    principal,
  };
  // Runs for every call, and object spreads would cost more than the rest of the function.
  if (parentSpanId !== undefined) record.parentSpanId = parentSpanId;
  if (ensemble !== undefined) record.ensemble = ensemble;
  if (toolset !== undefined) record.toolset = toolset;
  if (code !== undefined) record.code = code;
  if (message !== undefined) record.message = message;
  if (cached !== undefined) record.cached = cached;
  if (tenant !== undefined) record.tenant = tenant;
  if (cost !== undefined) record.cost = cost;
  return record;
}
