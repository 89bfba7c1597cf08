import type { ServerResponse } from "node:http";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Identity } from "../../guard/identity.port.ts";
import type { Clock } from "../../observe/clock.ts";
import type { OnRevoked } from "../surface.ts";

/** Interval at which the credentials of open streams and running calls are checked, in case a change was not announced or a key expires. */
const CHECK_MS = 500;

/** A request whose credentials can be revoked. */
interface WatchedRequest {
  readonly response: ServerResponse;
  readonly isValid: () => Promise<boolean>;
  readonly listeners: Set<(reason: ArsenalError) => void>;
}

function isStream({ headersSent, writableEnded }: ServerResponse): boolean {
  return headersSent && !writableEnded;
}

/** Ends the streams and the running calls of callers whose credentials were revoked or have expired. Other requests are not interrupted. */
export function createRevocableStreams(clock: Clock, identity: Pick<Identity, "watch"> | undefined) {
  const open = new Set<WatchedRequest>();
  let cancel: (() => void) | undefined;
  const unwatch = identity?.watch?.(checkAll);

  function checkAll(): void {
    for (const each of open) {
      if (!isStream(each.response) && each.listeners.size === 0) continue;
      each.isValid().then(
        (valid) => void (valid || end(each)),
        // While the store is unavailable, the state of the key is unknown. The next check decides.
        () => {},
      );
    }
  }

  function end(request: WatchedRequest): void {
    open.delete(request);
    const isOpen = isStream(request.response);
    for (const listener of request.listeners)
      listener(new ArsenalError("UNAUTHENTICATED", "The credentials of the caller were revoked or have expired."));
    if (isOpen) request.response.destroy();
  }

  function forgetEnded(request: WatchedRequest): void {
    if (request.response.closed && request.listeners.size === 0) open.delete(request);
  }

  function schedule(): void {
    cancel ??= clock.after(CHECK_MS, check, { background: true });
  }

  function check(): void {
    cancel = undefined;
    checkAll();
    if (open.size > 0) schedule();
  }

  return {
    /** Watches the credentials of a request. Returns a watch that its surface can keep longer than the response. */
    add(response: ServerResponse, isValid: () => Promise<boolean>): OnRevoked {
      const request: WatchedRequest = { response, isValid, listeners: new Set() };
      open.add(request);
      response.once("close", () => forgetEnded(request));
      schedule();
      return (listener) => {
        request.listeners.add(listener);
        return () => {
          request.listeners.delete(listener);
          forgetEnded(request);
        };
      };
    },
    close(): void {
      unwatch?.();
      cancel?.();
      open.clear();
    },
  };
}
