import type { Tool } from "../../tool/tool.ts";
import { changedFields } from "./diff.ts";
import { commandId, comparedOf, type PinRecord } from "./pin-record.ts";

/** Refuses a call whose tool changed while it waited. */
export function anotherTool({ id }: Tool): string {
  return `${id} changed a moment ago. Read its definition again, then call it.`;
}

/** Refuses a call of a tool that changed since it was accepted. */
export function refused(toolId: string, id: string, record: PinRecord): string {
  const fields = changedFields(...comparedOf(record));
  const what = id === toolId ? toolId : `${toolId} is of a server that`;
  const now = record.between === undefined ? "" : " in between";
  return `${what} differs from its accepted version: it changed${now} (${fields}). It is not called until an operator accepts it: toolarsenal pins accept ${id}`;
}

/** Reports the number of an ensemble's tools that wait to be accepted. */
export function unacceptedOf(ensemble: string, count: number): string {
  const fix =
    "Review them with: toolarsenal pins list --diff. Then accept them with: toolarsenal pins accept ID, or --all";
  return `${ensemble} has ${count} ${count === 1 ? "item" : "items"} to be accepted, not used until then. ${fix}`;
}

/** Refuses to start the command of a configured server. */
export function notStarted(ensemble: string, why: string): string {
  return `The command of the server "${ensemble}" is not started: ${why}. Look at it with: toolarsenal pins list --diff, then: toolarsenal pins accept ${commandId(ensemble)}`;
}

/** Reports that a tool waits to be accepted. */
export function unaccepted(id: string): string {
  return `${id} is not registered, because it was not accepted yet. Review it with: toolarsenal pins list --diff, then: toolarsenal pins accept ${id}`;
}
