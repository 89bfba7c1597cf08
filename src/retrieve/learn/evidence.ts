/** What one call says about a tool and a word: it worked, it failed, or the tool stood above the one that was called. */
export type Outcome = "worked" | "failed" | "passed-over";

/** One principal's part of what is known about a word and a tool, as it was at `at` (milliseconds since the epoch). */
export interface Share {
  readonly principal: string;
  readonly up: number;
  readonly down: number;
  readonly at: number;
}

/** A share with the word's hash and the tool it is about. */
export interface EvidenceRow extends Share {
  readonly term: number;
  readonly toolId: string;
}

/** How long evidence lasts, and how much of it is kept. */
export interface EvidenceLimits {
  readonly halfLifeMs: number;
  /** Shares kept in all. Where there are more, the least valuable go. */
  readonly maxShares: number;
}

/** What the calls of one tenant say about which tool serves which word. */
export interface Evidence {
  readonly size: number;
  add(about: { readonly term: number; readonly toolId: string; readonly principal: string }, outcome: Outcome): void;
  /** Above 0 where the tool worked for the word, below 0 where it did not, 0 where nothing is known. `now` saves asking the clock for each. */
  logOdds(term: number, toolId: string, now: number): number;
  forget(toolId: string): void;
  /** Everything, in an order that `put` takes back. */
  rows(): IterableIterator<EvidenceRow>;
  put(row: EvidenceRow): void;
}

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

/** Creates the evidence of one tenant: log-odds with a Beta(1, 1) prior for each word and tool, halving with each half-life. */
export function createEvidence(limits: EvidenceLimits, clock: { now(): number }): Evidence {
  const { halfLifeMs, maxShares } = limits;
  /** By word, then by tool; of the shares the one heard longest ago stands first. */
  const words = new Map<number, Map<string, Share[]>>();
  const held = new Map<string, number>();
  let size = 0;

  /** What is left now of what was there then. A clock that was set back leaves all of it. */
  const remaining = (at: number, now: number): number => 2 ** (-Math.max(0, now - at) / halfLifeMs);

  function count(principal: string, change: 1 | -1): void {
    size += change;
    const left = (held.get(principal) ?? 0) + change;
    if (left > 0) held.set(principal, left);
    else held.delete(principal);
  }

  /** Puts a principal's share in place of its earlier one. */
  function set(term: number, toolId: string, share: Share): void {
    let tools = words.get(term);
    if (tools === undefined) words.set(term, (tools = new Map<string, Share[]>()));
    const others = (tools.get(toolId) ?? []).filter(({ principal }) => principal !== share.principal);
    const before = tools.get(toolId)?.length ?? 0;
    if (others.length === before) count(share.principal, 1);
    const displaced = others.length < MOST_PRINCIPALS ? undefined : others.shift();
    if (displaced !== undefined) count(displaced.principal, -1);
    tools.set(toolId, [...others, share]);
    makeRoom(share.principal);
  }

  function makeRoom(principal: string): void {
    const mostOfOne = Math.max(1, Math.floor(maxShares * PRINCIPAL_PART));
    if ((held.get(principal) ?? 0) > mostOfOne) dropLeast(mostOfOne, principal);
    if (size > maxShares) dropLeast(maxShares);
  }

  /** Drops the least valuable shares, of all or of one principal, until a tenth of their limit is free. */
  function dropLeast(limit: number, of?: string): void {
    const now = clock.now();
    const concerned = (share: Share): boolean => of === undefined || share.principal === of;
    const valueOf = ({ up, down, at }: Share): number => Math.max(up, down) * remaining(at, now);
    const values = [...words.values()]
      .flatMap((tools) => [...tools.values()].flat())
      .filter(concerned)
      .map(valueOf);
    let excess = values.length - Math.ceil(limit * KEPT_WHEN_FULL);
    const most = Float64Array.from(values).sort()[excess - 1] ?? 0;
    for (const [term, tools] of words) {
      for (const [toolId, shares] of tools) {
        for (const share of shares) {
          if (excess <= 0) return;
          if (!concerned(share) || valueOf(share) > most) continue;
          drop(term, toolId, share.principal);
          excess--;
        }
      }
    }
  }

  function drop(term: number, toolId: string, principal: string): void {
    const tools = words.get(term);
    const left = (tools?.get(toolId) ?? []).filter((share) => share.principal !== principal);
    count(principal, -1);
    if (left.length > 0) tools?.set(toolId, left);
    else tools?.delete(toolId);
    if (tools?.size === 0) words.delete(term);
  }

  function* rows(): IterableIterator<EvidenceRow> {
    for (const [term, tools] of words) {
      for (const [toolId, shares] of tools) for (const share of shares) yield { term, toolId, ...share };
    }
  }

  return {
    get size() {
      return size;
    },
    add({ term, toolId, principal }, outcome) {
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
    logOdds(term, toolId, now) {
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
    forget(toolId) {
      const known = [...rows()].filter((row) => row.toolId === toolId);
      for (const { term, principal } of known) drop(term, toolId, principal);
    },
    rows,
    put({ term, toolId, principal, up, down, at }) {
      const within = (amount: number): number => Math.min(MOST_OF_ONE_PRINCIPAL, Math.max(0, amount));
      set(term, toolId, { principal, up: within(up), down: within(down), at: Math.min(at, clock.now()) });
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
