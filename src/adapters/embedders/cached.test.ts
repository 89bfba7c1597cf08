import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Embedder } from "../../catalog/embedder.port.ts";
import { embedderContract } from "../../testing/embedder.contract.ts";
import { createHashingEmbedder } from "../../testing/hashing-embedder.ts";
import { cachedEmbedder } from "./cached.ts";

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "vectors-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function counting(dimension = 256): { readonly embedder: Embedder; readonly asked: string[] } {
  const asked: string[] = [];
  const onEmbed = (texts: readonly string[]): void => void asked.push(...texts);
  return { embedder: createHashingEmbedder({ dimension, onEmbed }), asked };
}

describe("cached embedder [000-5.2-embedder]", () => {
  const contract = embedderContract(async () => {
    const folder = await mkdtemp(join(tmpdir(), "vectors-"));
    const adapter = cachedEmbedder(createHashingEmbedder(), { folder });
    return {
      adapter,
      async dispose() {
        await adapter.close?.();
        await rm(folder, { recursive: true });
      },
    };
  });
  for (const { name, run } of contract) it(name, run);

  it("computes a tool's text once, in this process and the next", async () => {
    const folder = await temporaryFolder();
    const { embedder, asked } = counting();
    const first = cachedEmbedder(embedder, { folder });
    const [made] = await first.embed(["send a letter", "send a letter"], { kind: "tool" });
    await first.embed(["send a letter", "pay"], { kind: "tool" });
    expect(asked).toEqual(["send a letter", "pay"]);
    await first.close?.();
    const second = cachedEmbedder(embedder, { folder });
    const [again] = await second.embed(["send a letter"], { kind: "tool" });
    expect(asked).toHaveLength(2);
    expect(again?.every((value, index) => Math.abs(value - (made?.[index] ?? 9)) < 0.005)).toBe(true);
    await second.close?.();
  });

  it("recalls what it has, without computing, and keeps no request", async () => {
    const folder = await temporaryFolder();
    const { embedder, asked } = counting();
    const cached = cachedEmbedder(embedder, { folder });
    await cached.embed(["known"], { kind: "tool" });
    await cached.embed(["a request"], { kind: "query" });
    const found = await cached.recall?.(["known", "a request"]);
    expect(found?.map((vector) => vector?.length)).toEqual([256, undefined]);
    expect(asked).toEqual(["known", "a request"]);
    await cached.close?.();
  });

  it("keeps each model's vectors in a file of its own", async () => {
    const folder = await temporaryFolder();
    for (const dimension of [8, 16]) {
      const { embedder, asked } = counting(dimension);
      const cached = cachedEmbedder(embedder, { folder });
      await cached.embed(["x"], { kind: "tool" });
      expect(asked).toEqual(["x"]);
      await cached.close?.();
    }
    expect((await readdir(folder)).sort()).toEqual(["hashing-16.vectors", "hashing-8.vectors"]);
  });

  it("works without its file where the folder cannot be written", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "file"), "");
    const { embedder, asked } = counting();
    const cached = cachedEmbedder(embedder, { folder: join(folder, "file", "below") });
    await cached.embed(["x"], { kind: "tool" });
    await cached.embed(["x"], { kind: "tool" });
    expect(asked).toEqual(["x", "x"]);
    await cached.close?.();
  });

  it("is as ready, as well and as calibrated as what it stands before, and closes it", async () => {
    let closed = false;
    const inner: Embedder = {
      ...createHashingEmbedder(),
      ready: false,
      calibrate: (cosine) => cosine / 2,
      healthCheck: async () => false,
      close: async () => void (closed = true),
    };
    const cached = cachedEmbedder(inner, { folder: await temporaryFolder() });
    expect([cached.ready, cached.calibrate?.(0.5), await cached.healthCheck()]).toEqual([false, 0.25, false]);
    await cached.close?.();
    expect(closed).toBe(true);
    expect(cachedEmbedder(createHashingEmbedder()).ready).toBe(true);
  });
});
