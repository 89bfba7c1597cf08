import { expect, it } from "vitest";
import { createProgressBar, withEmbeddingProgress } from "./progress.ts";

function setUp(isTTY: boolean) {
  const written: string[] = [];
  let time = 0;
  const stream = { write: (text: string) => written.push(text), isTTY };
  const bar = createProgressBar(stream, "tools", 100, () => time);
  return { bar, written, at: (ms: number) => void (time = ms) };
}

it("shows nothing in the first second, then the share done and the time left", () => {
  const { bar, written, at } = setUp(true);
  at(999);
  bar.update(20);
  expect(written).toEqual([]);
  at(1000);
  bar.update(25);
  expect(written).toEqual([`\r\u001B[Ktools [${"█".repeat(6)}${"░".repeat(18)}] 25/100  3 s left`]);
});

it("draws at most ten times a second, and the end always", () => {
  const { bar, written, at } = setUp(true);
  at(1000);
  bar.update(1);
  at(1050);
  bar.update(2);
  expect(written).toHaveLength(1);
  bar.update(100);
  expect(written).toHaveLength(2);
});

it("leaves no trace: it is wiped where it was shown, and nothing is written where it was not", () => {
  const shown = setUp(true);
  shown.at(1500);
  shown.bar.update(50);
  shown.bar.end();
  expect(shown.written.at(-1)).toBe("\r\u001B[K");
  const quick = setUp(true);
  quick.bar.update(100);
  quick.bar.end();
  expect(quick.written).toEqual([]);
});

it("shows nothing where stderr is no terminal", () => {
  const { bar, written, at } = setUp(false);
  at(5000);
  bar.update(50);
  bar.end();
  expect(written).toEqual([]);
});

it("shows how many tools are embedded while others are pending", async () => {
  const written: string[] = [];
  let time = 0;
  const stream = { write: (text: string) => written.push(text), isTTY: true };
  const settle = async ({ onProgress }: { readonly onProgress: (pending: number) => void }): Promise<string> => {
    time = 2000;
    onProgress(30);
    return "settled";
  };
  expect(await withEmbeddingProgress(stream, 40, settle, () => time)).toBe("settled");
  expect(written).toEqual([`\r\u001B[Kembedding [${"█".repeat(6)}${"░".repeat(18)}] 10/40  6 s left`, "\r\u001B[K"]);
});
