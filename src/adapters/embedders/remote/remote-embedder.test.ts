import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { DoubleAnswer, HttpDouble } from "../../../../test/doubles/http-double.ts";
import { OPENAI_KEY, openAiDouble, type OpenAiDoubleOptions } from "../../../../test/doubles/openai.ts";
import type { Embedder } from "../../../catalog/embedder.port.ts";
import { cachedEmbedder } from "../cached.ts";
import { staticEmbedder } from "../static.ts";
import { tunedEmbedder } from "../tuned.ts";
import { openaiEmbedder } from "./openai.ts";
import { openaiCompatibleEmbedder, type OpenaiCompatibleEmbedderSettings } from "./openai-compatible.ts";
import type { RemoteEmbedderSettings } from "./remote-embedder.ts";
import { createSelfCalibration, PAIRS } from "./self-calibration.ts";

async function open(
  settings: RemoteEmbedderSettings = {},
  options?: OpenAiDoubleOptions,
): Promise<{ double: HttpDouble; embedder: Embedder; sent: () => string[][] }> {
  const double = await openAiDouble(options);
  const embedder = openaiEmbedder({ apiKey: OPENAI_KEY, apiBase: `${double.url}/v1`, ...settings });
  onTestFinished(async () => {
    await embedder.close?.();
    await double.close();
  });
  return { double, embedder, sent: () => inputsOf(double) };
}

/** The texts of each request, without the pairs that the scale is measured by. */
function inputsOf({ requests }: HttpDouble): string[][] {
  return requests
    .map(({ body }) => (body as { readonly input: string[] }).input)
    .filter(([first = ""]) => !PAIRS.flat().includes(first));
}

const texts = (count: number, of = (at: number) => `text ${at}`): string[] =>
  Array.from({ length: count }, (_, at) => of(at));

