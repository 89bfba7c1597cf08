import { ArsenalError } from "../errors/arsenal-error.ts";

/** Throws `CANCELLED` where the signal has fired. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled(signal);
}

/** The promise's outcome, or a rejection with `CANCELLED` as soon as the signal fires, also where the work ignores the signal. */
export async function untilCancelled<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return work;
  let stop: () => void = () => {};
  const fired = new Promise<never>((_resolve, reject) => {
    stop = () => reject(cancelled(signal));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, fired]);
  } catch (error) {
    // Work that heeds the signal rejects in its own words, and may do so first.
    throw signal.aborted ? cancelled(signal) : error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function cancelled(signal: AbortSignal): ArsenalError {
  return new ArsenalError("CANCELLED", "The retrieval was cancelled by its caller before it finished.", {
    cause: signal.reason,
  });
}
