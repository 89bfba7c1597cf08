import assert from "node:assert/strict";
import { type ContractCase, createRandom } from "./contract.ts";
import { admit, admitted, BREAKER, refused, run } from "./state/ask-limits.ts";
import { type Claims, type StateBackend, stateCases } from "./state/backend.ts";
import { breakerClaims } from "./state/breaker-claims.ts";
import { placeClaims } from "./state/place-claims.ts";

/** The contract of limits that several processes share, however slow they are and whenever one of them disappears. */
export function limitsContract(make: () => StateBackend | Promise<StateBackend>): readonly ContractCase[] {
  return stateCases(make, { ...windowClaims, ...placeClaims, ...breakerClaims, ...budgetClaims, ...quotaClaims });
}

const windowClaims: Claims = {
  "fills every window to its limit and never beyond, wherever it begins": async ({ clock, slow }) => {
    const random = createRandom(7);
    const windows = [{ key: "w", calls: 5, windowMs: 1_000 }];
    const times: number[] = [];
    for (let step = 0; step < 60; step++) {
      const burst = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, index) => admit(slow(index), { windows }));
      const answers = await Promise.all(burst);
      const now = clock.now();
      const room = 5 - times.filter((at) => at > now - 1_000).length;
      assert.equal(answers.filter((answer) => answer.admitted).length, Math.min(room, burst.length));
      for (const answer of answers) if (answer.admitted) times.push(now);
      await clock.advance(Math.floor(random() * 500));
    }
    for (const start of times)
      assert.ok(times.filter((at) => at >= start && at < start + 1_000).length <= 5, "more than the limit in a window");
  },
  "says after how many whole milliseconds a call fits, and then it does": async ({ clock, one, other }) => {
    const windows = [{ key: "w", calls: 2, windowMs: 60_000 }];
    await admitted(one, { windows });
    await clock.advance(10_000.5);
    await admitted(other, { windows });
    assert.partialDeepStrictEqual(await admit(one, { windows }), {
      because: "window",
      key: "w",
      windowMs: 60_000,
      retryAfterMs: 50_000,
    });
    await clock.advance(49_999);
    await refused(other, { windows }, "window");
    await clock.advance(1);
    await admitted(other, { windows });
    await refused(one, { windows }, "window");
  },
  "holds calls to a limit that was lowered, at once": async ({ clock, one, other }) => {
    for (let call = 0; call < 10; call++) {
      await admitted(one, { windows: [{ key: "w", calls: 10, windowMs: 60_000 }] });
      await clock.advance(1_000);
    }
    const lower = { windows: [{ key: "w", calls: 3, windowMs: 60_000 }] };
    assert.partialDeepStrictEqual(await admit(other, lower), { because: "window", retryAfterMs: 57_000 });
    await clock.advance(57_000);
    await admitted(other, lower);
    await refused(other, lower, "window");
  },
  "names the window that must be waited for the longest, and keeps keys and spans apart": async ({ one, other }) => {
    const minute = { key: "a", calls: 1, windowMs: 60_000 };
    const hour = { key: "a", calls: 2, windowMs: 3_600_000 };
    await admitted(one, { windows: [minute, hour] });
    const afterMinute = { windowMs: 60_000, retryAfterMs: 60_000 };
    assert.partialDeepStrictEqual(await admit(other, { windows: [minute, hour] }), afterMinute);
    await admitted(other, { windows: [hour] });
    const afterHour = { windowMs: 3_600_000, retryAfterMs: 3_600_000 };
    assert.partialDeepStrictEqual(await admit(one, { windows: [minute, hour] }), afterHour);
    await admitted(one, { windows: [{ ...minute, key: "b" }] });
  },
  "takes everything or nothing": async ({ one, other }) => {
    const room = { key: "room", calls: 1, windowMs: 60_000 };
    const none = { key: "none", calls: 1, windowMs: 60_000 };
    const free = { key: "free", limit: 1 };
    const full = { key: "full", limit: 1 };
    await admitted(one, { windows: [none], places: [full] });
    for (let failure = 0; failure < 3; failure++) await run(one, { breaker: BREAKER }, "failure");
    for (const state of [one, other]) {
      await refused(state, { windows: [room, none], places: [free] }, "window");
      await refused(state, { windows: [room], places: [free, full] }, "places");
      await refused(state, { windows: [room], places: [free], breaker: BREAKER }, "breaker");
    }
    await admitted(other, { windows: [room], places: [free] });
  },
};

