import type { Clock } from "../../observe/clock.ts";
import { createEvidence, type Evidence, type Outcome } from "./evidence.ts";
import { querySignature, type TermsOf } from "./query-signature.ts";
import { createRecentRetrievals, type NotedRetrieval, type RecentRetrievals } from "./recent-retrievals.ts";
import { NEUTRAL } from "../rank/signals.ts";
import { getNewest, setNewest } from "../../base/remember.ts";

/** How fast learned evidence decays, and its maximum size. */
export interface UsagePriorSettings {
  /** The half-life of learned evidence, in days. */
  readonly halfLifeDays: number;
  /** The maximum number of tenants. The least recently used tenant is dropped. Defaults to 1,000. */
  readonly maxTenants?: number;
  /** The maximum number of entries per tenant, one for each word, tool and principal. Defaults to 20,000. */
  readonly maxPairs?: number;
}

export interface UsagePriorParts {
  readonly clock: Pick<Clock, "now">;
  readonly termsOf: TermsOf;
  readonly settings: UsagePriorSettings;
}

interface CallerKeys {
  readonly tenant: string;
  readonly principal: string;
  readonly traceId: string;
}

const DAY_MS = 24 * 60 * 60_000;
const MOST_PRINCIPALS = 1_000;
/** The key for evidence about a tool independent of words. Hashes of words are never negative. */
const ANY_WORD = -1;
/** The weight of evidence independent of words, relative to evidence about words. */
const POPULARITY_PART = 0.15;
/** The maximum number of tools above the called one that count as passed over. */
const MOST_PASSED_OVER = 5;

/** Learns from calls which tool serves which words, separately for each tenant. */
export function createUsagePrior({ clock, termsOf, settings }: UsagePriorParts) {
  const { halfLifeDays, maxTenants = 1_000, maxPairs = 20_000 } = settings;
  // Two maps, so that a tenant that only searches does not evict tenants with learned evidence.
  const learned = new Map<string, Evidence>();
  const retrieved = new Map<string, Map<string, RecentRetrievals>>();

  return {
    /** Records the tools that were returned to a principal, best first, to relate the principal's next calls to them. */
    noteRetrieval(retrieval: CallerKeys & { readonly query: string; readonly toolIds: readonly string[] }): void {
      const { tenant, principal, traceId, query, toolIds } = retrieval;
      getNewest(learned, tenant);
      const principals = ensure(retrieved, tenant, maxTenants, () => new Map<string, RecentRetrievals>());
      ensure(principals, principal, MOST_PRINCIPALS, createRecentRetrievals).add({
        traceId,
        at: clock.now(),
        signature: querySignature(query, termsOf),
        toolIds: [...toolIds],
        called: new Set(),
      });
    },
    /** Learns from a call that follows a retrieval of the same principal, if the retrieval returned the tool. `at` is the time of the call. */
    noteCall(call: CallerKeys & { readonly toolId: string; readonly succeeded: boolean; readonly at?: number }): void {
      const { tenant, principal, traceId, toolId, succeeded, at = clock.now() } = call;
      const principals = getNewest(retrieved, tenant);
      const recent = principals && getNewest(principals, principal);
      const retrieval = recent?.before({ traceId, toolId, at });
      if (recent === undefined || retrieval === undefined || !recent.count(toolId, clock.now())) return;
      const evidence = ensure(learned, tenant, maxTenants, () =>
        createEvidence({ halfLifeMs: halfLifeDays * DAY_MS, maxShares: maxPairs }, clock),
      );
      const learn = (about: string, outcome: Outcome): void => {
        for (const term of retrieval.signature) evidence.add({ term, toolId: about, principal }, outcome);
      };
      learn(toolId, succeeded ? "worked" : "failed");
      evidence.add({ term: ANY_WORD, toolId, principal }, succeeded ? "worked" : "failed");
      if (succeeded) for (const passed of passedOver(retrieval, toolId)) learn(passed, "passed-over");
      retrieval.called.add(toolId);
    },
    /** Returns how well each tool served similar requests, in [0, 1]; 0.5 if unknown. */
    priors(tenant: string, query: string): (toolId: string) => number {
      const evidence = learned.get(tenant);
      if (evidence === undefined) return () => NEUTRAL;
      const signature = querySignature(query, termsOf);
      const now = clock.now();
      return (toolId) => {
        let sum = 0;
        for (const term of signature) sum += evidence.logOdds(term, toolId, now);
        // The mean over all words of the request. One word in common with an earlier request says little about a long request.
        const forTheWords = signature.length === 0 ? 0 : sum / signature.length;
        return 1 / (1 + Math.exp(-forTheWords - POPULARITY_PART * evidence.logOdds(ANY_WORD, toolId, now)));
      };
    },
    forget(toolId: string): void {
      for (const evidence of learned.values()) evidence.forget(toolId);
    },
  };
}

/** The tools just above the called one that were not called. Counts only once per retrieval: a second call is not a second choice. */
function passedOver({ toolIds, called }: NotedRetrieval, toolId: string): readonly string[] {
  return called.size > 0 ? [] : toolIds.slice(0, toolIds.indexOf(toolId)).slice(-MOST_PASSED_OVER);
}

/** Returns an entry, and creates it if missing. Evicts the least recently used entry if the map is full. */
function ensure<Value>(map: Map<string, Value>, key: string, limit: number, create: () => Value): Value {
  return getNewest(map, key) ?? setNewest(map, key, create(), limit);
}
