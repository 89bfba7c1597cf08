import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { createVectorCache, type VectorCache } from "./vector-cache.ts";

const DIMENSION = 8;
const HEADER = 128;
const RECORD = 16 + 4 + DIMENSION + 4;

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

  it("cuts off a torn tail and goes on behind the last whole record", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "m-1.vectors");
    const first = openCache(folder);
    await first.put(entries("a", "b"));
    await first.close();
    await truncate(file, HEADER + 2 * RECORD - 5);
    const second = openCache(folder);
    expect(await known(second, "a", "b")).toEqual([true, false]);
    await second.put(entries("b", "c"));
    await second.close();
    expect(await known(openCache(folder), "a", "b", "c")).toEqual([true, true, true]);
    expect((await stat(file)).size).toBe(HEADER + 3 * RECORD);
  });

  it("drops a record that any byte was changed of, and no other", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "m-1.vectors");
    const first = openCache(folder);
    await first.put(entries("a", "b", "c"));
    await first.close();
    const whole = await readFile(file);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: RECORD - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, change) => {
          const damaged = Buffer.from(whole);
          damaged[HEADER + RECORD + at] = (damaged[HEADER + RECORD + at] ?? 0) ^ change;
          await writeFile(file, damaged);
          const cache = createVectorCache({ folder, model: "m-1", dimension: DIMENSION });
          expect(await known(cache, "a", "b", "c")).toEqual([true, false, true]);
          await cache.close();
        },
      ),
      { numRuns: 40 },
    );
  });

  it("finds the earlier record of a text where a later one is damaged", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "m-1.vectors");
    const first = openCache(folder);
    await first.put(entries("a"));
    await first.put(entries("a"));
    await first.close();
    const bytes = await readFile(file);
    await writeFile(file, bytes.with(HEADER + 2 * RECORD - 1, 255 - (bytes.at(-1) ?? 0)));
    expect(await known(openCache(folder), "a")).toEqual([true]);
  });

  it.each([
    ["is damaged", (bytes: Buffer) => bytes.with(3, 0)],
    ["is cut short", (bytes: Buffer) => bytes.subarray(0, 50)],
    ["is empty", () => new Uint8Array()],
    ["is that of another dimension", (bytes: Buffer) => bytes.with(12, 9)],
  ])("begins anew where the header %s", async (_, damage) => {
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

  it("finds nothing of another model, and harms it not", async () => {
    const folder = await temporaryFolder();
    const first = openCache(folder);
    await first.put(entries("a"));
    const other = openCache(folder, { model: "m/2: odd name" });
    expect(await known(other, "a")).toEqual([false]);
    await other.put(entries("b"));
    expect(await known(first, "a", "b")).toEqual([true, false]);
  });

  it("begins anew before it grows beyond its bound", async () => {
    const folder = await temporaryFolder();
    const cache = openCache(folder, { maxBytes: HEADER + 3 * RECORD });
    await cache.put(entries("a", "b"));
    await cache.put(entries("c", "d"));
    expect(await known(cache, "a", "b", "c", "d")).toEqual([false, false, true, true]);
    expect((await stat(join(folder, "m-1.vectors"))).size).toBe(HEADER + 2 * RECORD);
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

  it("survives what another program appended", async () => {
    const folder = await temporaryFolder();
    const first = openCache(folder);
    await first.put(entries("a"));
    await first.close();
    await appendFile(join(folder, "m-1.vectors"), "x".repeat(3 * RECORD + 7));
    const second = openCache(folder);
    await second.put(entries("b"));
    await second.close();
    expect(await known(openCache(folder), "a", "b")).toEqual([true, true]);
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
