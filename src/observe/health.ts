import type { Health } from "../tool/tool.ts";
import type { Clock } from "./clock.ts";
import type { Emit } from "./events.ts";

export type HealthBook = ReturnType<typeof createHealth>;

/** The number of latest calls that count for success rate and latency, so that a fixed tool recovers. */
const HEALTH_WINDOW = 100;

/** Crossing one of these success rates, in either direction, is reported. */
const NOTABLE_RATES = [0.9, 0.5];

const NEVER_CALLED: Health = Object.freeze({
  successRate: 1,
  averageLatencyMs: 0,
  totalCalls: 0,
  consecutiveFailures: 0,
  circuitOpen: false,
});

/** Tracks the health of called tools. Emits `health-changed` for first failures, circuit changes, and success rates that cross 0.9 or 0.5. */
export function createHealth({ clock, emit }: { readonly clock: Clock; readonly emit: Emit }) {
  const records = new Map<string, ToolRecord>();
  const open = new Set<string>();

  function update(toolId: string, change: (record: ToolRecord) => Health): void {
    const record: ToolRecord = records.get(toolId) ?? { recent: createRecentCalls(), health: NEVER_CALLED };
    records.set(toolId, record);
    const before = record.health;
    const after = change(record);
    // Precomputed, because ranking reads the health of every candidate, and calls are rarer.
    record.health = after;
    if (isNews(before, after)) emit("health-changed", { toolId, before, after });
  }

  function recordCall(toolId: string, success: boolean, latencyMs: number): void {
    update(toolId, ({ recent, health }) => {
      recent.add(success, latencyMs);
      return {
        ...health,
        successRate: recent.successRate(),
        averageLatencyMs: recent.averageLatencyMs(),
        totalCalls: health.totalCalls + 1,
        consecutiveFailures: success ? 0 : health.consecutiveFailures + 1,
        [success ? "lastSuccess" : "lastFailure"]: Math.round(clock.now()),
      };
    });
  }

  return {
    /** A tool that was never called is healthy. */
    of: (toolId: string): Health => records.get(toolId)?.health ?? NEVER_CALLED,
    recordSuccess: (toolId: string, latencyMs: number): void => recordCall(toolId, true, latencyMs),
    recordFailure: (toolId: string, latencyMs: number): void => recordCall(toolId, false, latencyMs),
    setCircuit(toolId: string, isOpen: boolean): void {
      if (open.has(toolId) === isOpen) return;
      if (isOpen) open.add(toolId);
      else open.delete(toolId);
      update(toolId, ({ health }) => ({ ...health, circuitOpen: isOpen }));
    },
    /** The tools whose circuits are open, in any process. */
    openCircuits: (): readonly string[] => [...open],
    forget(toolId: string): void {
      records.delete(toolId);
      open.delete(toolId);
    },
  };
}

type ToolRecord = { readonly recent: ReturnType<typeof createRecentCalls>; health: Health };

function createRecentCalls() {
  const successes = new Uint8Array(HEALTH_WINDOW);
  const latencies = new Float64Array(HEALTH_WINDOW);
  let next = 0;
  let count = 0;
  let successful = 0;
  return {
    add(success: boolean, latencyMs: number): void {
      successful += (success ? 1 : 0) - (successes[next] ?? 0);
      successes[next] = success ? 1 : 0;
      latencies[next] = latencyMs;
      next = (next + 1) % HEALTH_WINDOW;
      count = Math.min(count + 1, HEALTH_WINDOW);
    },
    successRate: (): number => successful / count,
    averageLatencyMs(): number {
      // Recomputed each time, because a running sum would accumulate rounding errors.
      let sum = 0;
      for (let index = 0; index < count; index++) sum += latencies[index] ?? 0;
      return sum / count;
    },
  };
}

function isNews(before: Health, after: Health): boolean {
  if (before.circuitOpen !== after.circuitOpen) return true;
  if (before.lastFailure === undefined && after.lastFailure !== undefined) return true;
  return NOTABLE_RATES.some((rate) => before.successRate < rate !== after.successRate < rate);
}
