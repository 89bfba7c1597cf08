import type { Clock } from "../observe/clock.ts";
import type { Admission, AdmitRequest, Pass } from "./limits.port.ts";

/** A call that waits for a slot, or may have to. */
interface Waiter {
  readonly id: string;
  readonly request: AdmitRequest;
  answer(admission: Admission): void;
  fail(error: Error): void;
}

export const ABORTED: Admission = { admitted: false, because: "aborted", key: "" };

/**
 * The calls of one process that wait in a store's queue, and the passes that the process holds. `look` polls for answers while a call waits, and
 * returns a function that stops polling. `leave` removes a call from the queue; if the call was already admitted, its pass is released.
 */
export function createWaitingCalls(
  clock: Clock,
  look: () => () => void,
  leave: (id: string, request: AdmitRequest) => void,
) {
  const waiting = new Map<string, Waiter>();
  const held = new Map<string, Pass>();
  let stopLooking: (() => void) | undefined;

  function hold({ holdMs }: AdmitRequest, admission: Admission): void {
    if (admission.admitted && holdMs > 0) held.set(admission.pass.id, admission.pass);
  }

  function lookWhileWaiting(): void {
    if (waiting.size > 0) stopLooking ??= look();
    else {
      stopLooking?.();
      stopLooking = undefined;
    }
  }

  return {
    waiting,
    held,

    /** Keeps the pass of an admitted call until it is released. A pass that holds nothing is never released, so it is not kept. */
    hold,

    /** Registers a call before it can be answered. Returns a function that waits for the answer, even if it arrived earlier. */
    enqueue(id: string, request: AdmitRequest) {
      const { promise, resolve, reject } = Promise.withResolvers<Admission>();
      promise.catch(() => {});
      let stop = (): void => {};
      const end = (): void => {
        waiting.delete(id);
        stop();
        lookWhileWaiting();
      };
      const answer = (admission: Admission): void => {
        end();
        hold(request, admission);
        resolve(admission);
      };
      const fail = (error: Error): void => {
        end();
        reject(error);
      };
      waiting.set(id, { id, request, answer, fail });
      return (signal: AbortSignal | undefined): Promise<Admission> => {
        if (!waiting.has(id)) return promise;
        const giveUp = (because: "places" | "aborted"): void => {
          answer({ admitted: false, because, key: request.places?.[0]?.key ?? "" });
          leave(id, request);
        };
        const onAbort = (): void => giveUp("aborted");
        const cancelTimer = clock.after(request.waitMs ?? 0, () => giveUp("places"));
        stop = () => {
          cancelTimer();
          signal?.removeEventListener("abort", onAbort);
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        if (signal?.aborted) onAbort();
        else lookWhileWaiting();
        return promise;
      };
    },

    /** Removes a call that does not have to wait. */
    drop(id: string) {
      waiting.delete(id);
      lookWhileWaiting();
    },
  };
}
