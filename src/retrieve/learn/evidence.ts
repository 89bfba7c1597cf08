/** What one call says about a tool and a word: it worked, it failed, or the tool stood above the one that was called. */
export type Outcome = "worked" | "failed" | "passed-over";

/** One principal's part of what is known about a word and a tool, as it was at `at` (milliseconds since the epoch). */
interface Share {
  readonly principal: string;
  readonly up: number;
  readonly down: number;
  readonly at: number;
}

export type Evidence = ReturnType<typeof createEvidence>;

/** What one principal can add to a word and tool in each direction, however often it calls. */
const MOST_OF_ONE_PRINCIPAL = 4;
/** Being passed over is a weak sign, and remains one however often it happens. */
const PASSED_OVER = 0.1;
const MOST_PASSED_OVER = 0.5;
/** Principals heard on one word and tool; those heard longest ago make room. */
const MOST_PRINCIPALS = 16;
/** The part of all shares that one principal may hold, so that it cannot crowd out what others taught. */
const PRINCIPAL_PART = 0.25;
/** Room is made for many shares at once, because finding the least valuable looks at all. */
const KEPT_WHEN_FULL = 0.9;

/** What one tenant's calls say about which tool serves which word: log-odds with a Beta(1, 1) prior, halving with each half-life, within limits. */
export function createEvidence(
  { halfLifeMs, maxShares }: { readonly halfLifeMs: number; readonly maxShares: number },
  clock: { now(): number },
) {
  /** By word, then by tool; of the shares the one heard longest ago stands first. */
  const words = new Map<number, Map<string, Share[]>>();
  const sharesOf = new Map<string, number>();
  let size = 0;

  /** What is left now of what was there then. A clock that was set back leaves all of it. */
  const remaining = (at: number, now: number): number => 2 ** (-Math.max(0, now - at) / halfLifeMs);

  function count(principal: string, change: 1 | -1): void {
    size += change;
    const left = (sharesOf.get(principal) ?? 0) + change;
    if (left > 0) sharesOf.set(principal, left);
    else sharesOf.delete(principal);
  }

  /** Puts a principal's share in place of its earlier one. */
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

  /** Drops the least valuable shares, of all or of one principal, until a tenth of their limit is free. */
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
    /** Shares held in all, or by one principal. */
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
    /** Above 0 if the tool worked for the word, below 0 if it did not, 0 if nothing is known. `now` saves asking the clock for each. */
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
