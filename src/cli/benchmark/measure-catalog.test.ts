import { expect, it } from "vitest";
import { measureCatalog, measureEngine, type ShowProgress } from "./measure-catalog.ts";

const { signal } = new AbortController();

it("shows the progress of every part, also of embedding with the tuned model", async () => {
  const shown: { readonly label: string; readonly total: number; last: number }[] = [];
  const show: ShowProgress = (label, total, work) => {
    const part = { label, total, last: 0 };
    shown.push(part);
    return work((done) => (part.last = done));
  };
  await measureCatalog(12, { tier: "tuned", rounds: 1, signal, show });
  expect(shown).toEqual([
    { label: "registering", total: 12, last: 12 },
    { label: "embedding", total: 12, last: 12 },
    { label: "searching", total: 100, last: 100 },
  ]);
});

it("shows the progress of measuring the engine", async () => {
  const reported: number[] = [];
  await measureEngine(10, signal, (done) => reported.push(done));
  expect(reported).toEqual([10, 20, 30]);
});
