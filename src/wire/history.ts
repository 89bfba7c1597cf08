import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";
import type { Redactor } from "../guard/redaction/redactor.ts";
import type { Clock } from "../observe/clock.ts";
import type { Events } from "../observe/emitter.ts";
import { createHistory } from "../observe/history/history.ts";
import { toCallRecord, toRetrievalRecord } from "../observe/history/to-record.ts";
import type { ToolQuery } from "../retrieve/query.ts";
import type { Explanation, RetrievalResult } from "../retrieve/result.ts";
import type { State } from "../state/state.port.ts";

export type WiredHistory = ReturnType<typeof wireHistory>;

export function wireHistory(stages: {
  readonly config: Pick<ResolvedConfig, "telemetry">;
  readonly events: Pick<Events, "emit" | "subscribe" | "flush">;
  readonly state: State;
  readonly clock: Clock;
  readonly redactor: Redactor;
}) {
  const { config, events, state, clock, redactor } = stages;
  const { enabled: _, ...settings } = config.telemetry.history;
  const history = createHistory({ state, clock, redactor, settings, emit: events.emit, newId: randomUUID });
  const unsubscribe = events.subscribe(
    (event) => {
      if (event.name === "call-finished") history.note(() => toCallRecord(event));
    },
    { names: ["call-finished"], isPatient: true },
  );
  return {
    /** Records a retrieval. Its explanation is computed in the next turn of the event loop, after the caller has its answer. */
    noteRetrieval(query: ToolQuery, result: RetrievalResult, explain: () => Explanation): void {
      // The caller may change its query object before the explanation is made, so the record is made now.
      const record = toRetrievalRecord(query, result, clock.now());
      setImmediate(history.note, () => ({ ...record, explanation: explain() }));
    },
    async flush(): Promise<void> {
      await nextTurn();
      await events.flush();
      await history.flush();
    },
    async close(): Promise<void> {
      await nextTurn();
      await events.flush();
      unsubscribe();
      await history.close();
    },
  };
}
