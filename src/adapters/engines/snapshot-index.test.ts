import { crc32 } from "node:zlib";
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import { toPredicate, type ToolFilter } from "../../tool/tool-filter.ts";
import type { Tool } from "../../tool/tool.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { toolNamed, unit } from "../../testing/catalog-engine/fixtures.ts";
import { createHashingEmbedder } from "../../testing/hashing-embedder.ts";
import { ToolArsenal } from "../../index.ts";
import { memoryEngine } from "./memory.ts";
import { repeats } from "../../../test/kit/effort.ts";

let root = "";
let folders = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "snapshot-index-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function freshFile(): Promise<string> {
  const folder = join(root, String(++folders));
  await mkdir(folder);
  return join(folder, "tools.snapshot");
}

const TAGS = ["coffee", "optics", "mail"];

/** Tools whose texts differ, with a vector each, by name. */
function sample(name: string, version = "1.0.0"): Tool {
  const seed = [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7);
  return toolNamed(name, {
    namespace: `space_${seed % 12}`,
    version,
    description: `Brews espresso number ${seed % 97} in kitchen ${seed % 5}, the Bücher way.`,
    tags: TAGS.slice(seed % 3),
    examples: seed % 4 === 0 ? [`make coffee ${seed % 7}`] : [],
    parameters: { type: "object", properties: { cup_size: { type: "number", description: "How large." } } },
  });
}

function vectorsOf(tool: Tool, model: string) {
  const seed = [...`${model}${tool.id}${tool.version}`].reduce((sum, letter) => sum * 33 + letter.charCodeAt(0), 5);
  const vector = (at: number): Float32Array =>
    unit(...Array.from({ length: 20 }, (_, place) => Math.sin((seed % 1000) + at + place)));
  return {
    id: tool.id,
    contentHash: tool.contentHash,
    vectors: [vector(0), ...tool.examples.map((_, at) => vector(at + 1))],
  };
}

const named = (from: number, to: number): Tool[] =>
  Array.from({ length: to - from }, (_, at) => sample(`read_item_${from + at}`));

async function fill(engine: CatalogEngine, tools: readonly Tool[]): Promise<void> {
  await engine.put(tools);
  for (const model of ["m/20", "n/20"])
    await engine.putVectors(
      model,
      tools.map((tool) => vectorsOf(tool, model)),
    );
}

/** Everything that an engine can be asked about. */
async function answers(engine: CatalogEngine): Promise<unknown> {
  const texts = ["espresso for kitchen 3", "read item 4", "space_3 make coffee"];
  const vectors = ["m/20", "n/20"].map((model) => ({ model, vector: unit(...Array.from({ length: 20 }, Math.cos)) }));
  const filter: ToolFilter = { any: [{ tags: ["optics"] }, { namespaces: ["space_3"] }] };
  const found = [];
  for (const query of [
    { texts, vectors },
    { texts, vectors, filter, visible: { not: { tags: ["mail"] } } },
  ]) {
    const answer = await engine.search({ limit: 5, ...query });
    const candidates = answer.candidates.toSorted((a, b) => (a.tool.id < b.tool.id ? -1 : 1));
    const [first = { tool: { id: "", namespace: "" } }, second = first] = candidates;
    found.push({
      candidates,
      counts: [answer.accepted, answer.total, answer.embedded],
      named: [[...answer.named.tools].sort(), [...answer.named.namespaces].sort()],
      terms: answer.matchedTerms(texts[0] ?? "")(first.tool.id),
      similarity: answer.similarity(first.tool.id, second.tool.id).toFixed(9),
      fit: answer.namespaceFit(first.tool.namespace, 0),
    });
  }
  const { tools } = await engine.list();
  const lacking = await Promise.all(["m/20", "n/20"].map((model) => engine.withoutVectors(model, { limit: 1000 })));
  return { found, tools, lacking, models: await engine.models(), filtered: tools.filter(toPredicate(filter)).length };
}

