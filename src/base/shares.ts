/** A caller, with its tenant if it has one. */
export interface Holder {
  readonly id: string;
  readonly tenant?: string | undefined;
}

/** One resource that the gateway keeps for a caller: a session, a stream, a task. */
export interface Holding {
  readonly holder: Holder;
  /** Defaults to 0. */
  readonly bytes?: number | undefined;
  /** True while the holding cannot be revoked. Defaults to false. */
  readonly busy?: boolean | undefined;
  /** True while in use. The holding is then dropped after the caller's idle ones, and only for a caller that holds less. Defaults to false. */
  readonly inUse?: boolean | undefined;
}

export interface ShareBounds {
  readonly count: number;
  readonly bytes?: number;
  /** The maximum per caller. Defaults to everything, as long as no other caller needs it. */
  readonly perCaller?: { readonly count?: number; readonly bytes?: number };
}

type Measure = "count" | "bytes";

/**
 * Returns the holdings to drop to make room for a new one; undefined if there is no room. `held` is oldest first. A caller over its own limit loses
 * its own oldest holding. If the total is over the limit, the tenant that holds the most loses one of its largest caller: a flood displaces itself,
 * and a caller never loses to one that holds more.
 */
export function crowdedOut<Held extends Holding>(
  held: readonly Held[],
  newcomer: Holding,
  bounds: ShareBounds,
): readonly Held[] | undefined {
  const { tenants, tenant: ownTenant, caller: own } = groupHoldings(held, newcomer);
  const all = { count: 0, bytes: 0 };
  for (const { total } of tenants) add(all, total);
  const gone: Held[] = [];

  /** Drops the caller's oldest idle or used holding. Returns false if there is none that may be dropped. */
  function drop(tenant: Tenant<Held>, caller: Caller<Held>, use: "idle" | "used" = "idle"): boolean {
    const { held: holdings, next } = caller;
    const passed = ({ busy, inUse }: Held): boolean => busy === true || (inUse === true) !== (use === "used");
    for (let one = holdings[next[use]]; one !== undefined && passed(one); one = holdings[next[use]]) next[use]++;
    const found = holdings[next[use]++];
    if (found === undefined) return false;
    gone.push(found);
    for (const total of [all, tenant.total, caller.total]) add(total, sizeOf(found), -1);
    return true;
  }

  /** Drops a holding of the largest caller in the largest tenant. Never drops one from a caller that holds less than the new caller. */
  function dropFromLargest(measure: Measure): boolean {
    for (const tenant of largestFirst(tenants, measure)) {
      for (const caller of largestFirst(tenant.callers, measure)) {
        if (drop(tenant, caller)) return true;
        if (caller === own) return false;
        const [larger, mine] = tenant === ownTenant ? [caller, own] : [tenant, ownTenant];
        if (larger.total[measure] > mine.total[measure] && drop(tenant, caller, "used")) return true;
      }
      if (tenant === ownTenant) return false;
    }
    return false;
  }

  for (const measure of ["count", "bytes"] as const) {
    while (own.total[measure] > (bounds.perCaller?.[measure] ?? Number.POSITIVE_INFINITY))
      if (!drop(ownTenant, own)) return undefined;
    while (all[measure] > (bounds[measure] ?? Number.POSITIVE_INFINITY))
      if (!dropFromLargest(measure)) return undefined;
  }
  return gone;
}

interface Caller<Held> {
  /** The caller's holdings, without the new one. */
  readonly held: Held[];
  /** The index of the first unchecked holding, in use and idle. */
  readonly next: Record<"idle" | "used", number>;
  /** The remaining amounts, including the new holding. */
  readonly total: Record<Measure, number>;
}

interface Tenant<Held> {
  readonly callers: Caller<Held>[];
  readonly total: Record<Measure, number>;
}

