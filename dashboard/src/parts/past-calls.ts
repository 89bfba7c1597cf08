import { useRef, useState } from "preact/hooks";
import type { HistoryEntry } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";
import { type RequestState, useAsk } from "./ask.ts";
import { toQuery } from "./time-range.tsx";

export type Call = Extract<HistoryEntry, { readonly kind: "call" }>;

/** The filter of calls. An empty text matches all. */
export interface CallFilter {
  readonly tool: string;
  readonly status: string;
  readonly ensemble: string;
  /** Milliseconds since the epoch. An omitted end is open. */
  readonly times: { readonly from?: number; readonly to?: number };
}

/** Returns whether a call matches the filter. `tool` is any part of an id. */
export function isShown({ tool, status, ensemble, times: { from = 0, to = Infinity } }: CallFilter, call: Call) {
  return (
    call.at >= from &&
    call.at < to &&
    call.toolId.toLowerCase().includes(tool.toLowerCase()) &&
    (status === "" || call.status === status) &&
    (ensemble === "" || call.ensemble === ensemble)
  );
}

/** Past calls, newest first. Undefined if the gateway has no history. */
export type PastCalls = { readonly calls: readonly Call[]; readonly more: boolean } | undefined;

interface CallListing {
  readonly key: string;
  readonly calls: Call[];
  pages: number;
  next: string | undefined;
}

const PAGE = 50;

export function usePastCalls(filter: CallFilter): { readonly asked: RequestState<PastCalls>; older(): void } {
  const { tool, status, ensemble, times } = filter;
  const key = JSON.stringify([tool, status, ensemble, times]);
  const [wanted, setWanted] = useState({ key, pages: 1 });
  const pages = wanted.key === key ? wanted.pages : 1;
  const listing = useRef<CallListing | undefined>(undefined);
  const asked = useAsk(
    async (): Promise<PastCalls> => {
      if (!(await gateway().stats()).keeps.history) return undefined;
      const own = listing.current?.key === key ? listing.current : { key, calls: [], pages: 0, next: undefined };
      listing.current = own;
      while (own.pages === 0 || (own.pages < pages && own.next !== undefined)) {
        const page = await gateway().history.list({
          kind: "call",
          limit: PAGE,
          ...(tool !== "" && { tool: `*${tool}*` }),
          ...(status !== "" && { status: status as Call["status"] }),
          ...(ensemble !== "" && { ensemble }),
          ...toQuery(times),
          ...(own.next !== undefined && { cursor: own.next }),
        });
        own.calls.push(...page.records.filter((record): record is Call => record.kind === "call"));
        own.next = page.next;
        own.pages++;
      }
      return { calls: [...own.calls], more: own.next !== undefined };
    },
    [key, pages],
    { delayMs: 150 },
  );
  return { asked, older: () => setWanted({ key, pages: pages + 1 }) };
}
