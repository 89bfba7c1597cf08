import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { embedderContract } from "../../testing/embedder.contract.ts";
import { createEncoder } from "./kernel/encoder.ts";
import { SHIPPED_FILES } from "./shipped-files.ts";
import { tunedEmbedder } from "./tuned.ts";
import { createWordPiece } from "./wordpiece/wordpiece.ts";

describe("tuned embedder [000-5.2-embedder]", () => {
  const contract = embedderContract(() => {
    const adapter = tunedEmbedder();
    return { adapter, dispose: async () => adapter.close?.() };
  });
  for (const { name, run } of contract) it(name, run);

  it("names the model that its weights name", () => {
    const { model, dimension, ready } = tunedEmbedder();
    expect([model, dimension, ready]).toEqual(["toolarsenal-tuned-2", 384, false]);
  });

  it("gives the vectors of the encoder, cut as it was trained", async () => {
    const embedder = tunedEmbedder();
    onTestFinished(() => embedder.close?.());
    const wordPiece = createWordPiece(readFileSync(SHIPPED_FILES.vocabulary, "utf8"));
    const encoder = createEncoder({ weights: readFileSync(SHIPPED_FILES.tuned) });
    const texts = ["slack send message: Sends a message.", "word ".repeat(300)];
    for (const [kind, maxTokens] of [
      ["tool", 192],
      ["query", 256],
    ] as const) {
      const expected = encoder.encode(texts.map((text) => wordPiece.encode(text, { maxTokens })));
      expect(await embedder.embed(texts, { kind })).toEqual(expected);
    }
  });

  it("reads the passages of a request as part of it", async () => {
    const embedder = tunedEmbedder();
    onTestFinished(() => embedder.close?.());
    const request = "Open a ticket for the outage and tell the team on Slack";
    const clauses = ["Open a ticket for the outage", "tell the team on Slack"];
    const pooled = await embedder.embed([request, ...clauses], { kind: "query", passagesFrom: 1 });
    const alone = await embedder.embed([request, ...clauses], { kind: "query" });
    const cosines = pooled.map((vector, index) => dot(vector, alone[index]));
    expect(cosines[0]).toBeCloseTo(1, 5);
    for (const cosine of cosines.slice(1)) {
      expect(cosine).toBeGreaterThan(0.6);
      expect(cosine).toBeLessThan(0.999);
    }
  });

  it("shares one worker, which works until the last of its users is closed", async () => {
    const [one, other] = [tunedEmbedder(), tunedEmbedder()];
    await one.embed(["x"], { kind: "query" });
    expect([one.ready, other.ready]).toEqual([true, false]);
    await other.embed(["x"], { kind: "query" });
    expect(other.ready).toBe(true);
    await one.close?.();
    expect(await other.healthCheck()).toBe(true);
    await expect(one.embed(["y"], { kind: "query" })).rejects.toMatchObject({ code: "CLOSED" });
    await other.close?.();
    expect(await other.healthCheck()).toBe(false);
  });

  it("is not well where its weights are damaged", async () => {
    const folder = await mkdtemp(join(tmpdir(), "weights-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "damaged.bin");
    const bytes = readFileSync(SHIPPED_FILES.tuned);
    bytes[bytes.length - 1] = 255 - (bytes.at(-1) ?? 0);
    writeFileSync(file, bytes);
    const embedder = tunedEmbedder({ weights: pathToFileURL(file) });
    onTestFinished(() => embedder.close?.());
    expect(await embedder.healthCheck()).toBe(false);
    await expect(embedder.embed(["x"], { kind: "query" })).rejects.toThrow("checksum");
  });

  it("says where it looked for weights that are not there", () => {
    const weights = new URL("nowhere.bin", import.meta.url);
    expect(() => tunedEmbedder({ weights })).toThrow("nowhere.bin. Reinstall the package");
  });

  it.each([
    [
      "waits for an answer that is waited for",
      `console.log((await embedder.embed(["x"], { kind: "tool" })).length)`,
      "1\n",
    ],
    [
      "waits for no other",
      `embedder.embed(["x"], { kind: "tool", background: true }).then(() => console.log("late"))`,
      "",
    ],
    ["does not wait for an idle worker", `await embedder.healthCheck(); console.log("done")`, "done\n"],
  ])("a process %s", (_, program, expected) => {
    const module = JSON.stringify(new URL("./tuned.ts", import.meta.url).href);
    const source = `const { tunedEmbedder } = await import(${module}); const embedder = tunedEmbedder(); ${program}`;
    const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "--eval", source], {
      encoding: "utf8",
      timeout: 100_000,
    });
    expect([stdout, stderr, status]).toEqual([expected, "", 0]);
  });
});

function dot(one: Float32Array, other: Float32Array = new Float32Array()): number {
  return one.reduce((total, value, index) => total + value * (other[index] ?? 0), 0);
}
