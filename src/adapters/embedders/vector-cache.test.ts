import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadSqlite } from "../sqlite/open-sqlite.ts";
import { createVectorCache, type VectorCache } from "./vector-cache.ts";
import { repeats } from "../../../test/kit/effort.ts";

const DIMENSION = 8;

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "vectors-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function openCache(folder: string, options: { model?: string; maxBytes?: number } = {}): VectorCache {
  const cache = createVectorCache({ folder, model: "m-1", dimension: DIMENSION, ...options });
  onTestFinished(() => cache.close());
  return cache;
}

const vectorOf = (text: string): Float32Array =>
  Float32Array.from({ length: DIMENSION }, (_, index) =>
    Math.sin(text.length * 7 + index + (text.codePointAt(0) ?? 0)),
  );

const entries = (...texts: readonly string[]): { text: string; vector: Float32Array }[] =>
  texts.map((text) => ({ text, vector: vectorOf(text) }));

async function known(cache: VectorCache, ...texts: readonly string[]): Promise<boolean[]> {
  return (await cache.get(texts)).map((vector) => vector !== undefined);
}

describe("vector cache", () => {
  it("gives back what was put, rounded, to whoever opens the file next", async () => {
    const folder = await temporaryFolder();
    const texts = Array.from({ length: 700 }, (_, index) => `text ${index}`);
    const first = openCache(folder);
    await first.put(entries(...texts));
    await first.close();
    const found = await openCache(folder).get(["nothing", ...texts.toReversed()]);
    expect(found[0]).toBeUndefined();
    for (const [index, text] of texts.toReversed().entries()) {
      const vector = found[index + 1];
      vectorOf(text).forEach((value, at) => expect(Math.abs(value - (vector?.[at] ?? 9))).toBeLessThan(0.005));
    }
  });

  it("drops a record that any byte was changed of, and no other", async () => {
    const folder = await temporaryFolder();
    const cache = openCache(folder);
    await cache.put(entries("a", "b", "c"));
    const { DatabaseSync } = loadSqlite();
    using database = new DatabaseSync(join(folder, "m-1.vectors"));
    const key = hash("sha256", "m-1\nb", "buffer").subarray(0, 16);
    const { value } = database.prepare("SELECT value FROM vector WHERE key = ?").get(key) as { value: Uint8Array };
    const write = database.prepare("UPDATE vector SET value = ? WHERE key = ?");
    await fc.assert(
      fc.asyncProperty(fc.nat(value.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        write.run(value.with(at, (value[at] ?? 0) ^ change), key);
        expect(await known(cache, "a", "b", "c")).toEqual([true, false, true]);
      }),
      { numRuns: repeats(40) },
    );
  });

  it.each([
    ["is damaged", (bytes: Buffer) => bytes.with(3, 0)],
    ["is cut short", (bytes: Buffer) => bytes.subarray(0, 5000)],
    ["is empty", () => new Uint8Array()],
    ["is of an earlier release", () => Buffer.concat([Buffer.from("TAVECTOR"), Buffer.alloc(8000, 1)])],
  ])("begins anew if the file %s", async (_, damage) => {
    const folder = await temporaryFolder();
    const file = join(folder, "m-1.vectors");
    const first = openCache(folder);
    await first.put(entries("a"));
    await first.close();
    await writeFile(file, damage(await readFile(file)));
    const second = openCache(folder);
    expect(await known(second, "a")).toEqual([false]);
    await second.put(entries("a"));
    await second.close();
    expect(await known(openCache(folder), "a")).toEqual([true]);
  });

  it("leaves another program's database alone", async () => {
    const folder = await temporaryFolder();
    const { DatabaseSync } = loadSqlite();
    using other = new DatabaseSync(join(folder, "m-1.vectors"));
    other.exec("CREATE TABLE vector (mine); INSERT INTO vector VALUES (1);");
    const cache = openCache(folder);
    await cache.put(entries("a"));
    expect(await known(cache, "a")).toEqual([false]);
    expect(other.prepare("SELECT * FROM vector").all()).toEqual([{ mine: 1 }]);
  });

  it("knows nothing of a text whose vector has another dimension", async () => {
    const folder = await temporaryFolder();
    await openCache(folder).put(entries("a"));
    const other = createVectorCache({ folder, model: "m-1", dimension: DIMENSION + 1 });
    onTestFinished(() => other.close());
    expect(await known(other, "a")).toEqual([false]);
  });

  it("finds nothing of another model, and harms it not", async () => {
    const folder = await temporaryFolder();
    const first = openCache(folder);
    await first.put(entries("a"));
    const other = openCache(folder, { model: "m/2: odd name" });
    expect(await known(other, "a")).toEqual([false]);
    await other.put(entries("b"));
    expect(await known(first, "a", "b")).toEqual([true, false]);
  });

  it("finds nothing of another model in the same file, as where names that differ only in case are one file", async () => {
    const folder = await temporaryFolder();
    const first = openCache(folder);
    await first.put(entries("a"));
    await first.close();
    await rename(join(folder, "m-1.vectors"), join(folder, "M-1.vectors"));
    expect(await known(openCache(folder, { model: "M-1" }), "a")).toEqual([false]);
  });

  it("finds what it has while another process writes, and writes nothing to do so", async () => {
    const folder = await temporaryFolder();
    const first = openCache(folder);
    await first.put(entries("a"));
    const { DatabaseSync } = loadSqlite();
    using other = new DatabaseSync(join(folder, "m-1.vectors"));
    other.exec("BEGIN IMMEDIATE");
    expect(await known(openCache(folder), "a")).toEqual([true]);
  });

  it("does without a file that stays locked", async () => {
    const folder = await temporaryFolder();
    const { DatabaseSync } = loadSqlite();
    using other = new DatabaseSync(join(folder, "m-1.vectors"));
    other.exec("BEGIN; SELECT * FROM sqlite_schema;");
    const cache = openCache(folder);
    await cache.put(entries("a"));
    expect(await known(cache, "a")).toEqual([false]);
  });

  it("begins anew before it grows beyond its bound", async () => {
    const folder = await temporaryFolder();
    const maxBytes = 64 * 1024;
    const cache = openCache(folder, { maxBytes });
    const texts = (from: number): string[] => Array.from({ length: 400 }, (_, index) => `text ${from + index}`);
    for (const from of [0, 400, 800, 1200]) await cache.put(entries(...texts(from)));
    expect(await known(cache, ...texts(1200))).not.toContain(false);
    expect(await known(cache, ...texts(0))).not.toContain(true);
    await cache.close();
    expect((await stat(join(folder, "m-1.vectors"))).size).toBeLessThanOrEqual(maxBytes);
  });

  it("lets two write at once, and each find its own", async () => {
    const folder = await temporaryFolder();
    const one = openCache(folder);
    await one.put(entries("first"));
    const other = openCache(folder);
    const texts = (who: string): string[] => Array.from({ length: 50 }, (_, index) => `${who} ${index}`);
    for (const [index] of texts("x").entries())
      await Promise.all([one.put(entries(`one ${index}`)), other.put(entries(`other ${index}`))]);
    expect(await known(one, ...texts("one"))).not.toContain(false);
    expect(await known(other, ...texts("other"))).not.toContain(false);
    await Promise.all([one.close(), other.close()]);
    expect(await known(openCache(folder), "first", ...texts("one"), ...texts("other"))).not.toContain(false);
  });

  it("loses nothing that one process appends while others open the file", async () => {
    const folder = await temporaryFolder();
    const texts = Array.from({ length: 200 }, (_, index) => `text ${index}`);
    const writer = openCache(folder);
    const writing = (async () => {
      for (const text of texts) await writer.put(entries(text));
    })();
    for (let opened = 0; opened < 100; opened++) {
      const other = openCache(folder);
      await other.get(["nothing"]);
      await other.close();
    }
    await writing;
    expect((await known(openCache(folder), ...texts)).filter((found) => !found)).toEqual([]);
  });

  it("keeps what a killed process had written, and the next one goes on from there", async () => {
    const folder = await temporaryFolder();
    const module = JSON.stringify(new URL("./vector-cache.ts", import.meta.url).href);
    const program = `
      const { createVectorCache } = await import(${module});
      const cache = createVectorCache({ folder: ${JSON.stringify(folder)}, model: "m-1", dimension: ${DIMENSION} });
      for (let index = 0; ; index++) {
        await cache.put([{ text: "text " + index, vector: new Float32Array(${DIMENSION}).fill(index + 1) }]);
        console.log(index);
      }`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    for await (const chunk of child.stdout.setEncoding("utf8")) {
      printed += String(chunk);
      if (printed.split("\n").length > 200) break;
    }
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    const last = Number(printed.split("\n").at(-2));
    expect(last).toBeGreaterThan(100);
    const cache = openCache(folder);
    const texts = Array.from({ length: last + 1 }, (_, index) => `text ${index}`);
    expect(await known(cache, ...texts)).not.toContain(false);
    await cache.put(entries("after"));
    await cache.close();
    expect(await known(openCache(folder), ...texts, "after")).not.toContain(false);
  });
});
