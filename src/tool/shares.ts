/** A caller, in its tenant if it has one. */
export interface Holder {
  readonly id: string;
  readonly tenant?: string | undefined;
}

/** One thing that a caller makes the gateway keep: a session, a stream, a task. */
export interface Holding {
  readonly holder: Holder;
  /** Defaults to 0. */
  readonly bytes?: number | undefined;
  /** True while it cannot be taken away. Defaults to false. */
  readonly busy?: boolean | undefined;
  /** True while somebody uses it. It gives way only to a caller with less, and after everything of its caller that is not in use. Defaults to false. */
  readonly inUse?: boolean | undefined;
}

/** The most that is kept at once. */
export interface ShareBounds {
  readonly count: number;
  readonly bytes?: number;
  /** The most that one caller may hold of it. Defaults to all of it, as long as nobody else needs it. */
  readonly perCaller?: { readonly count?: number; readonly bytes?: number };
}

type Measure = "count" | "bytes";

/**
 * Returns what must go to make room for a newcomer, or undefined if there is no room for it. `held` is oldest first. A caller over its own bound
 * loses its own oldest holding. If all callers together are over theirs, the caller with the most gives way, in the tenant with the most: a flood
 * displaces itself, and a caller with less than the others never loses to one with more.
 */
export function crowdedOut<Held extends Holding>(
  held: readonly Held[],
  newcomer: Holding,
  bounds: ShareBounds,
): readonly Held[] | undefined {
  const left = new Set<Holding>([...held, newcomer]);
  const gone: Held[] = [];
  const key = callerKey(newcomer.holder);
  const isOwn = ({ holder }: Holding): boolean => callerKey(holder) === key;
  const drop = (holding: Holding | undefined): boolean => {
    if (holding === undefined || !left.delete(holding)) return false;
    gone.push(holding as Held);
    return true;
  };
  const yields = (holding: Holding): boolean => holding !== newcomer && holding.busy !== true && holding.inUse !== true;

  for (const measure of ["count", "bytes"] as const) {
    const own = bounds.perCaller?.[measure] ?? Number.POSITIVE_INFINITY;
    while (sum([...left].filter(isOwn), measure) > own)
      if (!drop([...left].find((each) => isOwn(each) && yields(each)))) return undefined;
    const all = bounds[measure] ?? Number.POSITIVE_INFINITY;
    while (sum([...left], measure) > all) if (!drop(firstToGo([...left], measure, newcomer, yields))) return undefined;
  }
  return gone;
}

/** The oldest holding of the caller with the most, in the tenant with the most; never one of somebody with less than the newcomer. */
function firstToGo(
  left: readonly Holding[],
  measure: Measure,
  newcomer: Holding,
  yields: (holding: Holding) => boolean,
): Holding | undefined {
  const isMore = (group: readonly Holding[], key: (holder: Holder) => string): boolean => {
    const own = key(newcomer.holder);
    return (
      sum(group, measure) >
      sum(
        left.filter(({ holder }) => key(holder) === own),
        measure,
      )
    );
  };
  for (const tenant of largestFirst(left, ({ holder }) => tenantKey(holder), measure)) {
    const isOwnTenant = tenant.includes(newcomer);
    for (const caller of largestFirst(tenant, ({ holder }) => callerKey(holder), measure)) {
      const found = caller.find(yields);
      if (found !== undefined) return found;
      if (caller.includes(newcomer)) return undefined;
      const used = caller.find(({ inUse, busy }) => inUse === true && busy !== true);
      if (used !== undefined && (isOwnTenant ? isMore(caller, callerKey) : isMore(tenant, tenantKey))) return used;
    }
    if (isOwnTenant) return undefined;
  }
  return undefined;
}

function largestFirst(
  holdings: readonly Holding[],
  by: (holding: Holding) => string,
  measure: Measure,
): readonly (readonly Holding[])[] {
  return [...Map.groupBy(holdings, by).values()]
    .map((group) => ({ group, size: sum(group, measure) }))
    .sort((left, right) => right.size - left.size)
    .map(({ group }) => group);
}

function sum(holdings: readonly Holding[], measure: Measure): number {
  if (measure === "count") return holdings.length;
  return holdings.reduce((total, { bytes = 0 }) => total + bytes, 0);
}

