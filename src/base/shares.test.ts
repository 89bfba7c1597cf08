import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createShares, crowdedOut, type Holding } from "./shares.ts";

const held = (id: string, options: Partial<Holding> & { readonly tenant?: string } = {}): Holding => {
  const { tenant, ...others } = options;
  return { holder: { id, tenant }, ...others };
};

describe("who gives way", () => {
  it("takes nothing away while there is room", () => {
    expect(crowdedOut([held("a")], held("b"), { count: 2 })).toEqual([]);
  });

  it("takes the oldest of the caller with the most", () => {
    const [first, second, other] = [held("a"), held("a"), held("b")];
    expect(crowdedOut([other, first, second], held("c"), { count: 3 })).toEqual([first]);
  });

  it("takes from the tenant with the most, however many callers it has", () => {
    const many = ["a", "b", "c"].map((id) => held(id, { tenant: "acme" }));
    const alone = held("d", { tenant: "other" });
    expect(crowdedOut([alone, ...many], held("e", { tenant: "third" }), { count: 4 })).toEqual([many[0]]);
  });

  it("lets a flood displace itself alone", () => {
    const own = [held("a"), held("a")];
    expect(crowdedOut([held("b"), ...own], held("a"), { count: 3 })).toEqual([own[0]]);
  });

  it("refuses a newcomer rather than take from somebody who has less", () => {
    const busy = [held("a", { busy: true }), held("a", { busy: true })];
    expect(crowdedOut([...busy, held("b")], held("a"), { count: 3 })).toBeUndefined();
  });

  it("takes what is in use only for somebody with less, and from the caller with the most", () => {
    const [used, another] = [held("a", { inUse: true }), held("a", { inUse: true })];
    const bounds = { count: 3 };
    expect(crowdedOut([used, another, held("b")], held("c"), bounds)).toEqual([used]);
    expect(crowdedOut([used, held("a"), held("b")], held("c"), bounds)).toHaveLength(1);
    expect(crowdedOut([used, another, held("b", { inUse: true })], held("a"), bounds)).toBeUndefined();
    const [one, two, three] = ["a", "b", "c"].map((id) => held(id, { inUse: true }));
    expect(crowdedOut([one, two, three] as Holding[], held("d"), bounds)).toBeUndefined();
  });

  it("counts bytes as well as things", () => {
    const [large, small] = [held("a", { bytes: 90 }), held("b", { bytes: 5 })];
    expect(crowdedOut([small, large], held("c", { bytes: 10 }), { count: 9, bytes: 100 })).toEqual([large]);
    expect(crowdedOut([small], held("c", { bytes: 200 }), { count: 9, bytes: 100 })).toBeUndefined();
  });

  it("holds one caller to its own bound even if there is room", () => {
    const own = held("a", { bytes: 6 });
    const bounds = { count: 9, perCaller: { bytes: 10 } };
    expect(crowdedOut([own], held("a", { bytes: 5 }), bounds)).toEqual([own]);
    expect(crowdedOut([], held("a", { bytes: 11 }), bounds)).toBeUndefined();
  });
});

describe("making room among many", () => {
  it("looks at each holding a few times, however many must go", () => {
    let looks = 0;
    const many = Array.from({ length: 20_000 }, (_, place): Holding => ({
      holder: { id: `caller-${place % 50}` },
      get busy() {
        looks++;
        return place % 3 === 0;
      },
    }));
    expect(crowdedOut(many, held("new"), { count: 15_000 })).toHaveLength(5_001);
    expect(looks).toBeLessThan(3 * many.length);
  });
});

describe("shares of one process", () => {
  it("tells the one who loses, once, and frees its room", () => {
    const shares = createShares({ count: 2 });
    const lost: string[] = [];
    const first = shares.take({ id: "a" }, { giveWay: () => lost.push("first") });
    shares.take({ id: "a" }, { giveWay: () => lost.push("second") });
    expect(shares.take({ id: "b" })).toBeDefined();
    first?.release();
    expect(lost).toEqual(["first"]);
    expect(shares.all.count).toBe(2);
  });

  it("refuses if nothing may be taken away", () => {
    const shares = createShares({ count: 1 });
    shares.take({ id: "a" }, { isBusy: () => true, giveWay: () => {} });
    expect(shares.take({ id: "b" })).toBeUndefined();
  });

  it("grows what is held only as far as there is room", () => {
    const shares = createShares({ count: 9, bytes: 10, perCaller: { bytes: 8 } });
    const share = shares.take({ id: "a" });
    expect(share?.resize(8)).toBe(true);
    expect(share?.resize(9)).toBe(false);
    expect(shares.of({ id: "a" }).bytes).toBe(8);
    expect(shares.take({ id: "b" }, { bytes: 3 })).toBeUndefined();
  });

  it("never exceeds its bounds, whatever is taken", () => {
    const step = fc.record({
      id: fc.constantFrom("a", "b", "c"),
      tenant: fc.constantFrom(undefined, "t", "u"),
      bytes: fc.integer({ min: 0, max: 6 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const bounds = { count: 8, bytes: 20, perCaller: { count: 5, bytes: 12 } };
        const shares = createShares(bounds);
        for (const { bytes, ...holder } of steps) {
          shares.take(holder, { bytes, giveWay: () => {} });
          const after = shares.of(holder);
          expect(after.count).toBeLessThanOrEqual(bounds.perCaller.count);
          expect(after.bytes).toBeLessThanOrEqual(bounds.perCaller.bytes);
          expect(shares.all.count).toBeLessThanOrEqual(bounds.count);
          expect(shares.all.bytes).toBeLessThanOrEqual(bounds.bytes);
        }
      }),
    );
  });

  it("leaves every caller at least an equal part under a flood", () => {
    const shares = createShares({ count: 12 });
    const others = ["b", "c"].map((id) => ({ id }));
    for (const other of others) for (let n = 0; n < 4; n++) shares.take(other, { giveWay: () => {} });
    for (let n = 0; n < 100; n++) shares.take({ id: "flood" }, { giveWay: () => {} });
    for (const other of others) expect(shares.of(other).count).toBe(4);
    expect(shares.of({ id: "flood" }).count).toBe(4);
  });
});
