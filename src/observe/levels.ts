import type { ArsenalEvent, EventLevel, EventMap, EventName } from "./events.ts";

export const EVENT_LEVELS: readonly EventLevel[] = ["debug", "info", "warn", "error"];

/** The expected outcomes of calls. All others are warnings. */
const EXPECTED: readonly string[] = ["success", "pending_confirmation", "cancelled"];

/** The stages that emit events. Each stage can have its own log level. */
export type LogStage = "register" | "catalog" | "retrieve" | "guard" | "execute" | "state" | "observe" | "serve";

const EVENTS: {
  readonly [Name in EventName]: readonly [LogStage, EventLevel | ((data: EventMap[Name]) => EventLevel)];
} = {
  "tool-registered": ["register", "debug"],
  "tool-replaced": ["register", "info"],
  // A hundred tools may be rejected only because they wait for acceptance, which "pins-waiting" reports in one line. A workflow may be rejected
  // because a server is still connecting.
  "tool-rejected": [
    "register",
    ({ code }) => (code === "PERMISSION_DENIED" || code === "TOOL_NOT_FOUND" ? "info" : "warn"),
  ],
  "tool-deleted": ["register", "info"],
  "tool-conflicted": ["register", "warn"],
  "tool-changed": ["guard", "warn"],
  "pin-accepted": ["guard", "info"],
  "pin-refused": ["guard", "warn"],
  "pins-waiting": ["guard", "warn"],
  "ensemble-accepted": ["guard", "info"],
  "pins-failed": ["guard", "error"],
  "state-lost": ["state", "error"],
  "state-unavailable": ["state", "error"],
  // The default log level reports the outage, so it must also report the recovery.
  "state-restored": ["state", "warn"],
  "policy-reloaded": ["guard", "info"],
  "certificate-reloaded": ["serve", "info"],
  "certificate-failed": ["serve", "error"],
  "request-failed": ["serve", "error"],
  "namespace-refused": ["register", "warn"],
  "toolset-tools-missing": ["register", "warn"],
  "catalog-synced": ["catalog", "info"],
  "catalog-changed": ["catalog", "info"],
  "snapshot-failed": ["catalog", "warn"],
  "embedder-failed": ["catalog", "warn"],
  "mcp-message": ["register", "debug"],
  "ensemble-connected": ["register", "info"],
  "ensemble-listed": ["register", "info"],
  "ensemble-disconnected": ["register", "info"],
  "ensemble-failed": ["register", "error"],
  "retrieval-finished": ["retrieve", "info"],
  "retrieval-failed": ["retrieve", ({ code }) => (code === "CANCELLED" || code === "QUERY_INVALID" ? "info" : "warn")],
  "call-started": ["execute", "debug"],
  "arguments-repaired": ["execute", "info"],
  "call-retried": ["execute", "warn"],
  "retry-refused": ["execute", "warn"],
  "call-progressed": ["execute", "debug"],
  "call-finished": ["execute", ({ status }) => (EXPECTED.includes(status) ? "info" : "warn")],
  "upstream-called": ["execute", "debug"],
  "request-finished": ["serve", "debug"],
  "run-turned": ["execute", ({ status }) => (status === "failed" ? "warn" : "info")],
  "confirmation-requested": ["guard", "info"],
  "confirmation-resolved": ["guard", "info"],
  "confirmation-refused": ["guard", "warn"],
  "scan-flagged": ["guard", "warn"],
  "scan-failed": ["guard", "warn"],
  "audit-failed": ["guard", "error"],
  "audit-restored": ["guard", "warn"],
  "secret-skipped": ["guard", "warn"],
  "quota-reached": ["guard", "warn"],
  "push-failed": ["serve", "warn"],
  "card-unverified": ["register", "warn"],
  "circuit-opened": ["execute", "warn"],
  "circuit-probed": ["execute", "info"],
  "circuit-closed": ["execute", "info"],
  "health-changed": ["execute", "info"],
  "sink-failed": ["observe", "error"],
};

export const EVENT_NAMES: readonly EventName[] = Object.keys(EVENTS) as EventName[];

export function levelOf<Name extends EventName>(name: Name, data: EventMap[Name]): EventLevel {
  const level: (typeof EVENTS)[Name][1] = EVENTS[name][1];
  return typeof level === "function" ? level(data) : level;
}

export function stageOf(name: EventName): LogStage {
  return EVENTS[name][0];
}

/** The lowest level that is shown, for some stages. */
export type LogLevels = Readonly<Partial<Record<LogStage, EventLevel>>>;

/** Returns true if an event is shown, at the level of its stage or else at the common level. */
export function isLoudEnough(
  { name, level }: Pick<ArsenalEvent, "name" | "level">,
  common: EventLevel,
  levels: LogLevels,
): boolean {
  return isAtLeast(level, levels[stageOf(name)] ?? common);
}

/** Returns true if the level is at or above the threshold. */
export function isAtLeast(level: EventLevel, threshold: EventLevel): boolean {
  return EVENT_LEVELS.indexOf(level) >= EVENT_LEVELS.indexOf(threshold);
}
