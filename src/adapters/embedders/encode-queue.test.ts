import { describe, expect, it } from "vitest";
import { createEncodeQueue, type EncodeQueue } from "./encode-queue.ts";

/** A queue whose texts are as many tokens long as they say, and whose vectors are those lengths. */
function queue(): { readonly queue: EncodeQueue; readonly slices: number[][]; readonly ended: unknown[] } {
  const slices: number[][] = [];
  const ended: unknown[] = [];
  const made = createEncodeQueue({
    tokenise: (text) => new Int32Array(Number(text)),
    encode(texts, { passagesFrom } = {}) {
      if (texts.some(({ length }) => length === 13)) throw new Error("unlucky");
      slices.push([...texts.map(({ length }) => length), ...(passagesFrom === undefined ? [] : [-passagesFrom])]);
      return texts.map(({ length }) => Float32Array.of(length));
    },
    onDone: (id, vectors) => ended.push([id, vectors.map(([length]) => length)]),
    onFailed: (id, error) => ended.push([id, (error as Error).message]),
  });
  return { queue: made, slices, ended };
}

describe("encode queue", () => {
  it("works in slices of at most 128 tokens, a longer text alone, and answers in order", () => {
    const { queue: jobs, slices, ended } = queue();
    jobs.add({ id: 1, kind: "tool", texts: ["60", "60", "60", "190", "5"] });
    expect([jobs.step(), jobs.step(), jobs.step(), jobs.step()]).toEqual([true, true, true, false]);
    expect(slices).toEqual([[60, 60], [60], [190], [5]]);
    expect(ended).toEqual([[1, [60, 60, 60, 190, 5]]]);
  });

  it("encodes a text and its passages in one step, however long", () => {
    const { queue: jobs, slices, ended } = queue();
    jobs.add({ id: 1, kind: "query", texts: ["190", "60", "80"], passagesFrom: 1 });
    expect(jobs.step()).toBe(false);
    expect(slices).toEqual([[190, 60, 80, -1]]);
    expect(ended).toEqual([[1, [190, 60, 80]]]);
  });

  it("lets a request go before tools, also in the middle of them", () => {
    const { queue: jobs, ended } = queue();
    jobs.add({ id: 1, kind: "tool", texts: ["100", "100", "100"] });
    jobs.step();
    jobs.add({ id: 2, kind: "tool", texts: ["1"] });
    jobs.add({ id: 3, kind: "query", texts: ["7"] });
    while (jobs.step());
    expect(ended.map((one) => (one as [number])[0])).toEqual([3, 1, 2]);
  });

  it("drops the rest of a job that nobody waits for", () => {
    const { queue: jobs, slices, ended } = queue();
    jobs.add({ id: 1, kind: "tool", texts: ["100", "100", "100"] });
    jobs.step();
    jobs.cancel(1);
    expect(jobs.step()).toBe(false);
    expect([slices.length, ended]).toEqual([1, []]);
  });

  it("fails a job alone", () => {
    const { queue: jobs, ended } = queue();
    jobs.add({ id: 1, kind: "tool", texts: ["13"] });
    jobs.add({ id: 2, kind: "tool", texts: ["2"] });
    while (jobs.step());
    expect(ended).toEqual([
      [1, "unlucky"],
      [2, [2]],
    ]);
  });

  it("has nothing to do when it is empty", () => {
    expect(queue().queue.step()).toBe(false);
  });
});
