import type { Clock } from "../../observe/clock.ts";
import type { State } from "../../state/state.port.ts";

/** Notices what other processes accept, through the state they share. */
export interface AcceptanceWatch {
  /** Says how an ensemble stands: something of it waits, could not be read, or neither. */
  follow(ensemble: string, standing: "waiting" | "unread" | "settled"): void;
  /** Tells the others that something was accepted. */
  announce(): Promise<void>;
  close(): void;
}

/** Changes with every acceptance, so that one small value is all that has to be looked at. */
const ACCEPTED = "pins-accepted";

const LOOK_EVERY_MS = 2_000;

/** Looks every two seconds, for as long as something waits or could not be read. */
export function createAcceptanceWatch(parts: {
  readonly state: State;
  readonly clock: Clock;
  readonly listAgain: (ensemble: string) => Promise<void> | undefined;
}): AcceptanceWatch {
  const { state, clock, listAgain } = parts;
  const followed = new Map<string, "waiting" | "unread">();
  /** The version that was seen last; none yet, so that what was accepted before the first look is noticed by it. */
  let seen: number | undefined | "none" = "none";
  let cancel: (() => void) | undefined;
  let closed = false;

  function schedule(): void {
    if (closed || cancel !== undefined || followed.size === 0) return;
    cancel = clock.after(LOOK_EVERY_MS, () => void look(), { background: true });
  }

  function stop(): void {
    cancel?.();
    cancel = undefined;
  }

  async function look(): Promise<void> {
    try {
      const version = (await state.get(ACCEPTED))?.version;
      const changed = version !== seen;
      seen = version;
      const again = [...followed].filter(([, standing]) => changed || standing === "unread");
      if (!closed) await Promise.all(again.map(([ensemble]) => listAgain(ensemble)));
    } catch {
      // The state fails: those whose pins could not be read are refused, and the next look tries again.
    } finally {
      cancel = undefined;
      schedule();
    }
  }

  return {
    follow(ensemble, standing) {
      if (standing === "settled") followed.delete(ensemble);
      else followed.set(ensemble, standing);
      if (followed.size === 0) stop();
      else schedule();
    },
    async announce() {
      await state.set(ACCEPTED, clock.now());
    },
    close() {
      closed = true;
      stop();
    },
  };
}
