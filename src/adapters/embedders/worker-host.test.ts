import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { createWorkerHost, type WorkerHost } from "./worker-host.ts";

/** Answers with the lengths of the texts; dies of the text "die", and stays silent about "wait". */
const PROGRAM = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", (job) => {
    if ("cancel" in job) return parentPort.postMessage({ id: job.cancel, error: "cancelled" });
    if (job.texts.includes("die")) process.exit(3);
    if (job.texts.includes("throw")) throw new Error("bad luck");
    if (job.texts.includes("refuse")) return parentPort.postMessage({ id: job.id, error: "not this text" });
    if (job.texts.includes("wait")) return;
    parentPort.postMessage({ id: job.id, vectors: Float32Array.from(job.texts, (text) => text.length) });
  });
  parentPort.postMessage({ loaded: "lengths" });
`;

function host(program: string = PROGRAM): { readonly host: WorkerHost; readonly workers: Worker[] } {
  const workers: Worker[] = [];
  const made = createWorkerHost(() => {
    const worker = new Worker(program, { eval: true });
    workers.push(worker);
    return worker;
  });
  onTestFinished(() => made.stop());
  return { host: made, workers };
}

const job = (...texts: readonly string[]): { kind: "tool"; texts: readonly string[] } => ({ kind: "tool", texts });

describe("worker host", () => {
  it("starts nothing before it is needed, and one worker for all jobs", async () => {
    const { host: one, workers } = host();
    expect([workers.length, one.ready]).toEqual([0, false]);
    const answers = await Promise.all([one.encode(job("a", "bcd")), one.encode(job("ef"))]);
    expect(answers.map((answer) => [...answer])).toEqual([[1, 3], [2]]);
    expect([workers.length, one.ready]).toEqual([1, true]);
  });

  it("starts a dead worker once more, with the jobs it had", async () => {
    const { host: one, workers } = host();
    await one.load();
    const waiting = one.encode(job("wait", "x")).catch((error: unknown) => error);
    await workers[0]?.terminate();
    expect([...(await one.encode(job("abc")))]).toEqual([3]);
    expect([workers.length, one.ready]).toEqual([2, true]);
    await one.stop();
    expect(await waiting).toMatchObject({ code: "CLOSED" });
  });

  it.each([
    ["ends", "die", "its thread ended with code 3"],
    ["throws", "throw", "bad luck"],
  ])("gives up on a worker that %s twice, and says why", async (_, text, reason) => {
    const { host: one, workers } = host();
    await expect(one.encode(job(text))).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message: `The tuned model's worker died twice: ${reason}. Searches fall back to the static tier. Set embedder.tier to static, or report the message with your Node version.`,
    });
    expect([workers.length, one.ready]).toEqual([2, false]);
    await expect(one.encode(job("fine"))).rejects.toThrow("died twice");
    await expect(one.load()).rejects.toThrow("died twice");
    expect(workers).toHaveLength(2);
  });

  it("gives up on a worker that cannot load", async () => {
    const { host: one } = host(`throw new Error("no weights")`);
    await expect(one.load()).rejects.toThrow("no weights");
  });

  it("fails one job without harm to others", async () => {
    const { host: one } = host();
    await expect(one.encode(job("refuse"))).rejects.toThrow("not this text");
    expect([...(await one.encode(job("ok")))]).toEqual([2]);
  });

  it("ends a wait when its signal fires, and goes on", async () => {
    const { host: one } = host();
    const controller = new AbortController();
    const waiting = one.encode(job("wait"), { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(one.encode(job("x"), { signal: AbortSignal.abort() })).rejects.toThrow();
    expect([...(await one.encode(job("ok")))]).toEqual([2]);
  });

  it("rejects what still waits when it is stopped", async () => {
    const { host: one } = host();
    await one.load();
    const waiting = one.encode(job("wait"));
    const stopped = one.stop();
    await expect(waiting).rejects.toMatchObject({ code: "CLOSED" });
    await stopped;
    await expect(one.encode(job("x"))).rejects.toMatchObject({ code: "CLOSED" });
  });
});
