import assert from "node:assert/strict";
import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import { candidateIds, candidateOf, idsOf, searchAll, toolNamed, unit, vectorsOf } from "./fixtures.ts";

/** Requirements on two handles of one backend, which represent two processes. */
export const sharingClaims: Readonly<
  Record<string, (engine: CatalogEngine, another: () => Promise<CatalogEngine>) => Promise<void>>
> = {
  "shows one handle at once what another put, embedded and deleted": async (engine, another) => {
    const other = await another();
    const a = toolNamed("a", { description: "Brews espresso in the kitchen." });
    const b = toolNamed("b", { description: "Polishes telescopes on the roof." });
    const query = { texts: ["espresso"], vectors: [{ model: "m", vector: unit(1, 0) }] };
    // Each handle has searched before the other one writes, so its caches must follow.
    assert.deepEqual(candidateIds(await searchAll(other, query)), []);
    assert.deepEqual(candidateIds(await searchAll(engine, query)), []);
    await engine.put([a, b]);
    assert.deepEqual(candidateIds(await searchAll(other, query)), ["default.a"]);
    await other.putVectors("m", [vectorsOf(b, unit(1, 1))]);
    const found = await searchAll(engine, query);
    assert.deepEqual(candidateIds(found), ["default.a", "default.b"]);
    assert.ok(Math.abs((candidateOf(found, b.id)?.cosines[0] ?? 0) - Math.SQRT1_2) < 0.01);
    assert.deepEqual(await engine.withoutVectors("m", { limit: 9 }), ["default.a"]);
    const changed = toolNamed("b", { description: "Brews espresso on the roof." });
    await other.put([changed]);
    const after = await searchAll(engine, query);
    assert.deepEqual(candidateIds(after), ["default.a", "default.b"]);
    assert.equal(candidateOf(after, b.id)?.cosines[0], undefined);
    assert.deepEqual(candidateOf(after, b.id)?.tool, changed);
    await engine.delete(["default.a"]);
    assert.deepEqual(candidateIds(await searchAll(other, query)), ["default.b"]);
    assert.equal(await other.count(), 1);
  },

  "no longer finds by vectors that another handle removed": async (engine, another) => {
    const other = await another();
    const a = toolNamed("a");
    const query = { vectors: [{ model: "m", vector: unit(1, 0) }] };
    await engine.put([a]);
    await engine.putVectors("m", [vectorsOf(a)]);
    assert.deepEqual(candidateIds(await searchAll(other, query)), ["default.a"]);
    await engine.deleteVectors("m");
    assert.deepEqual(await other.models(), []);
    assert.deepEqual(candidateIds(await searchAll(other, query)), []);
  },

  "reports one handle's changes to another": async (engine, another) => {
    const other = await another();
    await engine.put([toolNamed("a"), toolNamed("b")]);
    const { revision } = await other.changes(0);
    await engine.put([toolNamed("c")]);
    await engine.delete(["default.a"]);
    const { changed, deleted } = await other.changes(revision);
    assert.deepEqual([changed, deleted], [["default.c"], ["default.a"]]);
    // Lists no changes for the current revision, however many tools there are.
    const now = await other.changes(Number.MAX_SAFE_INTEGER);
    assert.deepEqual([now.changed, now.deleted, now.alone ?? false], [[], [], false]);
    assert.equal(now.revision, (await engine.changes(0)).revision);
  },

  "loses nothing of two handles that write at once": async (engine, another) => {
    const other = await another();
    const puts = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 ? engine : other).put([toolNamed(`t_${index}`)])),
    );
    assert.equal(new Set(puts.map(({ revision }) => revision)).size, 40);
    assert.equal(await engine.count(), 40);
    assert.equal(await other.count(), 40);
    assert.equal((await searchAll(other, { texts: ["the tool called"] })).candidates.length, 40);
  },

  "keeps everything when one handle closes and another opens": async (engine, another) => {
    const a = toolNamed("a");
    const { revision } = await engine.put([a, toolNamed("b")]);
    await engine.putVectors("m", [vectorsOf(a)]);
    await engine.close();
    const other = await another();
    assert.deepEqual((await other.put([a])).changed, []);
    assert.deepEqual(idsOf((await other.list()).tools), ["default.a", "default.b"]);
    assert.deepEqual(await other.withoutVectors("m", { limit: 9 }), ["default.b"]);
    assert.equal((await other.changes(revision)).revision, revision);
    const found = await searchAll(other, { texts: ["tool"], vectors: [{ model: "m", vector: unit(0.6, 0.8) }] });
    assert.ok(Math.abs((candidateOf(found, "default.a")?.cosines[0] ?? 0) - 0.6) < 0.01);
  },
};