const budgetClaims: Claims = {
  "shares one retry budget, a share of the calls of the last minute": async ({ clock, one, slow }) => {
    const budget = { key: "b", share: 0.2 };
    await Promise.all(Array.from({ length: 100 }, (_, index) => admitted(slow(index), { budget })));
    const retries = async (): Promise<number> => {
      const asked = Array.from({ length: 60 }, (_, index) => slow(index).limits.retry(budget));
      return (await Promise.all(asked)).filter(Boolean).length;
    };
    assert.equal(await retries(), 20);
    assert.equal(await retries(), 0);
    await clock.advance(62_000);
    assert.equal(await retries(), 3);
    assert.equal(await one.limits.retry({ key: "another", share: 0.2 }), true);
    assert.equal(await one.limits.retry({ key: "none", share: 0 }), false);
  },
};

const quotaClaims: Claims = {
  "fills a quota to its limit and never beyond, whoever asks": async ({ slow, one }) => {
    const quotas = [{ key: "calls", amount: 1, limit: 40, keepMs: 60_000 }];
    const asked = Array.from({ length: 64 }, (_, index) => admit(slow(index), { quotas }));
    const answers = await Promise.all(asked);
    const totals = answers.flatMap((answer) => (answer.admitted ? (answer.used ?? []) : []));
    assert.deepEqual(
      totals.toSorted((a, b) => a - b),
      Array.from({ length: 40 }, (_, index) => index + 1),
    );
    assert.deepEqual(await admit(one, { quotas }), { admitted: false, because: "quota", key: "calls" });
  },
  "takes from every quota or from none, and needs room for amounts that are known later": async ({ one, other }) => {
    const cost = { key: "cost", amount: 30, limit: 100, keepMs: 60_000 };
    const tokens = { key: "tokens", amount: 0, limit: 500, keepMs: 60_000 };
    const pass = await admitted(one, { quotas: [cost, tokens], breaker: BREAKER });
    assert.deepEqual((await other.limits.release(pass, "success", [{ ...tokens, amount: 600 }])).used, [600]);
    await refused(one, { quotas: [cost, tokens] }, "quota");
    assert.partialDeepStrictEqual(await admit(other, { quotas: [cost] }), { admitted: true, used: [60] });
    await refused(one, { quotas: [{ ...cost, amount: 41 }] }, "quota");
    const full = { key: "full", limit: 1 };
    await admitted(one, { places: [full] });
    await refused(other, { quotas: [cost], places: [full] }, "places");
    assert.partialDeepStrictEqual(await admit(other, { quotas: [{ ...cost, amount: 40 }] }), { used: [100] });
  },
  "counts what a call spent once, and gives back what it did not spend": async ({ one, other }) => {
    const cost = { key: "cost", amount: 30, limit: 100, keepMs: 60_000 };
    const pass = await admitted(one, { quotas: [cost], places: [{ key: "place", limit: 9 }] });
    const spent = [{ key: "cost", amount: -10, keepMs: 60_000 }];
    assert.deepEqual(await one.limits.release(pass, "neutral", spent), { used: [20] });
    assert.deepEqual(await other.limits.release(pass, "neutral", spent), {});
    const total = await admit(other, { quotas: [{ key: "cost", amount: 0, keepMs: 60_000 }], holdMs: 0 });
    assert.partialDeepStrictEqual(total, { admitted: true, used: [20] });
  },
};
