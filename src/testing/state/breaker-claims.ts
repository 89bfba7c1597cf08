import assert from "node:assert/strict";
import type { Pass } from "../../state/limits.port.ts";
import { admit, admitted, BREAKER, openBreaker, refused, run } from "./ask-limits.ts";
import type { Claims } from "./backend.ts";

export const breakerClaims: Claims = {
  "opens for everyone after as many failures in a row as its threshold": async ({ one, other }) => {
    assert.deepEqual(await run(one, { breaker: BREAKER }, "failure"), {});
    await run(other, { breaker: BREAKER }, "failure");
    await run(one, { breaker: BREAKER }, "success");
    await run(other, { breaker: BREAKER }, "failure");
    await run(one, { breaker: BREAKER }, "failure");
    await run(one, { breaker: BREAKER }, "neutral");
    assert.deepEqual(await run(other, { breaker: BREAKER }, "failure"), { breaker: "opened", failures: 3 });
    for (const state of [one, other])
      assert.partialDeepStrictEqual(await admit(state, { breaker: BREAKER }), {
        because: "breaker",
        key: "tool",
        retryAfterMs: 1_000,
      });
    await admitted(one, { breaker: { ...BREAKER, key: "another" } });
  },
  "lets exactly one of many probe, and closes for everyone if it succeeds": async ({ clock, one, other, slow }) => {
    await openBreaker(one);
    await clock.advance(1_000);
    const asked = await Promise.all(Array.from({ length: 40 }, (_, index) => admit(slow(index), { breaker: BREAKER })));
    const probes = asked.filter((answer) => answer.admitted);
    assert.equal(probes.length, 1);
    assert.ok(
      asked.every((answer) => answer.admitted || (answer.because === "breaker" && answer.retryAfterMs === undefined)),
    );
    const [probe] = probes;
    assert.ok(probe?.admitted === true && probe.pass.probe);
    assert.deepEqual(await other.limits.release(probe.pass, "success"), { breaker: "closed" });
    for (const state of [one, other]) assert.equal((await admitted(state, { breaker: BREAKER })).probe, false);
  },
  "opens for another cool-down if the probe fails, and lets the next one probe if it found nothing out": async ({
    clock,
    one,
    other,
  }) => {
    await openBreaker(one);
    await clock.advance(1_000);
    assert.deepEqual(await run(other, { breaker: BREAKER }, "failure"), { breaker: "opened", failures: 4 });
    assert.partialDeepStrictEqual(await admit(one, { breaker: BREAKER }), {
      because: "breaker",
      retryAfterMs: 1_000,
    });
    await clock.advance(1_000);
    await run(one, { breaker: BREAKER }, "neutral");
    assert.equal((await admitted(other, { breaker: BREAKER })).probe, true);
  },
  "frees the probe of a process that disappeared, at its time and not before": async ({ clock, one, other, stop }) => {
    await openBreaker(one);
    await clock.advance(1_000);
    const lost = await admit(one, { breaker: BREAKER, holdMs: 5_000 });
    assert.ok(lost.admitted);
    stop();
    await clock.advance(4_999);
    await refused(other, { breaker: BREAKER }, "breaker");
    await clock.advance(1);
    const probe = await admitted(other, { breaker: BREAKER });
    // The late report of the first call must change nothing.
    assert.deepEqual(await one.limits.release(lost.pass, "success"), {});
    await refused(one, { breaker: BREAKER }, "breaker");
    assert.deepEqual(await other.limits.release(probe, "success"), { breaker: "closed" });
  },
  "does not count reports about an earlier era": async ({ clock, one, other }) => {
    const early: Pass[] = [];
    for (let call = 0; call < 6; call++) early.push(await admitted(one, { breaker: BREAKER }));
    await openBreaker(other);
    const [success, ...failures] = early;
    assert.ok(success);
    assert.deepEqual(await one.limits.release(success, "success"), {});
    await refused(one, { breaker: BREAKER }, "breaker");
    await clock.advance(1_000);
    await run(other, { breaker: BREAKER }, "success");
    await run(other, { breaker: BREAKER }, "neutral");
    for (const late of failures) assert.deepEqual(await one.limits.release(late, "failure"), {});
    await admitted(other, { breaker: BREAKER });
  },
  "counts a repeated report once": async ({ one, other }) => {
    const pass = await admitted(one, { breaker: BREAKER });
    for (let time = 0; time < 5; time++)
      assert.deepEqual(await (time % 2 ? one : other).limits.release(pass, "failure"), {});
    await admitted(one, { breaker: BREAKER });
  },
  "notifies every process of openings and closings within a second": async ({ clock, one, other, open }) => {
    const heard: unknown[] = [];
    const stop = other.limits.watchBreakers((change) => void heard.push(change));
    await clock.advance(500);
    await openBreaker(one);
    const probeAt = clock.now() + 1_000;
    await clock.advance(1_000);
    assert.deepEqual(heard, [{ key: "tool", probeAt }]);
    const late: unknown[] = [];
    open().limits.watchBreakers((change) => void late.push(change));
    await clock.advance(1_000);
    assert.deepEqual(late, [{ key: "tool", probeAt }]);
    await run(one, { breaker: BREAKER }, "success");
    await clock.advance(1_000);
    assert.deepEqual(heard, [{ key: "tool", probeAt }, { key: "tool" }]);
    stop();
    await openBreaker(one);
    await clock.advance(1_000);
    assert.equal(heard.length, 2);
    assert.equal(late.length, 3);
  },
  "forgets a breaker for everyone": async ({ one, other }) => {
    await openBreaker(one);
    await other.limits.forget("tool");
    await admitted(one, { breaker: BREAKER });
  },
};
