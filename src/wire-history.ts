import { randomUUID } from "node:crypto";
import type { ResolvedConfig } from "./config/load/resolve-config.ts";
import { stateType } from "./config/load/state-type.ts";
import type { Redactor } from "./guard/redaction/redactor.ts";
import type { Clock } from "./observe/clock.ts";
import type { Events } from "./observe/emitter.ts";
import type { ArsenalEvent } from "./observe/events.ts";
import { createHistory } from "./observe/history/history.ts";
import type { CallRecord } from "./observe/history/record.ts";
import type { ToolQuery } from "./retrieve/query.ts";
import type { RetrievalResult } from "./retrieve/result.ts";
import type { Retriever } from "./retrieve/retriever.ts";
import type { State } from "./state/state.port.ts";

/** The history of an arsenal, being written. */
export interface WiredHistory {
  /** The same retriever, whose answers are kept. */
  watch(retriever: Retriever): Retriever;
  close(): Promise<void>;
}

/** Wires the history. Undefined if it is off: unless the configuration says otherwise, it is kept if the state outlives the process. */
export function wireHistory(stages: {
  readonly config: Pick<ResolvedConfig, "telemetry" | "state">;
  readonly events: Pick<Events, "emit" | "subscribe" | "flush">;
  readonly state: State;
  readonly clock: Clock;
  readonly redactor: Redactor;
}): WiredHistory | undefined {
  const { config, events, state, clock, redactor } = stages;
  const { enabled = stateType(config.state) !== "memory", ...settings } = config.telemetry.history;
  if (!enabled) return undefined;
  const history = createHistory({ state, clock, redactor, settings, emit: events.emit, newId: randomUUID });
  const unsubscribe = events.subscribe((event) => {
    if (event.name === "call-finished") history.note(toCallRecord(event));
  });
  return {
    watch: (retriever) => ({
      async retrieve(query) {
        // The explanation is made from what ranking found anyway: nothing is searched twice.
        const { explain = true } = query ?? {};
        const { explanation, ...result } = await retriever.retrieve({
          ...query,
          explain: explain === false || explain,
        });
        if (explanation === undefined) return result;
        history.note(toRecord(query, { ...result, explanation }, clock.now()));
        return query.explain === true ? { ...result, explanation } : result;
      },
    }),
    async close() {
      await events.flush();
      unsubscribe();
      await history.close();
    },
  };
}

function toRecord(
  { context, toolset, principal }: ToolQuery,
  result: RetrievalResult & Required<Pick<RetrievalResult, "explanation">>,
  at: number,
): Parameters<ReturnType<typeof createHistory>["note"]>[0] {
  const { traceId, intent, tier, confidence, nothingFits, candidateCount, filteredCount, explanation } = result;
  return {
    kind: "retrieval",
    at: Math.round(at),
    traceId,
    query: context.query,
    ...(toolset !== undefined && { toolset }),
    ...(principal !== undefined && { principal: principal.id }),
    ...(principal?.tenant !== undefined && { tenant: principal.tenant }),
    intent,
    tier,
    confidence,
    nothingFits,
    candidateCount,
    filteredCount,
    durationMs: result.totalTimeMs,
    explanation,
  };
}

function toCallRecord({ at, data }: ArsenalEvent<"call-finished">): CallRecord {
  const { toolId, traceId, spanId, parentSpanId, toolset, status, code, message, cached } = data;
  const { attempts, queuedMs, latencyMs, principal, tenant, cost } = data;
  return {
    kind: "call",
    at,
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    toolId,
    ...(toolset !== undefined && { toolset }),
    status,
    ...(code !== undefined && { code }),
    ...(message !== undefined && { message }),
    ...(cached === true && { cached }),
    attempts,
    queuedMs,
    latencyMs,
    principal,
    ...(tenant !== undefined && { tenant }),
    ...(cost !== undefined && { cost }),
  };
}