function groupHoldings<Held extends Holding>(
  held: readonly Held[],
  newcomer: Holding,
): { readonly tenants: readonly Tenant<Held>[]; readonly tenant: Tenant<Held>; readonly caller: Caller<Held> } {
  const tenants = new Map<string, Tenant<Held>>();
  const callers = new Map<string, Caller<Held>>();
  function book(holding: Holding): { readonly tenant: Tenant<Held>; readonly caller: Caller<Held> } {
    const [ofTenant, ofCaller] = [tenantKey(holding.holder), callerKey(holding.holder)];
    const tenant = tenants.get(ofTenant) ?? { callers: [], total: { count: 0, bytes: 0 } };
    tenants.set(ofTenant, tenant);
    const known = callers.get(ofCaller);
    const caller = known ?? { held: [], next: { idle: 0, used: 0 }, total: { count: 0, bytes: 0 } };
    if (known === undefined) {
      callers.set(ofCaller, caller);
      tenant.callers.push(caller);
    }
    for (const total of [tenant.total, caller.total]) add(total, sizeOf(holding));
    return { tenant, caller };
  }
  for (const holding of held) book(holding).caller.held.push(holding);
  const own = book(newcomer);
  return { tenants: [...tenants.values()], ...own };
}

function largestFirst<Group extends { readonly total: Readonly<Record<Measure, number>> }>(
  groups: readonly Group[],
  measure: Measure,
): readonly Group[] {
  return groups.toSorted((left, right) => right.total[measure] - left.total[measure]);
}

function sizeOf({ bytes = 0 }: Holding): Readonly<Record<Measure, number>> {
  return { count: 1, bytes };
}

function add(total: Record<Measure, number>, more: Readonly<Record<Measure, number>>, sign: 1 | -1 = 1): void {
  total.count += sign * more.count;
  total.bytes += sign * more.bytes;
}

/** Returns the largest share of `count` slots for one remote caller: three quarters, rounded up, but never all of several. */
export function largestShare(count: number): number {
  return Math.max(1, Math.min(count - 1, Math.ceil(count * 0.75)));
}

/** Returns the key of a caller. Callers of different tenants may have the same name. */
export function callerKey({ id, tenant }: Holder): string {
  return tenant === undefined ? `-${id}` : `${tenant.length} ${tenant}${id}`;
}

/** A caller without a tenant counts as its own tenant. */
function tenantKey({ id, tenant }: Holder): string {
  return tenant === undefined ? `-${id}` : ` ${tenant}`;
}

/** Room that a caller holds until it is released. */
export interface Share {
  /** Changes the size in bytes. Returns false, and changes nothing, if there is no room. */
  resize(bytes: number): boolean;
  /** Makes this the caller's newest holding. The oldest is dropped first. */
  renew(): void;
  /** Releases the room. Safe to call twice. */
  release(): void;
}

export interface TakeOptions {
  readonly bytes?: number;
  /** Called when room is needed. Defaults to false. */
  readonly isBusy?: () => boolean;
  /** Called when room is needed: see `Holding.inUse`. Defaults to false. */
  readonly isInUse?: () => boolean;
  /** Ends the holding, because a caller that holds less needs the room. The holding no longer counts. Omitted if it cannot be ended. */
  readonly giveWay?: () => void;
}

export type Shares = ReturnType<typeof createShares>;

/** Divides a process's resources fairly between its callers. Costs two counters while there is room. */
export function createShares(bounds: ShareBounds) {
  interface Held extends Holding {
    bytes: number;
    readonly giveWay: (() => void) | undefined;
  }
  const held = new Set<Held>();
  let newest: Held | undefined;
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
    if (newest === one) newest = undefined;
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
    /** Takes room for a caller. Returns undefined if there is none, or the caller has used up its share. */
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
      held.add((newest = own));
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
          if (newest !== own && held.delete(own)) held.add((newest = own));
        },
        release: () => void drop(own),
      };
    },
    /** The total holdings of one caller. */
    of: (holder: Holder): Readonly<Record<Measure, number>> => ({
      ...(callers.get(callerKey(holder)) ?? { count: 0, bytes: 0 }),
    }),
    /** The total holdings of all callers. */
    get all(): Readonly<Record<Measure, number>> {
      return { ...all };
    },
  };
}
