import type { Clock } from "../../observe/clock.ts";
import { createEvidence, type Evidence, type Outcome } from "./evidence.ts";
import { querySignature, type TermsOf } from "./query-signature.ts";
import { createRecentMap, type RecentMap } from "./recent-map.ts";
import { createRecentRetrievals, type NotedRetrieval, type RecentRetrievals } from "./recent-retrievals.ts";
import { NEUTRAL } from "../rank/signals.ts";
import { fromSnapshot, toTenantSnapshot, type UsageSnapshot } from "./usage-snapshot.ts";

/** How fast use is forgotten, and how much is remembered. */
export interface UsagePriorSettings {
  /** Days after which what was learned counts half. */
  readonly halfLifeDays: number;
  /** Tenants remembered; the one used longest ago makes room. Defaults to 1,000. */
  readonly maxTenants?: number;
  /** What one tenant may hold: one entry for each word, tool and principal. Defaults to 20,000. */
  readonly maxPairs?: number;
}

/** Learns from calls which tool serves which words, for each tenant on its own. */
export interface UsagePrior {
  /** Remembers what a principal was given, best first, so that its next calls can be understood. */
  noteRetrieval(retrieval: {
    readonly tenant: string;
    readonly principal: string;
    readonly traceId: string;
    readonly query: string;
    readonly toolIds: readonly string[];
  }): void;
  /** Learns from a call, if it follows a retrieval of the same principal that returned the tool. */
  noteCall(call: {
    readonly tenant: string;
    readonly principal: string;
    readonly traceId: string;
    readonly toolId: string;
    readonly succeeded: boolean;
    /** When the call was made, in milliseconds since the epoch. Defaults to now. */
    readonly at?: number;
  }): void;
  /** How well a tool has served requests like this one, in [0, 1]. 0.5 where nothing is known. */
  prior(tenant: string, query: string, toolId: string): number;
  /** The same for many tools and one query, whose words are read once. */
  priors(tenant: string, query: string): (toolId: string) => number;
  forget(toolId: string): void;
  /** What was learned, as plain data. Retrievals that no call has followed yet are no part of it. */
  snapshot(): UsageSnapshot;
  /** Puts a snapshot in place of what was learned. False if it is none, and then nothing changes. */
  restore(snapshot: unknown): boolean;
}

/** What a usage prior works with. */
export interface UsagePriorParts {
  readonly clock: Pick<Clock, "now">;
  /** How requests are read: the catalog's tokenizer. */
  readonly termsOf: TermsOf;
  readonly settings: UsagePriorSettings;
}

const DAY_MS = 24 * 60 * 60_000;
const MOST_PRINCIPALS = 1_000;
/** The place of what is known about a tool whatever the words. No word's hash is negative. */
const ANY_WORD = -1;
/** What is known of a tool whatever the words counts this much of what is known for the words. */
const POPULARITY_PART = 0.15;
/** Tools above the called one that count as passed over. */
const MOST_PASSED_OVER = 5;

/** Creates a prior that knows nothing yet. */
export function createUsagePrior({ clock, termsOf, settings }: UsagePriorParts): UsagePrior {
  const { halfLifeDays, maxTenants = 1_000, maxPairs = 20_000 } = settings;
  // Two maps, so that a tenant that only searches takes no other tenant's place among those that taught something.
  const learned = createRecentMap<Evidence>(maxTenants);
  const retrieved = createRecentMap<RecentMap<RecentRetrievals>>(maxTenants);

  const newEvidence = (): Evidence => createEvidence({ halfLifeMs: halfLifeDays * DAY_MS, maxShares: maxPairs }, clock);

  function priors(tenant: string, query: string): (toolId: string) => number {
    const evidence = learned.peek(tenant);
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
  }

  return {
    noteRetrieval({ tenant, principal, traceId, query, toolIds }) {
      learned.touch(tenant);
      const principals = ensure(retrieved, tenant, () => createRecentMap<RecentRetrievals>(MOST_PRINCIPALS));
      ensure(principals, principal, createRecentRetrievals).add({
        traceId,
        at: clock.now(),
        signature: querySignature(query, termsOf),
        toolIds: [...toolIds],
        called: new Set(),
      });
    },
    noteCall({ tenant, principal, traceId, toolId, succeeded, at = clock.now() }) {
      const recent = retrieved.touch(tenant)?.touch(principal);
      const retrieval = recent?.before({ traceId, toolId, at });
      if (recent === undefined || retrieval === undefined || !recent.count(toolId, clock.now())) return;
      const evidence = ensure(learned, tenant, newEvidence);
      const learn = (about: string, outcome: Outcome): void => {
        for (const term of retrieval.signature) evidence.add({ term, toolId: about, principal }, outcome);
      };
      learn(toolId, succeeded ? "worked" : "failed");
      evidence.add({ term: ANY_WORD, toolId, principal }, succeeded ? "worked" : "failed");
      if (succeeded) for (const passed of passedOver(retrieval, toolId)) learn(passed, "passed-over");
      retrieval.called.add(toolId);
    },
    prior: (tenant, query, toolId) => priors(tenant, query)(toolId),
    priors,
    forget(toolId) {
      for (const [, evidence] of learned.entries()) evidence.forget(toolId);
    },
    snapshot() {
      return { version: 1, tenants: [...learned.entries()].map((entry) => toTenantSnapshot(...entry)) };
    },
    restore(snapshot) {
      const tenants = fromSnapshot(snapshot);
      if (tenants === undefined) return false;
      learned.clear();
      for (const { tenant, rows } of tenants) {
        const evidence = newEvidence();
        for (const row of rows) evidence.put(row);
        learned.put(tenant, evidence);
      }
      return true;
    },
  };
}

/** The tools just above the called one that nobody called. They are passed over once: a second call after the same retrieval is no second choice. */
function passedOver({ toolIds, called }: NotedRetrieval, toolId: string): readonly string[] {
  if (called.size > 0) return [];
  const above = toolIds.slice(0, toolIds.indexOf(toolId));
  return above.slice(-MOST_PASSED_OVER);
}

function ensure<Value>(map: RecentMap<Value>, key: string, create: () => Value): Value {
  const known = map.touch(key);
  if (known !== undefined) return known;
  const created = create();
  map.put(key, created);
  return created;
}