describe("a remote embedder", () => {
  it("sends no more texts in one request than it is told to, and gives the vectors in order", async () => {
    const { embedder, sent } = await open({ batchSize: 3, dimension: 64 });
    const all = texts(8);
    const vectors = await embedder.embed(all, { kind: "tool" });
    expect(sent().map(({ length }) => length)).toEqual([3, 3, 2]);
    const single = await open({ dimension: 64 });
    for (const [at, text] of all.entries())
      expect(vectors[at]).toEqual((await single.embedder.embed([text], { kind: "tool" }))[0]);
  });

  it("sends no more bytes in one request than the API takes", async () => {
    const { embedder, sent } = await open({ dimension: 64, batchSize: 1000 });
    await embedder.embed(
      texts(100, (at) => `${at} ${"long ".repeat(1500)}`),
      { kind: "tool" },
    );
    const bytes = sent().map((batch) => batch.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
    expect(bytes.length).toBe(3);
    expect(Math.max(...bytes)).toBeLessThanOrEqual(300_000);
  });

  it("cuts a long text to max_input_bytes, in whole characters, and keeps its beginning", async () => {
    const { embedder, sent } = await open({ dimension: 64 }, { maxTokens: 8192 });
    await embedder.embed(["é".repeat(9000), "send 📧".repeat(3000)], { kind: "tool" });
    const [[first = "", second = ""] = []] = sent();
    expect(first).toBe("é".repeat(4000));
    expect(Buffer.byteLength(second)).toBeGreaterThan(7996);
    expect(Buffer.byteLength(second)).toBeLessThanOrEqual(8000);
    expect(second).not.toContain("\uFFFD");
    expect("send 📧".repeat(3000).startsWith(second)).toBe(true);
  });

  it("keeps no more than max_concurrent requests under way", async () => {
    const { double, embedder } = await open({ batchSize: 1, maxConcurrent: 2, dimension: 64 });
    await embedder.embed(["first"], { kind: "tool" });
    const before = double.requests.length;
    const { promise: held, resolve } = Promise.withResolvers<DoubleAnswer>();
    double.answerNext(held, held);
    const embedding = embedder.embed(texts(9), { kind: "tool" });
    await expect.poll(() => double.requests).toHaveLength(before + 2);
    resolve({ status: 200, body: { data: [{ index: 0, embedding: texts(64).map(() => 1) }] } });
    expect(await embedding).toHaveLength(9);
    expect(double.mostAtOnce).toBe(2);
  });

  it("lets a request pass the tools that wait", async () => {
    const { double, embedder, sent } = await open({ batchSize: 1, maxConcurrent: 1, dimension: 64 });
    await embedder.embed(["first"], { kind: "tool" });
    const { promise, resolve } = Promise.withResolvers<DoubleAnswer>();
    double.answerNext(promise);
    const tools = embedder.embed(texts(3), { kind: "tool" });
    await expect.poll(() => sent()).toHaveLength(2);
    const query = embedder.embed(["urgent"], { kind: "query" });
    resolve({ status: 200, body: { data: [{ index: 0, embedding: texts(64).map(() => 1) }] } });
    await Promise.all([tools, query]);
    expect(sent().flat()).toEqual(["first", "text 0", "urgent", "text 1", "text 2"]);
  });

  it("asks once for a request that is searched for again", async () => {
    const { embedder, sent } = await open({ dimension: 64 });
    const [first] = await embedder.embed(["refund"], { kind: "query" });
    expect(await embedder.embed(["refund"], { kind: "query" })).toEqual([first]);
    expect(sent()).toEqual([["refund"]]);
  });

  it("cancels the other batches if one fails, and fails with its reason", async () => {
    const { double, embedder } = await open({ batchSize: 1, maxConcurrent: 1, dimension: 64, maxRetries: 0 });
    await embedder.embed(["first"], { kind: "tool" });
    const before = double.requests.length;
    double.answerNext({ status: 400, body: { error: { message: "too odd" } } });
    await expect(embedder.embed(texts(5), { kind: "tool" })).rejects.toThrow("too odd");
    expect(double.requests.length - before).toBe(1);
  });

  it("stops everything when it is cancelled, also what waits in line", async () => {
    const { double, embedder } = await open({ batchSize: 1, maxConcurrent: 1, dimension: 64 });
    await embedder.embed(["first"], { kind: "tool" });
    const before = double.requests.length;
    double.answerNext("hang");
    const controller = new AbortController();
    const waiting = embedder.embed(texts(3), { kind: "tool", signal: controller.signal });
    await expect.poll(() => double.requests).toHaveLength(before + 1);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(await embedder.embed(["again"], { kind: "tool" })).toHaveLength(1);
    expect(double.requests).toHaveLength(before + 2);
  });

  it("says what to set if the vectors have another length", async () => {
    const { embedder } = await open({ model: "text-embedding-ada-002" }, { dimension: 768 });
    await expect(embedder.embed(["text"], { kind: "tool" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message:
        "The vectors of text-embedding-ada-002 have 768 dimensions, not 1536. Set embedder.dimension to 768, or choose a model with 1536.",
    });
  });

  it.each([
    ["too few vectors", { data: [] }],
    ["no data", { fine: true }],
    ["two vectors for one place", { data: [{ index: 0 }, { index: 0 }] }],
    ["no numbers", { data: [{ index: 0, embedding: ["a", "b"] }] }],
    ["zeros", { data: [{ index: 0, embedding: [0, 0] }] }],
    ["null", null],
  ])("refuses an answer with %s", async (_what, body) => {
    const { double, embedder } = await open({ dimension: 2 });
    double.answerNext({ status: 200, body });
    await expect(embedder.embed(["text"], { kind: "tool" })).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
  });

  it("names provider, model, dimension and what it puts before tools, so that no other vectors are compared with its own", async () => {
    const named = (given: OpenaiCompatibleEmbedderSettings): string =>
      openaiCompatibleEmbedder({ apiBase: "http://127.0.0.1:1", ...given }).model;
    expect(openaiEmbedder().model).toBe("openai/text-embedding-3-small/1536");
    expect(openaiEmbedder({ dimension: 256 }).model).toBe("openai/text-embedding-3-small/256");
    expect(named({ model: "bge-m3", dimension: 1024 })).toBe("openai_compatible/bge-m3/1024");
    const plain = named({ model: "e5-small", dimension: 384, toolPrefix: "" });
    const usual = named({ model: "e5-small", dimension: 384 });
    const other = named({ model: "e5-small", dimension: 384, toolPrefix: "tool: " });
    expect(new Set([plain, usual, other]).size).toBe(3);
  });

  it("asks nothing again that the cache knows, across restarts", async () => {
    const folder = await mkdtemp(join(tmpdir(), "remote-embedder-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const double = await openAiDouble();
    onTestFinished(() => double.close());
    for (let run = 0; run < 2; run++) {
      const remote = openaiEmbedder({ apiKey: OPENAI_KEY, apiBase: `${double.url}/v1`, dimension: 64 });
      const embedder = cachedEmbedder(remote, { folder });
      const known = run === 0 ? [] : ["new"];
      expect(await embedder.embed(["one", "two", ...known], { kind: "tool" })).toHaveLength(2 + known.length);
      await embedder.close?.();
    }
    expect(inputsOf(double)).toEqual([["one", "two"], ["new"]]);
  });

  it("is healthy if it answers, and asks only now and then", async () => {
    const { double, embedder } = await open({ maxRetries: 0 });
    double.answerNext({ status: 503, body: {} });
    expect(await embedder.healthCheck()).toBe(false);
    expect(await embedder.healthCheck()).toBe(true);
    expect(await embedder.healthCheck()).toBe(true);
    expect(double.requests).toHaveLength(2);
  });
});

describe("the scale of a model that nobody has measured", () => {
  it("is found with a few pairs, in two requests, once", async () => {
    const { double, embedder } = await open({ dimension: 64 });
    await embedder.embed(["a"], { kind: "query" });
    await embedder.embed(["b"], { kind: "query" });
    expect(double.requests).toHaveLength(4);
  });

  it("is the usual one while measuring fails, which fails nothing else", async () => {
    const { double, embedder } = await open({ dimension: 64, maxRetries: 0, maxConcurrent: 1 });
    const usual = embedder.calibrate?.(0.3);
    const refused = { status: 500, body: {} };
    const [text, ...pairs] = [
      { status: 200, body: { data: [{ index: 0, embedding: texts(64).map(() => 1) }] } },
      refused,
      refused,
    ];
    double.answerNext(text ?? refused, ...pairs);
    expect(await embedder.embed(["a"], { kind: "tool" })).toHaveLength(1);
    expect(usual).toBe(0.5);
    expect(embedder.calibrate?.(0.3)).toBe(0.5);
  });

  it("puts 0.5 near the thresholds that were measured for the shipped models", async () => {
    const measured = [
      { embedder: staticEmbedder(), threshold: 0.28 },
      { embedder: tunedEmbedder(), threshold: 0.235 },
    ];
    for (const { embedder, threshold } of measured) {
      const calibration = createSelfCalibration((all, options) => embedder.embed(all, options));
      await calibration.measure({});
      expect(calibration.calibrate(threshold - 0.05)).toBeLessThan(0.5);
      expect(calibration.calibrate(threshold + 0.05)).toBeGreaterThan(0.5);
      await embedder.close?.();
    }
  });

  it("is the same whether a model's cosines lie low or high", async () => {
    const embedder = staticEmbedder();
    // One component that all vectors share moves every cosine up: 0.2 becomes 0.84.
    const lifted = async (...given: Parameters<Embedder["embed"]>): Promise<readonly Float32Array[]> =>
      (await embedder.embed(...given)).map((vector) =>
        Float32Array.from([...vector, 2], (value) => value / Math.sqrt(5)),
      );
    const [low, high] = [createSelfCalibration((...given) => embedder.embed(...given)), createSelfCalibration(lifted)];
    await Promise.all([low.measure({}), high.measure({})]);
    for (const cosine of [0.1, 0.3, 0.6])
      expect(high.calibrate((cosine + 4) / 5)).toBeCloseTo(low.calibrate(cosine), 4);
  });
});
