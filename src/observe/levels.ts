import type { EventLevel, EventMap, EventName } from "./events.ts";

/** The levels, quietest first. */
export const EVENT_LEVELS: readonly EventLevel[] = ["debug", "info", "warn", "error"];

const LOUDNESS: Readonly<Record<EventLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

const LEVEL_OF_CALL: Readonly<Record<EventMap["call-finished"]["status"], EventLevel>> = {
  success: "info",
  pending_confirmation: "info",
  cancelled: "info",
  failure: "warn",
  timeout: "warn",
  permission_denied: "warn",
  circuit_open: "warn",
};

/** How loud each event is. A finished call is as loud as its status. */
const LEVEL_OF: { readonly [Name in EventName]: EventLevel | ((data: EventMap[Name]) => EventLevel) } = {
  "tool-registered": "debug",
  "tool-replaced": "info",
  // What is merely not accepted yet may be a hundred tools, which "pins-waiting" tells in one line.
  "tool-rejected": ({ code }) => (code === "PERMISSION_DENIED" ? "info" : "warn"),
  "tool-deleted": "info",
  "tool-changed": "warn",
  "pin-accepted": "info",
  "pins-waiting": "warn",
  "ensemble-accepted": "info",
  "pins-failed": "error",
  "state-lost": "error",
  "state-unavailable": "error",
  // As loud as the default, so that a log that says the state is away also says that it is back.
  "state-restored": "warn",
  "policy-reloaded": "info",
  "certificate-reloaded": "info",
  "certificate-failed": "error",
  "request-failed": "error",
  "namespace-refused": "warn",
  "toolset-tools-missing": "warn",
  "catalog-synced": "info",
  "catalog-changed": "info",
  "snapshot-failed": "warn",
  "embedder-failed": "warn",
  "mcp-message": "debug",
  "ensemble-connected": "info",
  "ensemble-listed": "info",
  "ensemble-disconnected": "info",
  "ensemble-failed": "error",
  "retrieval-finished": "info",
  "retrieval-failed": ({ code }) => (code === "CANCELLED" || code === "QUERY_INVALID" ? "info" : "warn"),
  "call-started": "debug",
  "arguments-repaired": "info",
  "call-retried": "warn",
  "retry-refused": "warn",
  "call-progressed": "debug",
  "call-finished": ({ status }) => LEVEL_OF_CALL[status],
  "upstream-called": "debug",
  "request-finished": "debug",
  "confirmation-requested": "info",
  "confirmation-resolved": "info",
  "scan-flagged": "warn",
  "scan-failed": "warn",
  "audit-failed": "error",
  "secret-skipped": "warn",
  "push-failed": "warn",
  "card-unverified": "warn",
  "circuit-opened": "warn",
  "circuit-probed": "info",
  "circuit-closed": "info",
  "health-changed": "info",
  "sink-failed": "error",
};

/** Every event there is. */
export const EVENT_NAMES: readonly EventName[] = Object.keys(LEVEL_OF) as EventName[];

/** The level of one event. */
export function levelOf<Name extends EventName>(name: Name, data: EventMap[Name]): EventLevel {
  const level: EventLevel | ((data: EventMap[Name]) => EventLevel) = LEVEL_OF[name];
  return typeof level === "function" ? level(data) : level;
}

/** True if an event of this level is shown at that threshold. */
export function isAtLeast(level: EventLevel, threshold: EventLevel): boolean {
  return LOUDNESS[level] >= LOUDNESS[threshold];
}
