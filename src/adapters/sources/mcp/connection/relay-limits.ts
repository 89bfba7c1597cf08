import type { Clock } from "../../../../observe/clock.ts";
import type { RpcNotification } from "../../../../mcp/protocol.ts";

type Forward = (notification: RpcNotification) => void;

const PROGRESS = { burst: 20, perSecond: 10 };
const LOG = { burst: 100, perSecond: 20 };

/** Limits the notifications that one connection forwards while requests run. */
export function createRelayLimits(server: string, clock: Clock) {
  const logs = createBucket(clock, LOG);
  let dropped = 0;

  return {
    /** Forwards the progress of one request. The first updates pass at once; later ones are limited to the latest of each tenth of a second. */
    progress(forward: Forward) {
      const bucket = createBucket(clock, PROGRESS);
      let latest: RpcNotification | undefined;
      let cancel: (() => void) | undefined;

      function stop(): void {
        cancel?.();
        cancel = undefined;
      }

      function flush(): void {
        stop();
        const notification = latest;
        latest = undefined;
        if (notification !== undefined) forward(notification);
      }

      function push(notification: RpcNotification): void {
        if (cancel === undefined && bucket.take()) return forward(notification);
        latest = notification;
        cancel ??= clock.after(bucket.waitMs(), () => (bucket.take(), flush()), { background: true });
      }

      return { push, flush, stop };
    },
    /** Forwards log messages: the first hundred at once, then at most twenty a second. The next message reports how many were dropped. */
    log(message: RpcNotification, forward: Forward): void {
      if (!logs.take()) return void dropped++;
      if (dropped > 0) forward(toldDropped(server, dropped));
      dropped = 0;
      forward(message);
    },
  };
}

/** Allows a burst, then `perSecond` messages a second. */
function createBucket(clock: Clock, { burst, perSecond }: typeof LOG) {
  let tokens = burst;
  let filledAt = clock.now();
  return {
    take(): boolean {
      const now = clock.now();
      tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * perSecond);
      filledAt = now;
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
    waitMs: (): number => Math.max(1, Math.ceil(((1 - tokens) / perSecond) * 1000)),
  };
}

function toldDropped(server: string, dropped: number): RpcNotification {
  const data = `${dropped} log messages of the MCP server "${server}" were dropped: it sends too many.`;
  return { jsonrpc: "2.0", method: "notifications/message", params: { level: "warning", logger: "toolarsenal", data } };
}