async function opened(snapshot: string): Promise<{ engine: CatalogEngine; events: string[] }> {
  const events: string[] = [];
  const engine = memoryEngine({
    snapshot,
    emit: (name, data) => void events.push(`${name} ${"message" in data ? String(data.message) : ""}`),
  });
  await engine.open();
  return { engine, events };
}

async function saved(tools: readonly Tool[]): Promise<{ snapshot: string; index: string; before: unknown }> {
  const snapshot = await freshFile();
  const { engine } = await opened(snapshot);
  await fill(engine, tools);
  const before = await answers(engine);
  await engine.close();
  return { snapshot, index: `${snapshot}.index`, before };
}

describe("the index of a snapshot", () => {
  it("answers as before, with all vectors, without an event", async () => {
    const { snapshot, before } = await saved(named(0, 60));
    const { engine, events } = await opened(snapshot);
    expect(await answers(engine)).toEqual(before);
    expect(events).toEqual([]);
    await engine.close();
  });

  it("answers as an engine that was never restarted, whatever comes and goes after it is read", async () => {
    const change = fc.record({
      name: fc.integer({ min: 0, max: 24 }),
      what: fc.constantFrom("put", "change", "delete"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 12 }),
        fc.array(change, { maxLength: 12 }),
        async (first, then) => {
          const snapshot = await freshFile();
          const plain = memoryEngine();
          await plain.open();
          let { engine } = await opened(snapshot);
          for (const each of [plain, engine]) await fill(each, named(0, 20));
          const apply = async (to: CatalogEngine, changes: typeof first): Promise<void> => {
            for (const { name, what } of changes) {
              const tool = sample(`read_item_${name}`, what === "change" ? "2.0.0" : "1.0.0");
              if (what === "delete") await to.delete([tool.id]);
              else await fill(to, [tool]);
            }
          };
          for (const changes of [first, then, []]) {
            for (const each of [plain, engine]) await apply(each, changes);
            await engine.close();
            ({ engine } = await opened(snapshot));
            expect(rounded(await answers(engine))).toEqual(rounded(await answers(plain)));
          }
          await engine.close();
        },
      ),
      { numRuns: repeats(15) },
    );
  });

  it("is written some time after a change too, for a process that is killed", async () => {
    const snapshot = await freshFile();
    const clock = createManualClock();
    const engine = memoryEngine({ snapshot, clock });
    await engine.open();
    await fill(engine, named(0, 30));
    await clock.advance(10_000);
    await expect.poll(() => readdir(join(snapshot, ".."))).toContain("tools.snapshot.index");
    const { engine: next, events } = await opened(snapshot);
    expect(await next.withoutVectors("m/20", { limit: 9 })).toEqual([]);
    expect(events).toEqual([]);
    await next.close();
    await engine.close();
  });

  it("knows each tool's place in the file, also after tools came and went and only vectors were written since", async () => {
    const { snapshot } = await saved(named(0, 10));
    let { engine } = await opened(snapshot);
    await engine.delete([sample("read_item_0").id, sample("read_item_5").id]);
    await engine.put([sample("read_item_77"), sample("read_item_78")]);
    const { tools } = await engine.list();
    for (const model of ["second/20", "third/20"]) {
      await engine.close();
      ({ engine } = await opened(snapshot));
      await engine.putVectors(model, [vectorsOf(sample("read_item_77"), model)]);
    }
    await engine.close();
    ({ engine } = await opened(snapshot));
    expect(await engine.get(tools.map(({ id }) => id))).toEqual(tools);
    await engine.close();
  });

  it("does not stop a put of tools that did not change from being written", async () => {
    const { snapshot } = await saved(named(0, 10));
    const { engine } = await opened(snapshot);
    await engine.put(named(0, 10));
    await engine.deleteVectors("n/20");
    await engine.close();
    const { engine: next, events } = await opened(snapshot);
    expect([await next.models(), events]).toEqual([["m/20"], []]);
    await next.close();
  });
});

