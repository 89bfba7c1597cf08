import type { Clock } from "../../observe/clock.ts";
import { createEvidence, type Evidence, type Outcome } from "./evidence.ts";
import { querySignature, type TermsOf } from "./query-signature.ts";
import { createRecentRetrievals, type NotedRetrieval, type RecentRetrievals } from "./recent-retrievals.ts";
import { NEUTRAL } from "../rank/signals.ts";

/** How fast use is forgotten, and how much is remembered. */
export interface UsagePriorSettings {
  /** Days after which what was learned counts half. */
  readonly halfLifeDays: number;
  /** Tenants remembered; the one used longest ago makes room. Defaults to 1,000. */
  readonly maxTenants?: number;
  /** What one tenant may hold: one entry for each word, tool and principal. Defaults to 20,000. */
  readonly maxPairs?: number;
}

/** What a usage prior works with. */
export interface UsagePriorParts {
  readonly clock: Pick<Clock, "now">;
  /** How requests are read: the catalog's tokenizer. */
  readonly termsOf: TermsOf;
  readonly settings: UsagePriorSettings;
}

/** Whose retrieval or call it is. */
interface Who {
  readonly tenant: string;
  readonly principal: string;
  readonly traceId: string;
}

const DAY_MS = 24 * 60 * 60_000;
const MOST_PRINCIPALS = 1_000;
/** The place of what is known about a tool whatever the words. No word's hash is negative. */
const ANY_WORD = -1;
/** What is known of a tool whatever the words counts this much of what is known for the words. */
const POPULARITY_PART = 0.15;
/** Tools above the called one that count as passed over. */
const MOST_PASSED_OVER = 5;

/** Learns from calls which tool serves which words, for each tenant on its own. */
export function createUsagePrior({ clock, termsOf, settings }: UsagePriorParts) {
  const { halfLifeDays, maxTenants = 1_000, maxPairs = 20_000 } = settings;
  // Two maps, so that a tenant that only searches takes no other tenant's place among those that taught something.
  const learned = new Map<string, Evidence>();
  const retrieved = new Map<string, Map<string, RecentRetrievals>>();

  return {
    /** Remembers what a principal was given, best first, so that its next calls can be understood. */
    noteRetrieval(retrieval: Who & { readonly query: string; readonly toolIds: readonly string[] }): void {
      const { tenant, principal, traceId, query, toolIds } = retrieval;
      touch(learned, tenant);
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
    noteCall(call: Who & { readonly toolId: string; readonly succeeded: boolean; readonly at?: number }): void {
      const { tenant, principal, traceId, toolId, succeeded, at = clock.now() } = call;
      const principals = touch(retrieved, tenant);
      const recent = principals && touch(principals, principal);
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

/** The tools just above the called one that nobody called. They are passed over once: a second call after the same retrieval is not a second choice. */
function passedOver({ toolIds, called }: NotedRetrieval, toolId: string): readonly string[] {
  return called.size > 0 ? [] : toolIds.slice(0, toolIds.indexOf(toolId)).slice(-MOST_PASSED_OVER);
}

/** Reads an entry and marks it as just used, by moving it to the end. */
function touch<Value>(map: Map<string, Value>, key: string): Value | undefined {
  const value = map.get(key);
  if (value !== undefined && map.delete(key)) map.set(key, value);
  return value;
}

/** The same, creating the entry if there is none. What was used longest ago makes room for it. */
function ensure<Value>(map: Map<string, Value>, key: string, limit: number, create: () => Value): Value {
  const known = touch(map, key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  const [oldest] = map.keys();
  if (map.size > limit && oldest !== undefined) map.delete(oldest);
  return created;
}
