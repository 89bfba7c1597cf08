import assert from "node:assert/strict";
import type { EngineAnswer } from "../../catalog/catalog-engine.port.ts";
import { createNamespaceVectors } from "../../catalog/dense/namespace-vectors.ts";
import { createMentions } from "../../catalog/lexical/mentions.ts";
import { toolFields } from "../../catalog/tool-text.ts";
import { type ToolFilter, toPredicate } from "../../tool/tool-filter.ts";
import type { Tool } from "../../tool/tool.ts";
import { sampleTools } from "../sample-tools.ts";
import {
  candidateIds,
  candidateOf,
  dice,
  embed,
  type EngineClaims,
  HOSTILE_TEXTS,
  idsOf,
  randomFilter,
  randomTools,
  searchAll,
  toolNamed,
  unit,
  vectorsOf,
} from "./fixtures.ts";
import { assertEvidence, assertNear, COVERAGE_ERROR, EXAMPLE_SHARE, lexicalOf } from "./oracles.ts";

/** Requirements on an engine's search results and their scores. */
export function searchingClaims(cosineError: number): EngineClaims {
  return {
    "finds tools by their words, and judges nothing by vectors it was not given": async (engine) => {
      await engine.put(sampleTools());
      const answer = await searchAll(engine, { texts: ["send an email to Dana"] });
      const email = candidateOf(answer, "default.send_email");
      assert.deepEqual(email?.cosines, []);
      assert.equal(email.coverage.length, 1);
      const others = answer.candidates.filter((candidate) => candidate !== email);
      for (const { coverage } of others) assert.ok((coverage[0] ?? 1) < (email.coverage[0] ?? 0));
      assert.deepEqual(candidateIds(await searchAll(engine, { texts: ["zyzzyva"] })), []);
      assert.deepEqual(candidateIds(await searchAll(engine, {})), []);
    },

    "covers a text wholly only if it is the tool's name, however it is written": async (engine) => {
      await engine.put([
        ...sampleTools(),
        toolNamed("query_database", { namespace: "warehouse", description: "Reads rows of the warehouse." }),
        toolNamed("get_it", { namespace: "to.do", description: "Reads what you have to do." }),
      ]);
      for (const text of ["query_database", "Query Database", "queryDatabase", "warehouse query database"]) {
        const answer = await searchAll(engine, { texts: [text, `${text} now please with rows`] });
        const [whole, part] = candidateOf(answer, "warehouse.query_database")?.coverage ?? [];
        assert.equal(whole, 1, text);
        assert.ok(part !== undefined && part < 1 && part > 0, text);
      }
      // Every word of this name is a stop word.
      const answer = await searchAll(engine, { texts: ["get it"] });
      assert.equal(candidateOf(answer, "to.do.get_it")?.coverage[0], 1);
    },

    "says of words what the BM25F of the catalog says": async (engine) => {
      const chance = dice(11);
      const tools = randomTools(120, chance);
      // Put twice and partly deleted, with searches in between, so that counts must follow additions and removals.
      await engine.put(tools.map((tool) => ({ ...tool, description: "Nothing.", contentHash: "0" })));
      await searchAll(engine, { texts: ["create"] });
      await engine.put(tools);
      await searchAll(engine, { texts: ["create"] });
      const gone = new Set(chance.some(idsOf(tools), 0.3));
      await engine.delete([...gone]);
      const kept = tools.filter(({ id }) => !gone.has(id));
      const index = lexicalOf(kept);
      for (let round = 0; round < 30; round++) {
        const texts = [
          toolFields(chance.pick(tools)).description,
          `${chance.pick(tools).name} ${chance.pick(tools).namespace}`,
        ];
        const filter: ToolFilter = round % 2 ? { all: [] } : randomFilter(kept, chance);
        const limit = 1 + chance.number(20);
        const answer = await engine.search({ limit, texts, filter });
        assertEvidence(answer, { texts, limit, index, accepted: kept.filter(toPredicate(filter)) });
      }
    },

    "shows which words were found where, heaviest first": async (engine) => {
      const tools = randomTools(60, dice(12));
      await engine.put(tools);
      const index = lexicalOf(tools);
      const text = "please create a report for the customer, then send messages";
      const answer = await searchAll(engine, { texts: [text] });
      assert.ok(answer.candidates.length > 10);
      for (const { tool } of answer.candidates) {
        const expected = index.explain(text)(tool.id);
        const found = answer.matchedTerms(text)(tool.id);
        assert.deepEqual(
          found.map(({ term, fields }) => [term, [...fields].sort()]),
          expected.map(({ term, fields }) => [term, [...fields].sort()]),
        );
        found.forEach(({ share }, at) => assert.ok(Math.abs(share - (expected[at]?.share ?? 0)) < COVERAGE_ERROR));
      }
      assert.deepEqual(answer.matchedTerms(text)("no.such_tool"), []);
      assert.deepEqual(answer.matchedTerms("")(answer.candidates[0]?.tool.id ?? ""), []);
    },

    "compares candidates by their words without their namespaces": async (engine) => {
      const copy = { description: "Creates an issue in a repository.", tags: ["bug"] };
      const tools = [
        ...randomTools(40, dice(13)),
        toolNamed("open_issue", { namespace: "alpha", ...copy }),
        toolNamed("open_issue", { namespace: "beta", ...copy }),
      ];
      await engine.put(tools);
      const index = lexicalOf(tools);
      const answer = await searchAll(engine, { texts: ["create issue"], besides: idsOf(tools) });
      assert.ok(Math.abs(answer.similarity("alpha.open_issue", "beta.open_issue") - 1) < COVERAGE_ERROR);
      for (const a of tools.slice(0, 12)) {
        for (const b of tools.slice(-14)) {
          const difference = answer.similarity(a.id, b.id) - index.similarity(a.id, b.id);
          assert.ok(Math.abs(difference) < COVERAGE_ERROR, `${a.id} and ${b.id} differ by ${difference}`);
        }
      }
      assert.equal(answer.similarity("alpha.open_issue", "no.such_tool"), 0);
    },

    "says which tools and namespaces the first text names": async (engine) => {
      const tools = [
        ...randomTools(80, dice(14)),
        toolNamed("open_pull_request", { namespace: "github", description: "Opens a pull request." }),
        toolNamed("open_pull_request", { namespace: "gitlab", description: "Opens a merge request." }),
      ];
      await engine.put(tools);
      await engine.delete(["gitlab.open_pull_request"]);
      const mentions = createMentions();
      for (const tool of tools)
        if (tool.namespace !== "gitlab") mentions.upsert(tool.id, tool.namespace, toolFields(tool));
      const texts = [
        "use openPullRequest on GitHub",
        "gitlab",
        `${tools[0]?.name ?? ""} and ${tools[1]?.namespace ?? ""}`,
        ...HOSTILE_TEXTS,
      ];
      for (const text of texts) {
        const { named } = await engine.search({ limit: 1, texts: [text, "open pull request"] });
        const expected = mentions.find(text);
        assert.deepEqual(
          [[...named.tools].sort(), [...named.namespaces].sort()],
          [[...expected.tools].sort(), [...expected.namespaces].sort()],
        );
      }
      const { named } = await engine.search({ limit: 1, texts: [texts[0] ?? ""] });
      assert.deepEqual([named.tools.has("github.open_pull_request"), named.namespaces.has("github")], [true, true]);
    },

    "finds tools by vectors, with exact cosines, and judges each by words and vectors": async (engine) => {
      const chance = dice(15);
      const tools = randomTools(80, chance);
      await engine.put(tools);
      const entries = tools
        .slice(0, 70)
        .map((tool) => vectorsOf(tool, ...Array.from({ length: 1 + chance.number(4) }, () => chance.vector(24))));
      await engine.putVectors("m", entries);
      // Stores vectors of another model with another dimension for the same tools.
      await engine.putVectors(
        "other",
        tools.map((tool) => vectorsOf(tool, chance.vector(8))),
      );
      const index = lexicalOf(tools);
      for (let round = 0; round < 20; round++) {
        const queries = [chance.vector(24), chance.vector(24)];
        const texts = [toolFields(chance.pick(tools)).description];
        const filter: ToolFilter = round % 2 ? { all: [] } : randomFilter(tools, chance);
        const limit = 1 + chance.number(12);
        const vectors = queries.map((vector) => ({ model: "m", vector }));
        const answer = await engine.search({ limit, texts, vectors, filter });
        const accepted = tools.filter(toPredicate(filter));
        assertEvidence(answer, { queries, limit, entries, accepted, cosineError, texts, index });
      }
    },

    "takes the best of a tool's vectors, its examples a little lower": async (engine) => {
      const [a, b] = [toolNamed("a"), toolNamed("b")];
      await engine.put([a, b]);
      const put = (tool: Tool, ...vectors: Float32Array[]): Promise<void> =>
        engine.putVectors("m", [vectorsOf(tool, ...vectors)]);
      await put(a, unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1));
      await put(b, unit(0, 1, 0));
      const cosines = async (query: Float32Array): Promise<readonly (number | undefined)[]> => {
        const answer = await engine.search({ limit: 2, texts: [], vectors: [{ model: "m", vector: query }] });
        return [a, b].map(({ id }) => candidateOf(answer, id)?.cosines[0]);
      };
      assertNear(await cosines(unit(0, 1, 0)), [EXAMPLE_SHARE, 1], cosineError);
      assertNear(await cosines(unit(1, 0, 0)), [1, 0], cosineError);
      assertNear(await cosines(unit(0, 0, 1)), [EXAMPLE_SHARE, 0], cosineError);
      // Replaces vectors with fewer ones.
      await put(a, unit(-1, 0, 0));
      assertNear(await cosines(unit(0, 0, 1)), [0, 0], cosineError);
      assertNear(await cosines(unit(1, 0, 0)), [-1, 0], cosineError);
    },

    "never compares vectors of different models": async (engine) => {
      const tools = [toolNamed("a"), toolNamed("b")];
      const two = `it's "two"\\ö`;
      await engine.put(tools);
      const entries = tools.map((tool) => vectorsOf(tool));
      await engine.putVectors("one", entries.slice(0, 1));
      await engine.putVectors(two, entries.slice(1));
      const search = (model: string): Promise<EngineAnswer> =>
        searchAll(engine, { vectors: [{ model, vector: unit(1, 0) }] });
      assert.deepEqual(candidateIds(await search("one")), ["default.a"]);
      assert.deepEqual(candidateIds(await search(two)), ["default.b"]);
      assert.deepEqual(candidateIds(await search("three")), []);
      const both = await searchAll(engine, {
        vectors: ["one", "three", two].map((model) => ({ model, vector: unit(0.6, 0.8) })),
      });
      assert.deepEqual(both.embedded, [1, 0, 1]);
      assertNear(candidateOf(both, "default.a")?.cosines ?? [], [0.6, undefined, undefined], cosineError);
      assertNear(candidateOf(both, "default.b")?.cosines ?? [], [undefined, undefined, 0.6], cosineError);
    },

    "refuses vectors of another length than the model's, and keeps none of them": async (engine) => {
      const tools = [toolNamed("a"), toolNamed("b")];
      await engine.put(tools);
      const [a, b] = tools.map((tool) => vectorsOf(tool));
      assert.ok(a && b);
      await engine.putVectors("m", [a]);
      await assert.rejects(engine.putVectors("m", [{ ...b, vectors: [unit(1, 0, 0)] }]), { code: "STORE_FAILED" });
      await assert.rejects(engine.putVectors("n", [a, { ...b, vectors: [unit(1, 0, 0)] }]), { code: "STORE_FAILED" });
      assert.deepEqual(await engine.withoutVectors("m", { limit: 9 }), ["default.b"]);
      assert.equal((await engine.withoutVectors("n", { limit: 9 })).length, 2);
      const vectors = [{ model: "m", vector: unit(1, 0, 0) }];
      await assert.rejects(searchAll(engine, { vectors }), { code: "STORE_FAILED" });
    },

    "judges other tools it was asked about, once, if the filter accepts them": async (engine) => {
      const a = toolNamed("a", { description: "Brews espresso in the kitchen." });
      const b = toolNamed("b", { description: "Polishes telescopes." });
      await engine.put([a, b, toolNamed("c", { description: "Counts sheep.", deprecated: true })]);
      await engine.putVectors("m", [vectorsOf(b, unit(0.6, 0.8))]);
      const answer = await engine.search({
        limit: 1,
        texts: ["brew espresso", "telescope"],
        vectors: [{ model: "m", vector: unit(1, 0) }],
        besides: ["default.a", "default.b", "default.b", "default.c", "default.nowhere"],
        filter: { deprecated: false },
      });
      assert.deepEqual(candidateIds(answer), ["default.a", "default.b"]);
      const found = candidateOf(answer, "default.b");
      assert.equal(found?.coverage[0], 0);
      assert.ok((found.coverage[1] ?? 0) > 0.3);
      assertNear(found.cosines, [0.6], cosineError);
    },

    "says how near a namespace's tools are, taken together": async (engine) => {
      const chance = dice(16);
      const tools = randomTools(90, chance);
      await engine.put(tools);
      const centre = new Map(tools.map(({ namespace }) => [namespace, chance.vector(12)]));
      const entries = tools.map((tool) => {
        const [around, noise] = [centre.get(tool.namespace) ?? unit(1), chance.vector(12)];
        const own = unit(...around.map((value, at) => value + 0.8 * (noise[at] ?? 0)));
        return vectorsOf(tool, own, chance.vector(12));
      });
      await engine.putVectors("m", entries);
      const gone = new Set(chance.some(idsOf(tools), 0.2));
      await engine.delete([...gone]);
      const expected = createNamespaceVectors();
      tools.forEach(({ id, namespace }, at) => {
        if (!gone.has(id)) expected.add(namespace, entries[at]?.vectors[0] ?? unit(1));
      });
      const vectors = [chance.vector(12), chance.vector(12)].map((vector) => ({ model: "m", vector }));
      const answer = await searchAll(engine, { texts: [], vectors, filter: { deprecated: false } });
      vectors.forEach(({ vector }, at) => {
        const fits = expected.fit(vector);
        assert.ok(fits.size >= 10);
        for (const namespace of new Set(answer.candidates.map(({ tool }) => tool.namespace))) {
          const [fit, right] = [answer.namespaceFit(namespace, at), fits.get(namespace)];
          assertNear([fit?.cosine, fit?.trust], [right?.cosine, right?.trust], Math.max(cosineError, 1e-4) * 5);
        }
      });
      assert.equal(answer.namespaceFit("nowhere", 0), undefined);
    },

    "says nothing of namespaces while there are fewer than ten": async (engine) => {
      const tools = Array.from({ length: 9 }, (_, index) => toolNamed("a", { namespace: `space-${index}` }));
      await engine.put(tools);
      await embed(engine, tools);
      const answer = await searchAll(engine, { vectors: [{ model: "m", vector: unit(1, 0) }] });
      assert.equal(answer.namespaceFit("space-0", 0), undefined);
    },

    "answers as before when it is asked again after it has answered others": async (engine) => {
      const chance = dice(17);
      await engine.put(randomTools(60, chance));
      const ask = async (text: string): Promise<readonly unknown[]> => {
        const { candidates } = await engine.search({ limit: 5, texts: [text] });
        return candidates.map(({ tool, coverage }) => [tool.id, coverage]).sort();
      };
      const before = await ask("create a calendar event");
      const [, again] = await Promise.all([ask("delete files"), ask("create a calendar event"), ask("weather")]);
      assert.deepEqual(again, before);
    },
  };
}
