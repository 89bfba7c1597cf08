import type { ResolvedConfig } from "../config/load/resolve-config.ts";
import type { Clock } from "../observe/clock.ts";
import type { Events } from "../observe/emitter.ts";
import { createRuns, type Runs } from "../runs/runs.ts";
import type { CallStages } from "./calls.ts";
import type { ConfiguredGuard } from "./guard.ts";

/** Wires the runs that outlive a process. Loaded with the first run. */
export function wireRuns(stages: {
  readonly config: Pick<ResolvedConfig, "programs">;
  readonly guard: Pick<ConfiguredGuard, "state" | "approvals">;
  readonly events: Pick<Events, "subscribe" | "emit">;
  readonly clock: Clock;
  readonly ready: () => Promise<Pick<CallStages, "engine">>;
  readonly codeMode: () => Promise<unknown>;
}): Runs {
  const { guard, events, clock, ready, codeMode } = stages;
  return createRuns({
    state: guard.state,
    clock,
    execute: async (call) => (await ready()).engine.execute(call),
    approvals: guard.approvals,
    subscribe: events.subscribe,
    // The sources of each process register the runner of workflows.
    loadRunner: async (kind) => void (kind === "program" && (await codeMode())),
    mostDepth: stages.config.programs.depth,
    onTurn({ id, kind, owner, status, traceId, spanId, parentSpanId, toolset, startedAt, endedAt, error }, calls) {
      const durationMs = Math.max(0, (endedAt ?? clock.now()) - startedAt);
      events.emit("run-turned", {
        runId: id,
        kind,
        status,
        calls,
        principal: owner.id,
        ...(owner.tenant !== undefined && { tenant: owner.tenant }),
        ...(toolset !== undefined && { toolset }),
        ...(error !== undefined && { message: error.message }),
        traceId,
        spanId,
        ...(parentSpanId !== undefined && { parentSpanId }),
        startedAt,
        durationMs,
      });
    },
  });
}
