import type { QuerySignature } from "./query-signature.ts";

export interface NotedRetrieval {
  readonly traceId: string;
  readonly at: number;
  readonly signature: QuerySignature;
  /** The returned tools, best first. */
  readonly toolIds: readonly string[];
  /** Tools that were called after the retrieval. */
  readonly called: Set<string>;
}

export type RecentRetrievals = ReturnType<typeof createRecentRetrievals>;

/** A call that follows later probably belongs to another task. */
const FOLLOWS_WITHIN_MS = 10 * 60_000;
const MOST_KEPT = 8;
const DAY_MS = 24 * 60 * 60_000;
const COUNTED_A_DAY = 10;
/** The maximum number of different tools per principal and day that count. */
const TOOLS_A_DAY = 200;

/** Tracks the recent retrievals of one principal, and the number of its calls that count today. */
export function createRecentRetrievals() {
  const kept: NotedRetrieval[] = [];
  const counted = new Map<string, number>();
  let day = -1;

  return {
    add(retrieval: NotedRetrieval): void {
      kept.push(retrieval);
      if (kept.length > MOST_KEPT) kept.shift();
    },
    /** Returns the retrieval that a call follows: the one with its trace id, or the latest recent one. Undefined if it did not return the tool. */
    before(call: {
      readonly traceId: string;
      readonly toolId: string;
      readonly at: number;
    }): NotedRetrieval | undefined {
      const { traceId, toolId, at } = call;
      const earlier = kept.filter((retrieval) => retrieval.at <= at);
      const latest = earlier.at(-1);
      const followed =
        earlier.findLast((retrieval) => retrieval.traceId === traceId) ??
        (latest !== undefined && at - latest.at <= FOLLOWS_WITHIN_MS ? latest : undefined);
      return followed?.toolIds.includes(toolId) ? followed : undefined;
    },
    /** Counts a call of a tool. Returns false if the daily limit is reached. */
    count(toolId: string, now: number): boolean {
      const today = Math.floor(now / DAY_MS);
      if (today !== day) {
        day = today;
        counted.clear();
      }
      const calls = counted.get(toolId) ?? 0;
      if (calls >= COUNTED_A_DAY || (calls === 0 && counted.size >= TOOLS_A_DAY)) return false;
      counted.set(toolId, calls + 1);
      return true;
    },
  };
}