/** Names a caller: two tenants may have a caller of one name. */
export function callerKey({ id, tenant }: Holder): string {
  return tenant === undefined ? `-${id}` : `${tenant.length} ${tenant}${id}`;
}

/** A caller without a tenant stands for itself. */
function tenantKey({ id, tenant }: Holder): string {
  return tenant === undefined ? `-${id}` : ` ${tenant}`;
}

/** Room that a caller took, until it gives it back. */
export interface Share {
  /** Changes how much of the bytes it takes. False, with nothing changed, if there is no room. */
  resize(bytes: number): boolean;
  /** Makes it the newest of what its caller holds: the oldest gives way first. */
  renew(): void;
  /** Gives the room back. Safe to call twice. */
  release(): void;
}

export interface TakeOptions {
  readonly bytes?: number;
  /** Asked when room is needed. Defaults to false. */
  readonly isBusy?: () => boolean;
  /** Asked when room is needed: see `Holding.inUse`. Defaults to false. */
  readonly isInUse?: () => boolean;
  /** Ends what is held, because somebody with less needs the room. It no longer counts then. Omitted if it cannot be ended. */
  readonly giveWay?: () => void;
}

export type Shares = ReturnType<typeof createShares>;

/** Divides what one process can hold fairly between its callers. Costs two counters while there is room. */
export function createShares(bounds: ShareBounds) {
  interface Held extends Holding {
    bytes: number;
    readonly giveWay: (() => void) | undefined;
  }
  /** Oldest first. */
  const held = new Set<Held>();
  const callers = new Map<string, Record<Measure, number>>();
  const all: Record<Measure, number> = { count: 0, bytes: 0 };

  function book(holder: Holder, count: number, bytes: number): void {
    const key = callerKey(holder);
    const own = callers.get(key) ?? { count: 0, bytes: 0 };
    for (const total of [own, all]) {
      total.count += count;
      total.bytes += bytes;
    }
    if (own.count === 0) callers.delete(key);
    else callers.set(key, own);
  }

  function fits(holder: Holder, count: number, bytes: number): boolean {
    const own = callers.get(callerKey(holder));
    const within = (
      total: Record<Measure, number> | undefined,
      limit: Partial<Record<Measure, number>> = {},
    ): boolean =>
      (total?.count ?? 0) + count <= (limit.count ?? Number.POSITIVE_INFINITY) &&
      (total?.bytes ?? 0) + bytes <= (limit.bytes ?? Number.POSITIVE_INFINITY);
    return within(all, bounds) && within(own, bounds.perCaller);
  }

  function drop(one: Held): boolean {
    if (!held.delete(one)) return false;
    book(one.holder, -1, -one.bytes);
    return true;
  }

  function makeRoom(newcomer: Holding, besides?: Held): boolean {
    const others = [...held].filter((one) => one !== besides);
    const gone = crowdedOut(others, newcomer, bounds);
    if (gone === undefined) return false;
    for (const one of gone) if (drop(one)) one.giveWay?.();
    return true;
  }

  return {
    /** Takes room for a caller. Undefined if there is none, or the caller has its share. */
    take(holder: Holder, { bytes = 0, isBusy, isInUse, giveWay }: TakeOptions = {}): Share | undefined {
      const own: Held = {
        holder,
        bytes,
        giveWay,
        get busy() {
          return giveWay === undefined || isBusy?.() === true;
        },
        get inUse() {
          return isInUse?.() === true;
        },
      };
      if (!fits(holder, 1, bytes) && !makeRoom(own)) return undefined;
      held.add(own);
      book(holder, 1, bytes);
      return {
        resize(now) {
          if (!held.has(own)) return false;
          const more = now - own.bytes;
          if (more > 0 && !fits(holder, 0, more) && !makeRoom({ holder, bytes: now, busy: true }, own)) return false;
          book(holder, 0, more);
          own.bytes = now;
          return true;
        },
        renew() {
          if (held.delete(own)) held.add(own);
        },
        release: () => void drop(own),
      };
    },
    /** What a caller holds now. */
    of: (holder: Holder): Readonly<Record<Measure, number>> => ({
      ...(callers.get(callerKey(holder)) ?? { count: 0, bytes: 0 }),
    }),
    /** What all callers hold now. */
    get all(): Readonly<Record<Measure, number>> {
      return { ...all };
    },
  };
}
