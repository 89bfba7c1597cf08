import type { Clock } from "../../../observe/clock.ts";
import type { Connection } from "./connection.ts";

/** Notices what other processes do. */
export interface News {
  /**
   * Calls back soon after each message on a channel, after the connection was away, and every `ms` milliseconds in case a message was lost.
   * Returns what ends it.
   */
  follow(channel: string, look: () => Promise<void>, ms: number): () => void;
}

/** Messages only wake; what they are about is looked up. So it does not matter if one is lost, and many at once cost one look. */
export function createNews(connection: Connection, clock: Clock): News {
  return {
    follow(channel, look, ms) {
      let soon: (() => void) | undefined;
      let later: (() => void) | undefined;
      let ended = false;

      const run = (): void => {
        soon = undefined;
        later?.();
        later = clock.after(ms, run, { background: true });
        look().catch(() => {}); // the next look tries again
      };
      later = clock.after(ms, run, { background: true });
      const unsubscribe = connection.subscribe(channel, () => {
        if (!ended) soon ??= clock.after(0, run, { background: true });
      });
      return () => {
        ended = true;
        soon?.();
        later?.();
        unsubscribe();
      };
    },
  };
}
