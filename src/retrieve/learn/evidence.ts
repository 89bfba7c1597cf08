/** The outcome of one call for a tool and a word. `passed-over` means that the tool ranked above the one that was called. */
export type Outcome = "worked" | "failed" | "passed-over";

/** One principal's share of the evidence about a word and a tool, at the time `at` (milliseconds since the epoch). */
interface Share {
  readonly principal: string;
  readonly up: number;
  readonly down: number;
  readonly at: number;
}

export type Evidence = ReturnType<typeof createEvidence>;

/** The maximum that one principal can add to a word and tool in each direction, however often it calls. */
const MOST_OF_ONE_PRINCIPAL = 4;
/** Being passed over is weak evidence, however often it happens. */
const PASSED_OVER = 0.1;
const MOST_PASSED_OVER = 0.5;
/** The maximum number of principals per word and tool. The least recent are dropped. */
const MOST_PRINCIPALS = 16;
/** The largest share of all entries that one principal may hold, so that it cannot evict the entries of others. */
const PRINCIPAL_PART = 0.25;
/** Evicts many entries at once, because finding the least valuable one reads all entries. */
const KEPT_WHEN_FULL = 0.9;

/**
 * Creates the evidence of one tenant's calls about which tool serves which word: log-odds with a Beta(1, 1) prior. The evidence decays with a
 * half-life and is bounded in size.
 */
export function createEvidence(
  { halfLifeMs, maxShares }: { readonly halfLifeMs: number; readonly maxShares: number },
  clock: { now(): number },
) {
  /** By word, then by tool. The least recent share is first. */
  const words = new Map<number, Map<string, Share[]>>();
  const sharesOf = new Map<string, number>();
  let size = 0;

  /** Returns the remaining weight of older evidence; 1 if the clock was set back. */
  const remaining = (at: number, now: number): number => 2 ** (-Math.max(0, now - at) / halfLifeMs);

  function count(principal: string, change: 1 | -1): void {
    size += change;
    const left = (sharesOf.get(principal) ?? 0) + change;
    if (left > 0) sharesOf.set(principal, left);
    else sharesOf.delete(principal);
  }

  function set(term: number, toolId: string, share: Share): void {
    let tools = words.get(term);
    if (tools === undefined) words.set(term, (tools = new Map<string, Share[]>()));
    const before = tools.get(toolId) ?? [];
    const others = before.filter(({ principal }) => principal !== share.principal);
    if (others.length === before.length) count(share.principal, 1);
    const displaced = others.length < MOST_PRINCIPALS ? undefined : others.shift();
    if (displaced !== undefined) count(displaced.principal, -1);
    tools.set(toolId, [...others, share]);
    makeRoom(share.principal);
  }

  function makeRoom(principal: string): void {
    const mostOfOne = Math.max(1, Math.floor(maxShares * PRINCIPAL_PART));
    if ((sharesOf.get(principal) ?? 0) > mostOfOne) dropLeast(mostOfOne, principal);
    if (size > maxShares) dropLeast(maxShares);
  }

  /** Evicts the least valuable shares, of all principals or of one, until a tenth of the limit is free. */
  function dropLeast(limit: number, of?: string): void {
    const now = clock.now();
    const held = [...words].flatMap(([term, tools]) =>
      [...tools].flatMap(([toolId, shares]) =>
        shares
          .filter(({ principal }) => of === undefined || principal === of)
          .map(({ principal, up, down, at }) => {
            return { term, toolId, principal, value: Math.max(up, down) * remaining(at, now) };
          }),
      ),
    );
    held.sort((a, b) => a.value - b.value);
    for (const { term, toolId, principal } of held.slice(0, held.length - Math.ceil(limit * KEPT_WHEN_FULL)))
      drop(term, toolId, principal);
  }

  function drop(term: number, toolId: string, principal: string): void {
    const tools = words.get(term);
    const left = (tools?.get(toolId) ?? []).filter((share) => share.principal !== principal);
    count(principal, -1);
    if (left.length > 0) tools?.set(toolId, left);
    else tools?.delete(toolId);
    if (tools?.size === 0) words.delete(term);
  }

  return {
    /** The number of shares, of all principals or of one. */
    sharesOf: (principal?: string): number => (principal === undefined ? size : (sharesOf.get(principal) ?? 0)),
    add(about: { readonly term: number; readonly toolId: string; readonly principal: string }, outcome: Outcome): void {
      const { term, toolId, principal } = about;
      const now = clock.now();
      const earlier = words
        .get(term)
        ?.get(toolId)
        ?.find((share) => share.principal === principal);
      const left = earlier === undefined ? 0 : remaining(earlier.at, now);
      const up = (earlier?.up ?? 0) * left;
      const down = (earlier?.down ?? 0) * left;
      set(term, toolId, { principal, ...moved(up, down, outcome), at: now });
    },
    /** Positive if the tool worked for the word, negative if it did not, 0 if unknown. Callers pass `now` to read the clock once. */
    logOdds(term: number, toolId: string, now: number): number {
      const shares = words.get(term)?.get(toolId);
      if (shares === undefined) return 0;
      let up = 1;
      let down = 1;
      for (const share of shares) {
        const left = remaining(share.at, now);
        up += share.up * left;
        down += share.down * left;
      }
      return Math.log(up / down);
    },
    forget(toolId: string): void {
      for (const [term, tools] of words) {
        for (const { principal } of tools.get(toolId) ?? []) drop(term, toolId, principal);
      }
    },
  };
}

function moved(up: number, down: number, outcome: Outcome): { readonly up: number; readonly down: number } {
  switch (outcome) {
    case "worked":
      return { up: Math.min(MOST_OF_ONE_PRINCIPAL, up + 1), down };
    case "failed":
      return { up, down: Math.min(MOST_OF_ONE_PRINCIPAL, down + 1) };
    case "passed-over":
      return { up, down: Math.max(down, Math.min(MOST_PASSED_OVER, down + PASSED_OVER)) };
  }
}
