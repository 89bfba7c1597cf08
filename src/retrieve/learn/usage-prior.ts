import type { Clock } from "../../observe/clock.ts";
import { createEvidence, type Evidence, type Outcome } from "./evidence.ts";
import { querySignature, type TermsOf } from "./query-signature.ts";
import { createRecentRetrievals, type NotedRetrieval, type RecentRetrievals } from "./recent-retrievals.ts";
import { NEUTRAL } from "../rank/signals.ts";
import { getNewest, setNewest } from "../../base/remember.ts";

/** How fast usage is forgotten, and how much is remembered. */
export interface UsagePriorSettings {
  /** Days after which learned evidence counts half. */
  readonly halfLifeDays: number;
  /** The most tenants remembered; the least recently used one is dropped. Defaults to 1,000. */
  readonly maxTenants?: number;
  /** The most entries of one tenant: one for each word, tool and principal. Defaults to 20,000. */
  readonly maxPairs?: number;
}

/** The dependencies of a usage prior. */
export interface UsagePriorParts {
  readonly clock: Pick<Clock, "now">;
  /** The catalog's tokenizer. */
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
/** The key for evidence about a tool regardless of the words. No word's hash is negative. */
const ANY_WORD = -1;
/** The weight of evidence about a tool regardless of the words, relative to that for the words. */
const POPULARITY_PART = 0.15;
/** Tools above the called one that count as passed over. */
const MOST_PASSED_OVER = 5;

/** Learns from calls which tool serves which words, for each tenant on its own. */
export function createUsagePrior({ clock, termsOf, settings }: UsagePriorParts) {
  const { halfLifeDays, maxTenants = 1_000, maxPairs = 20_000 } = settings;
  // Two maps, so that a tenant that only searches does not displace tenants with learned evidence.
  const learned = new Map<string, Evidence>();
  const retrieved = new Map<string, Map<string, RecentRetrievals>>();

  return {
    /** Records the tools returned to a principal, best first, to relate its next calls to them. */
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
    /** Learns from a call, if it follows a retrieval of the same principal that returned the tool. `at` is when it was made. */
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
    /** How well each tool has served requests like this one, in [0, 1]. 0.5 if nothing is known. */
    priors(tenant: string, query: string): (toolId: string) => number {
      const evidence = learned.get(tenant);
      if (evidence === undefined) return () => NEUTRAL;
      const signature = querySignature(query, termsOf);
      const now = clock.now();
      return (toolId) => {
        let sum = 0;
        for (const term of signature) sum += evidence.logOdds(term, toolId, now);
        // The mean over all words of the request: one word in common with an earlier request says little about a long one.
        const forTheWords = signature.length === 0 ? 0 : sum / signature.length;
        return 1 / (1 + Math.exp(-forTheWords - POPULARITY_PART * evidence.logOdds(ANY_WORD, toolId, now)));
      };
    },
    forget(toolId: string): void {
      for (const evidence of learned.values()) evidence.forget(toolId);
    },
  };
}

/** The tools just above the called one that were not called. They count as passed over once: a second call after the same retrieval is not a second choice. */
function passedOver({ toolIds, called }: NotedRetrieval, toolId: string): readonly string[] {
  return called.size > 0 ? [] : toolIds.slice(0, toolIds.indexOf(toolId)).slice(-MOST_PASSED_OVER);
}

/** Returns an entry, created if it is missing. The least recently used entry is dropped if the map is full. */
function ensure<Value>(map: Map<string, Value>, key: string, limit: number, create: () => Value): Value {
  return getNewest(map, key) ?? setNewest(map, key, create(), limit);
}
