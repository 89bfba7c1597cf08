import { fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { Principal } from "../principal.ts";
import { currentOf, type PinMode, type PinRecord, stateOf } from "./pin-record.ts";
import type { AcceptOptions } from "./pins.ts";
import type { Clock } from "../../observe/clock.ts";
import type { EventMap } from "../../observe/events.ts";
import type { Changes } from "../../state/changes.port.ts";
import type { State } from "../../state/state.port.ts";

/** With fewer digits, a server could find two definitions whose hashes have the same prefix. */
const MIN_DIGITS = 16;

/** Returns the record with the pending change accepted. Throws if nothing is pending, or if it changed since it was reviewed. */
export function afterAccepting(
  id: string,
  before: PinRecord | undefined,
  how: AcceptOptions & { readonly mode: PinMode; readonly by: Principal; readonly at: number },
): PinRecord {
  const { confirmAnnotations = false, by, at } = how;
  const waiting = reviewed(id, before, { ...how, even: confirmAnnotations });
  const content = currentOf(waiting);
  const { ensemble, accepted } = waiting;
  // The confirmation covers one definition, not later ones with the same name.
  const vouched = confirmAnnotations || (accepted?.confirmed === true && accepted.content.hash === content.hash);
  return { ensemble, accepted: { content, by: by.id, ...(vouched && { confirmed: true }) }, since: at };
}

/** Returns the record with the pending change marked as refused by a person. Throws like `afterAccepting`. */
export function afterRefusing(
  id: string,
  before: PinRecord | undefined,
  how: Pick<AcceptOptions, "hash"> & { readonly mode: PinMode; readonly by: Principal },
): PinRecord {
  return { ...reviewed(id, before, how), refusedBy: how.by.id };
}

/** Returns the record of a pending change if it matches what was reviewed. With `even`, an accepted item is allowed too. */
function reviewed(
  id: string,
  before: PinRecord | undefined,
  { hash, mode, even = false }: Pick<AcceptOptions, "hash"> & { readonly mode: PinMode; readonly even?: boolean },
): PinRecord {
  if (before === undefined || (stateOf(before, mode) === "accepted" && !even)) {
    const fix = "Take an id from: toolarsenal pins list";
    const problem = `No item that waits to be accepted has the id ${showValue(id)}.`;
    throw fixable("INPUT_INVALID", problem, fix, { field: "ID", value: id });
  }
  const content = currentOf(before);
  if (hash !== undefined && (hash.length < MIN_DIGITS || !content.hash.startsWith(hash))) {
    const fix = "Look at it again with: toolarsenal pins list --diff";
    const now = content.hash.slice(0, MIN_DIGITS);
    const problem = `${id} does not match the hash ${showValue(hash)}: its hash is now ${now}.`;
    throw fixable("INPUT_INVALID", problem, fix, { field: "hash", value: hash });
  }
  return before;
}

export function refuseOthers(id: string, by: Principal): void {
  if (by.roles.includes("approver")) return;
  const fix = 'Give the role "approver" to the person who accepts, or let an approver do it.';
  const problem = `"${by.id}" lacks the role "approver" and cannot accept ${id}.`;
  throw fixable("PERMISSION_DENIED", problem, fix, { field: "id", value: id });
}

/** Returns why an acceptance was refused; undefined for any other error. */
export function refusalBehind(error: unknown): EventMap["pin-refused"]["because"] | undefined {
  if (!isArsenalError(error)) return undefined;
  if (error.code === "PERMISSION_DENIED") return "lacks-role";
  if (error.code !== "INPUT_INVALID") return undefined;
  return error.details.field === "hash" ? "changed" : "nothing-waits";
}

/** The key of a value that changes with every acceptance, so that polling reads only one small value. */
const ACCEPTED = "pins-accepted";

const TOPIC = "pins";

const LOOK_EVERY_MS = 2_000;

/** Detects acceptances by other processes: by their announcements, and by polling every two seconds while something is pending or unreadable. */
export function createAcceptanceWatch(parts: {
  readonly state: State;
  /** If omitted, acceptances are detected by polling alone. */
  readonly changes?: Changes | undefined;
  readonly clock: Clock;
  readonly listAgain: (ensemble: string) => Promise<void> | undefined;
}) {
  const { state, changes, clock, listAgain } = parts;
  const followed = new Map<string, "waiting" | "unread">();
  /** The last version seen. Initially "none", so that the first check detects earlier acceptances. */
  let seen: number | undefined | "none" = "none";
  let cancel: (() => void) | undefined;
  let unsubscribe: (() => void) | undefined;
  let closed = false;

  function schedule(): void {
    if (closed || cancel !== undefined || followed.size === 0) return;
    cancel = clock.after(LOOK_EVERY_MS, () => void look(), { background: true });
    unsubscribe ??= changes?.subscribe(TOPIC, () => {
      cancel?.();
      void look();
    });
  }

  function stop(): void {
    cancel?.();
    cancel = undefined;
    unsubscribe?.();
    unsubscribe = undefined;
  }

  async function look(): Promise<void> {
    try {
      const version = (await state.get(ACCEPTED))?.version;
      const changed = version !== seen;
      seen = version;
      const again = [...followed].filter(([, standing]) => changed || standing === "unread");
      if (!closed) await Promise.all(again.map(([ensemble]) => listAgain(ensemble)));
    } catch {
      // The state failed: tools with unreadable pins stay refused, and the next check retries.
    } finally {
      cancel = undefined;
      schedule();
    }
  }

  return {
    /** Sets the status of an ensemble: pending, unreadable, or settled. */
    follow(ensemble: string, standing: "waiting" | "unread" | "settled"): void {
      if (standing === "settled") followed.delete(ensemble);
      else followed.set(ensemble, standing);
      if (followed.size === 0) stop();
      else schedule();
    },
    async announce(): Promise<void> {
      await state.set(ACCEPTED, clock.now());
      // The acceptance is already stored. A process that misses the announcement detects it by polling.
      await changes?.publish(TOPIC, {}).catch(() => undefined);
    },
    close(): void {
      closed = true;
      stop();
    },
  };
}