describe("an arsenal that is started again on a snapshot", () => {
  it("embeds no tool again that did not change", async () => {
    const snapshot = await freshFile();
    const run = async (tools: readonly string[]): Promise<{ embedded: number; first: string | undefined }> => {
      let embedded = 0;
      const embedder = createHashingEmbedder({ onEmbed: (texts) => (embedded += texts.length) });
      await using arsenal = new ToolArsenal({
        telemetry: { enabled: false },
        engine: memoryEngine({ snapshot }),
        embedder,
      });
      await arsenal.add(tools.map((name) => ({ tool: { name, description: `Does ${name} for people.` } })));
      await arsenal.sync();
      const asked = embedded;
      const { tools: found } = await arsenal.retrieve({ context: { query: "does walk for people" } });
      return { embedded: asked, first: found[0]?.tool.name };
    };
    expect(await run(["walk", "swim", "fly"])).toEqual({ embedded: 3, first: "walk" });
    expect(await run(["walk", "swim", "fly"])).toEqual({ embedded: 0, first: "walk" });
    expect(await run(["run"])).toEqual({ embedded: 1, first: "walk" });
    expect(await run([])).toEqual({ embedded: 0, first: "walk" });
  });
});

describe("an index that cannot be trusted", () => {
  it("never changes an answer, wherever it is cut and whichever byte is wrong", async () => {
    const tools = named(0, 12);
    const { snapshot, index } = await saved(tools);
    await copyFile(index, `${index}.whole`);
    const whole = await readFile(index);
    const plain = memoryEngine();
    await plain.open();
    await plain.put(tools);
    const words = { limit: 5, texts: ["espresso for kitchen 3"] };
    const expected = (await plain.search(words)).candidates;
    const damage = fc.oneof(
      fc.record({ cut: fc.integer({ min: 0, max: whole.length - 1 }) }),
      fc.record({ at: fc.integer({ min: 0, max: whole.length - 1 }), flip: fc.integer({ min: 1, max: 255 }) }),
      fc.record({ at: fc.integer({ min: 0, max: 40 }), flip: fc.integer({ min: 1, max: 255 }) }),
    );
    await fc.assert(
      fc.asyncProperty(damage, async (done) => {
        await copyFile(`${index}.whole`, index);
        if ("cut" in done) await truncate(index, done.cut);
        else await writeFile(index, Buffer.from(whole).fill((whole[done.at] ?? 0) ^ done.flip, done.at, done.at + 1));
        const { engine, events } = await opened(snapshot);
        expect((await engine.search(words)).candidates).toEqual(expected);
        expect((await engine.list()).tools).toEqual(tools.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
        expect(events).toHaveLength(1);
        expect(events[0]).toContain(`The index ${index} `);
        expect(events[0]).toContain("No tool is lost");
        await engine.close();
        // It was repaired.
        const next = await opened(snapshot);
        expect(next.events).toEqual([]);
        await next.engine.close();
      }),
      { numRuns: repeats(60) },
    );
  });

  it("is made again if a later Node wrote it", async () => {
    const { snapshot, index } = await saved(named(0, 10));
    const later = await readFile(index);
    const firstPart = 20 + later.readUInt32LE(16);
    expect(later[firstPart]).toBe(0xff); // V8 writes its version after this
    later[firstPart + 1] = 0x7f;
    later.writeUInt32LE(crc32(later.subarray(16)), 12);
    await writeFile(index, later);
    const { engine, events } = await opened(snapshot);
    expect(events).toEqual([expect.stringContaining("cannot be read")]);
    expect(await engine.count()).toBe(10);
    await engine.close();
  });

  it("is not overwritten before the tools are indexed again, and says which format it reads", async () => {
    const { snapshot, index } = await saved(named(0, 10));
    const newer = await readFile(index);
    newer.writeUInt32LE(3, 8);
    await writeFile(index, newer);
    const { engine, events } = await opened(snapshot);
    expect(events).toEqual([expect.stringContaining("has format 3, and this version of toolarsenal reads format 2")]);
    expect(await readFile(index)).toEqual(newer);
    expect(await engine.count()).toBe(10);
    await engine.close();
  });

  it("keeps the vectors of tools that are still the same if it is of other tools", async () => {
    const { snapshot, index } = await saved(named(0, 20));
    await copyFile(index, `${index}.old`);
    const { engine } = await opened(snapshot);
    const changed = sample("read_item_3", "2.0.0");
    await engine.put([changed, sample("read_item_99")]);
    await engine.delete([sample("read_item_4").id]);
    await engine.close();
    await copyFile(`${index}.old`, index);
    const { engine: next, events } = await opened(snapshot);
    expect(events).toEqual([expect.stringContaining("belongs to other tools")]);
    const lacking = [changed.id, sample("read_item_99").id].sort();
    for (const model of ["m/20", "n/20"]) expect(await next.withoutVectors(model, { limit: 99 })).toEqual(lacking);
    const { candidates } = await next.search({ limit: 99, texts: ["espresso"] });
    expect(candidates).toHaveLength(20);
    await next.close();
  });

  it("is not needed: without it the tools are indexed again", async () => {
    const { snapshot, index } = await saved(named(0, 10));
    await rm(index);
    const { engine, events } = await opened(snapshot);
    expect([await engine.count(), events]).toEqual([10, []]);
    await engine.close();
    expect(await readdir(join(snapshot, ".."))).toContain("tools.snapshot.index");
  });
});

describe("a snapshot that cannot be used", () => {
  it("of a newer version is refused with the fix, and nothing is overwritten", async () => {
    const { snapshot } = await saved(named(0, 5));
    const newer = (await readFile(snapshot, "utf8")).replace("snapshot 1", "snapshot 2");
    await writeFile(snapshot, newer);
    await rm(`${snapshot}.bak`, { force: true });
    const before = await readdir(join(snapshot, ".."));
    await expect(opened(snapshot)).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("has format 2, and this version of toolarsenal reads format 1"),
      details: { fix: "Upgrade toolarsenal, or set another file." },
    });
    expect(await readFile(snapshot, "utf8")).toBe(newer);
    expect(await readdir(join(snapshot, ".."))).toEqual(before);
  });

  it("is reported when the backup takes its place", async () => {
    const { snapshot } = await saved(named(0, 5));
    const { engine } = await opened(snapshot);
    await engine.put(named(5, 6));
    await engine.close();
    await writeFile(snapshot, "damage");
    const { engine: next, events } = await opened(snapshot);
    expect(events[0]).toContain(
      `The previous version was restored, and the damaged file was kept as ${snapshot}.corrupt-1`,
    );
    expect(await next.count()).toBe(5);
    await next.close();
  });

  it("stays as it was when the disk is full", async () => {
    const { snapshot, index } = await saved(named(0, 20));
    const before = [await readFile(snapshot), await readFile(index)];
    // A limit on the size of files stands in for a full disk: writes fail half way.
    const program = `
      import { memoryEngine } from ${JSON.stringify(new URL("./memory.ts", import.meta.url).href)};
      import { defineTool } from ${JSON.stringify(new URL("../../tool/define-tool.ts", import.meta.url).href)};
      process.on("SIGXFSZ", () => {});
      const engine = memoryEngine({ snapshot: ${JSON.stringify(snapshot)} });
      await engine.open();
      await engine.put(Array.from({ length: 500 }, (_, at) => defineTool({ name: "tool_" + at, description: "x".repeat(900) })));
      await engine.close().then(() => console.log("closed"), (error) => console.log(error.code + " " + error.message));`;
    const { stdout } = await promisify(execFile)("bash", [
      "-c",
      'ulimit -f 100; exec "$0" --input-type=module -e "$1"',
      process.execPath,
      program,
    ]);
    expect(stdout).toMatch(/^STORE_FAILED Cannot write the snapshot .*The previous version is intact\. Check that/);
    expect([await readFile(snapshot), await readFile(index)]).toEqual(before);
    expect((await readdir(join(snapshot, ".."))).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

/** Sums in another order differ in their last digits. */
function rounded(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, each: unknown) => (typeof each === "number" ? Number(each.toFixed(6)) : each)),
  );
}
