import { messageOf } from "../errors/show-value.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { State } from "./state.port.ts";

/** The interval of probes of an unavailable store, in milliseconds. */
const TRY_AGAIN_MS = 1_000;

/** The key that is written to probe the store. Its value is already expired. */
const PROBE = "is the state back?";

/** Documents that emit `state-unavailable` once when their store fails, and `state-restored` when it works again. Requests still fail. */
export function reportDocuments(
  documents: State,
  { clock, emit }: { readonly clock: Clock; readonly emit: Emit },
): State & { close(): void } {
  let isAway = false;
  let closed = false;
  let asking = false;
  let cancel: (() => void) | undefined;

  /** Errors can have other causes. A store counts as unavailable only if it cannot be written. */
  async function look(): Promise<void> {
    if (asking || closed) return;
    asking = true;
    const error: unknown = await documents.set(PROBE, true, { expiresAt: clock.now() }).then(
      () => undefined,
      (reason: unknown) => reason ?? new Error("unknown error"),
    );
    asking = false;
    if (closed) return;
    if (error === undefined) {
      if (isAway) emit("state-restored", { part: "documents" });
      isAway = false;
      return;
    }
    if (!isAway) emit("state-unavailable", { part: "documents", fails: "closed", message: messageOf(error) });
    isAway = true;
    cancel = clock.after(TRY_AGAIN_MS, () => void look(), { background: true });
  }

  async function watched<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (!isAway) void look();
      throw error;
    }
  }

  return {
    get: (...given) => watched(documents.get(...given)),
    set: (...given) => watched(documents.set(...given)),
    delete: (...given) => watched(documents.delete(...given)),
    list: (...given) => watched(documents.list(...given)),
    keys: (...given) => watched(documents.keys(...given)),
    close() {
      closed = true;
      cancel?.();
    },
  };
}
