import { callerKey, type Holder } from "../base/shares.ts";
import { getNewest, setNewest } from "../base/remember.ts";

/** Limits for the ended runs of one caller: their number and their total bytes. */
const MOST_RUNS = 1_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** Number of callers whose runs are counted. Runs of callers beyond it, who ran nothing for longest, simply expire. */
const MOST_CALLERS = 1_000;

interface CallersRuns {
  /** The size of each run by its id, oldest first. */
  readonly runs: Map<string, number>;
  bytes: number;
}

/** Limits the ended runs that this process keeps for each caller. Otherwise one caller could fill the memory or the database with short programs. */
export function createEndedRuns(remove: (id: string) => Promise<void>) {
  const callers = new Map<string, CallersRuns>();
  return {
    /** Adds a run that has ended, and removes the oldest runs beyond the limits. */
    async add(id: string, owner: Holder, bytes: number): Promise<void> {
      const caller = callerKey(owner);
      const own = getNewest(callers, caller) ?? setNewest(callers, caller, { runs: new Map(), bytes: 0 }, MOST_CALLERS);
      own.runs.set(id, bytes);
      own.bytes += bytes;
      const gone: string[] = [];
      for (const [oldest, size] of own.runs) {
        if (oldest === id || (own.runs.size <= MOST_RUNS && own.bytes <= MOST_BYTES)) break;
        own.runs.delete(oldest);
        own.bytes -= size;
        gone.push(oldest);
      }
      await Promise.all(gone.map(remove));
    },
  };
}
