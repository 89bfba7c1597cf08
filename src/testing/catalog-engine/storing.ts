import assert from "node:assert/strict";
import type { CatalogEngine, EngineChanges, ToolPage } from "../../catalog/catalog-engine.port.ts";
import { assembleTool, type Tool } from "../../tool/tool.ts";
import { sampleTools } from "../sample-tools.ts";
import {
  candidateIds,
  embed,
  type EngineClaims,
  HOSTILE_TEXTS,
  idsOf,
  searchAll,
  toolNamed,
  unit,
  vectorsOf,
} from "./fixtures.ts";

export const storingClaims: EngineClaims = {
  "has a name and opens twice without harm": async (engine) => {
    assert.ok(engine.name.length > 0);
    await engine.put(sampleTools());
    await engine.open();
    assert.equal(await engine.count(), 5);
  },

  "gives tools back unchanged, in the order asked for, without unknown ids": async (engine) => {
    const tools = sampleTools();
    await engine.put(tools);
    assert.deepEqual(await engine.get(idsOf(tools).toReversed()), tools.toReversed());
    const found = await engine.get(["default.send_email", "default.nowhere", "default.create_user"]);
    assert.deepEqual(idsOf(found), ["default.send_email", "default.create_user"]);
    assert.deepEqual(await engine.get([]), []);
  },

  "replaces a tool of the same id, and finds it by its new words only": async (engine) => {
    await engine.put([toolNamed("a", { description: "Brews espresso in the kitchen.", tags: ["coffee"] })]);
    const changed = toolNamed("a", { description: "Polishes telescopes on the roof.", tags: ["optics"] });
    await engine.put([changed]);
    assert.deepEqual(await engine.get(["default.a"]), [changed]);
    assert.equal(await engine.count(), 1);
    assert.equal((await searchAll(engine, { texts: ["espresso kitchen coffee"] })).candidates.length, 0);
    assert.equal((await searchAll(engine, { texts: ["polish a telescope"] })).candidates.length, 1);
    assert.equal(await engine.count({ filter: { tags: ["coffee"] } }), 0);
    assert.equal(await engine.count({ filter: { tags: ["optics"] } }), 1);
  },

  "says what changed: new and changed tools, but no unchanged ones": async (engine) => {
    const first = await engine.put([toolNamed("a"), toolNamed("b")]);
    assert.deepEqual([...first.changed].sort(), ["default.a", "default.b"]);
    const again = await engine.put([toolNamed("a"), toolNamed("b")]);
    assert.deepEqual(again, { changed: [], revision: first.revision });
    const mixed = await engine.put([toolNamed("a", { version: "1.0.1" }), toolNamed("b"), toolNamed("c")]);
    assert.deepEqual([...mixed.changed].sort(), ["default.a", "default.c"]);
    assert.ok(mixed.revision > first.revision);
    assert.deepEqual((await engine.put([])).changed, []);
  },

  "does not write a tool again whose hash is the same, whatever else differs": async (engine) => {
    const tool = toolNamed("a");
    await engine.put([tool]);
    await engine.putVectors("m", [vectorsOf(tool)]);
    assert.deepEqual((await engine.put([{ ...tool, createdAt: 2_000 }])).changed, []);
    assert.deepEqual(await engine.get([tool.id]), [tool]);
    assert.deepEqual(await engine.withoutVectors("m", { limit: 10 }), []);
  },

  "keeps the last of several tools with one id in a put": async (engine) => {
    const last = toolNamed("a", { version: "3.0.0" });
    const { changed } = await engine.put([toolNamed("a"), toolNamed("a", { version: "2.0.0" }), last]);
    assert.deepEqual(changed, ["default.a"]);
    assert.deepEqual(await engine.get(["default.a"]), [last]);
  },

  "puts all tools or none": async (engine) => {
    await engine.put([toolNamed("kept")]);
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const broken: Tool = { ...toolNamed("broken"), metadata: cycle };
    const before = await engine.changes(0);
    // An engine may be able to store this tool. If it cannot, it must not store the other tools of the same request either.
    const wasPut = await engine.put([toolNamed("before"), broken, toolNamed("after")]).then(
      () => true,
      () => false,
    );
    assert.equal(await engine.count(), wasPut ? 4 : 1);
    if (!wasPut) assert.deepEqual(await engine.changes(0), before);
    if (!wasPut) assert.equal((await searchAll(engine, { texts: ["the tool called before"] })).candidates.length, 1);
    const signal = AbortSignal.abort(new Error("given up"));
    await assert.rejects(engine.put([toolNamed("late")], { signal }), /given up/);
    assert.deepEqual(await engine.get(["default.late"]), []);
  },

  "keeps every one of many puts at once, each under its own revision": async (engine) => {
    const puts = await Promise.all(Array.from({ length: 20 }, (_, index) => engine.put([toolNamed(`t_${index}`)])));
    assert.equal(await engine.count(), 20);
    assert.equal(new Set(puts.map(({ revision }) => revision)).size, 20);
  },

  "deletes tools with their words and vectors, and says how many there were": async (engine) => {
    const tools = [toolNamed("a"), toolNamed("b"), toolNamed("c")];
    await engine.put(tools);
    await embed(engine, tools);
    assert.equal(await engine.delete(["default.a", "default.nowhere", "default.a", "default.c"]), 2);
    assert.deepEqual(await engine.get(["default.a"]), []);
    assert.equal(await engine.count(), 1);
    const vectors = [{ model: "m", vector: unit(1, 0) }];
    const { candidates, total } = await searchAll(engine, { texts: ["tool called"], vectors });
    assert.deepEqual([candidateIds({ candidates: candidates }), total], [["default.b"], 1]);
    await engine.put([tools[0] as Tool]);
    assert.deepEqual(await engine.withoutVectors("m", { limit: 10 }), ["default.a"]);
    assert.equal(await engine.delete([]), 0);
    assert.equal(await engine.delete(["default.nowhere"]), 0);
  },

  "lists tools by id in pages, from any id on; the last page has no cursor": async (engine) => {
    await engine.put(["d", "b", "a", "e", "c", "f"].map((name) => toolNamed(name)));
    const pages = await pagesOf(engine, 2);
    assert.deepEqual(
      pages.map(({ tools }) => idsOf(tools)),
      [
        ["default.a", "default.b"],
        ["default.c", "default.d"],
        ["default.e", "default.f"],
      ],
    );
    assert.deepEqual(
      pages.map(({ next }) => next),
      ["default.b", "default.d", undefined],
    );
    assert.deepEqual(idsOf((await engine.list({ cursor: "default.bb", limit: 1 })).tools), ["default.c"]);
    assert.equal((await engine.list({ limit: 6 })).next, undefined);
    assert.equal((await engine.list()).tools.length, 6);
  },

  "lists 1000 tools where no limit is given": async (engine) => {
    await engine.put(Array.from({ length: 1_001 }, (_, index) => toolNamed(`t_${index}`)));
    const first = await engine.list();
    assert.equal(first.tools.length, 1_000);
    assert.ok(first.next !== undefined);
    assert.equal((await engine.list({ cursor: first.next })).tools.length, 1);
  },

  "goes on from a cursor while tools come and go: none twice, none left out": async (engine) => {
    await engine.put(["b", "d", "f", "h", "j"].map((name) => toolNamed(name)));
    const first = await engine.list({ limit: 2 });
    assert.deepEqual(idsOf(first.tools), ["default.b", "default.d"]);
    await engine.delete(["default.b", "default.d", "default.f"]);
    await engine.put([toolNamed("a"), toolNamed("g"), toolNamed("h", { version: "2.0.0" })]);
    const rest = await pagesOf(engine, 2, first.next);
    assert.deepEqual(
      rest.flatMap(({ tools }) => idsOf(tools)),
      ["default.g", "default.h", "default.j"],
    );
  },

  "reports changes and deletions after a revision": async (engine) => {
    await engine.put([toolNamed("old"), toolNamed("edited"), toolNamed("deleted"), toolNamed("returned")]);
    const { revision: since } = await engine.changes(0);
    assert.deepEqual(listed(await engine.changes(since)), { revision: since, changed: [], deleted: [] });
    await engine.put([toolNamed("old"), toolNamed("edited", { version: "2.0.0" }), toolNamed("fleeting")]);
    await engine.delete(["default.deleted", "default.returned", "default.fleeting"]);
    const { revision: between } = await engine.changes(since);
    await engine.put([toolNamed("returned"), toolNamed("new")]);
    const { revision, changed, deleted, incomplete } = await engine.changes(since);
    assert.ok(revision > between && between > since);
    assert.notEqual(incomplete, true);
    assert.deepEqual([...changed].sort(), ["default.edited", "default.new", "default.returned"]);
    assert.deepEqual([...deleted].sort(), ["default.deleted", "default.fleeting"]);
    const later = await engine.changes(between);
    assert.deepEqual([[...later.changed].sort(), later.deleted], [["default.new", "default.returned"], []]);
  },

  "says that it does not know what changed since a revision it never gave": async (engine) => {
    const { revision } = await engine.put([toolNamed("a")]);
    assert.equal((await engine.changes(revision + 1_000)).incomplete, true);
  },

  "counts vectors as no change of the catalog": async (engine) => {
    const { revision } = await engine.put([toolNamed("a")]);
    await engine.putVectors("m", [vectorsOf(toolNamed("a"))]);
    assert.deepEqual(listed(await engine.changes(revision)), { revision, changed: [], deleted: [] });
  },

  "lists tools without vectors of a model for their present text, in pages": async (engine) => {
    const tools = ["e", "a", "d", "b", "c"].map((name) => toolNamed(name));
    await engine.put(tools);
    const first = await engine.withoutVectors("m", { limit: 2 });
    assert.deepEqual(first, ["default.a", "default.b"]);
    assert.deepEqual(await engine.withoutVectors("m", { limit: 2, after: "default.b" }), ["default.c", "default.d"]);
    assert.deepEqual(await engine.withoutVectors("m", { limit: 2, after: "default.d" }), ["default.e"]);
    await embed(engine, tools);
    assert.deepEqual(await engine.withoutVectors("m", { limit: 9 }), []);
    assert.equal((await engine.withoutVectors("other", { limit: 9 })).length, 5);
    await engine.put([toolNamed("c", { version: "2.0.0" }), toolNamed("f")]);
    assert.deepEqual(await engine.withoutVectors("m", { limit: 9 }), ["default.c", "default.f"]);
  },

  "ignores vectors of a text that is no longer the tool's, and of tools that are gone": async (engine) => {
    const before = toolNamed("a");
    await engine.put([before, toolNamed("b")]);
    await engine.put([toolNamed("a", { version: "2.0.0" })]);
    await engine.putVectors("m", [vectorsOf(before), vectorsOf(toolNamed("b")), vectorsOf(toolNamed("gone"))]);
    assert.deepEqual(await engine.withoutVectors("m", { limit: 9 }), ["default.a"]);
    const found = await searchAll(engine, { vectors: [{ model: "m", vector: unit(1, 0) }] });
    assert.deepEqual(idsOf(found.candidates.map(({ tool }) => tool)), ["default.b"]);
  },

  "names the models that have vectors, and removes all vectors of one": async (engine) => {
    const [a, b] = [toolNamed("a"), toolNamed("b")];
    const { revision } = await engine.put([a, b]);
    assert.deepEqual(await engine.models(), []);
    await engine.putVectors("org/model B:2", [vectorsOf(a), vectorsOf(b)]);
    await engine.putVectors("a", [vectorsOf(a)]);
    assert.deepEqual(await engine.models(), ["a", "org/model B:2"]);
    await engine.deleteVectors("org/model B:2");
    await engine.deleteVectors("unknown");
    assert.deepEqual(await engine.models(), ["a"]);
    assert.deepEqual(await engine.withoutVectors("org/model B:2", { limit: 9 }), ["default.a", "default.b"]);
    assert.deepEqual(await engine.withoutVectors("a", { limit: 9 }), ["default.b"]);
    const vectors = ["org/model B:2", "a"].map((model) => ({ model, vector: unit(1, 0) }));
    const { candidates, embedded } = await searchAll(engine, { vectors });
    assert.deepEqual([candidateIds({ candidates: candidates }), embedded], [["default.a"], [0, 1]]);
    assert.equal(candidates[0]?.cosines[0], undefined);
    assert.equal((await engine.changes(0)).revision, revision);
    // A model that is added again may have another dimension.
    await engine.putVectors("org/model B:2", [vectorsOf(b, unit(0, 0, 1))]);
    assert.deepEqual(await engine.withoutVectors("org/model B:2", { limit: 9 }), ["default.a"]);
    await engine.delete([b.id]);
    assert.deepEqual(await engine.models(), ["a"]);
  },

  "keeps hostile texts as they are and finds tools by them without failing": async (engine) => {
    const tools = HOSTILE_TEXTS.map((text, index) => {
      const { category: _category, ...fields } = toolNamed(`t_${index}`, { namespace: "constructor" });
      return assembleTool({ ...fields, description: text, tags: [text], category: text, examples: [text] }, 1_000);
    });
    await engine.put(tools);
    assert.deepEqual(await engine.get(idsOf(tools)), tools);
    for (const [index, text] of HOSTILE_TEXTS.entries()) {
      const filter = { all: [{ tags: [text] }, { categories: [text] }] };
      assert.deepEqual(idsOf((await engine.list({ filter })).tools), [`constructor.t_${index}`]);
      const { candidates } = await searchAll(engine, { texts: [text, `${text} create`], filter });
      for (const { coverage } of candidates) assert.ok(coverage.every((share) => share >= 0 && share <= 1));
    }
    assert.deepEqual(await engine.get(HOSTILE_TEXTS), []);
    assert.equal(await engine.delete(HOSTILE_TEXTS), 0);
    assert.equal(await engine.delete(idsOf(tools)), tools.length);
  },

  "stops where the caller has given up": async (engine) => {
    await engine.put([toolNamed("a")]);
    const signal = AbortSignal.abort(new Error("given up"));
    await assert.rejects(engine.delete(["default.a"], { signal }), /given up/);
    await assert.rejects(engine.get(["default.a"], { signal }), /given up/);
    await assert.rejects(engine.list({ signal }), /given up/);
    await assert.rejects(engine.count({ signal }), /given up/);
    await assert.rejects(engine.putVectors("m", [vectorsOf(toolNamed("a"))], { signal }), /given up/);
    await assert.rejects(engine.withoutVectors("m", { limit: 1, signal }), /given up/);
    await assert.rejects(engine.models({ signal }), /given up/);
    await assert.rejects(engine.deleteVectors("m", { signal }), /given up/);
    await assert.rejects(engine.search({ limit: 1, texts: ["a"], signal }), /given up/);
    await assert.rejects(engine.changes(0, { signal }), /given up/);
    assert.equal(typeof (await engine.healthCheck({ signal })), "boolean");
    assert.equal(await engine.count(), 1);
    assert.deepEqual(await engine.withoutVectors("m", { limit: 1 }), ["default.a"]);
  },

  "is healthy while open, and once closed refuses work without hanging": async (engine) => {
    assert.equal(await engine.healthCheck(), true);
    await engine.close();
    await engine.close();
    assert.equal(await engine.healthCheck(), false);
    await assert.rejects(engine.put([toolNamed("a")]), { code: "CLOSED" });
    await assert.rejects(engine.get(["default.a"]), { code: "CLOSED" });
    await assert.rejects(engine.search({ limit: 1, texts: ["a"] }), { code: "CLOSED" });
  },
};

/** Returns the changes without properties that only some engines have. */
function listed({ alone: _alone, ...changes }: EngineChanges): EngineChanges {
  return changes;
}

async function pagesOf(engine: CatalogEngine, limit: number, from?: string): Promise<readonly ToolPage[]> {
  const pages: ToolPage[] = [];
  for (let cursor = from; ;) {
    const page = await engine.list({ limit, ...(cursor === undefined ? {} : { cursor }) });
    pages.push(page);
    cursor = page.next;
    if (cursor === undefined) return pages;
    assert.ok(pages.length < 100, "the pages have no end");
  }
}
