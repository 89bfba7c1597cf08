import type { ArsenalEvent, EventLevel, EventName } from "./events.ts";
import { isAtLeast } from "./levels.ts";

/** The parts of the path that events come from. A log can have a level for each. */
export type LogStage = "register" | "catalog" | "retrieve" | "guard" | "execute" | "state" | "observe" | "serve";

/** Where each event comes from. */
const STAGE_OF: Readonly<Record<EventName, LogStage>> = {
  "tool-registered": "register",
  "tool-replaced": "register",
  "tool-rejected": "register",
  "tool-deleted": "register",
  "namespace-refused": "register",
  "toolset-tools-missing": "register",
  "mcp-message": "register",
  "ensemble-connected": "register",
  "ensemble-listed": "register",
  "ensemble-disconnected": "register",
  "ensemble-failed": "register",
  "catalog-synced": "catalog",
  "catalog-changed": "catalog",
  "snapshot-failed": "catalog",
  "embedder-failed": "catalog",
  "retrieval-finished": "retrieve",
  "retrieval-failed": "retrieve",
  "tool-changed": "guard",
  "pin-accepted": "guard",
  "pins-waiting": "guard",
  "pins-failed": "guard",
  "ensemble-accepted": "guard",
  "policy-reloaded": "guard",
  "confirmation-requested": "guard",
  "confirmation-resolved": "guard",
  "scan-flagged": "guard",
  "scan-failed": "guard",
  "audit-failed": "guard",
  "secret-skipped": "guard",
  "call-started": "execute",
  "arguments-repaired": "execute",
  "call-retried": "execute",
  "retry-refused": "execute",
  "call-progressed": "execute",
  "call-finished": "execute",
  "upstream-called": "execute",
  "circuit-opened": "execute",
  "circuit-probed": "execute",
  "circuit-closed": "execute",
  "health-changed": "execute",
  "state-lost": "state",
  "state-unavailable": "state",
  "state-restored": "state",
  "sink-failed": "observe",
  "certificate-reloaded": "serve",
  "certificate-failed": "serve",
  "push-failed": "serve",
  "card-unverified": "register",
  "request-finished": "serve",
  "request-failed": "serve",
};

/** The part of the path that an event comes from. */
export function stageOf(name: EventName): LogStage {
  return STAGE_OF[name];
}

/** The quietest event that is shown of some stages. */
export type LogLevels = Readonly<Partial<Record<LogStage, EventLevel>>>;

/** True if an event is shown: at the level of its stage, or else at the common one. */
export function isLoudEnough(
  { name, level }: Pick<ArsenalEvent, "name" | "level">,
  common: EventLevel,
  levels: LogLevels,
): boolean {
  return isAtLeast(level, levels[stageOf(name)] ?? common);
}
