import { describe, expect, it } from "vitest";
import { chain, EMPTY_LOG, readLine } from "./chain.ts";

/** A line of a log without its break. */
function line(record: object = { kind: "gap", records: 2 }): string {
  return chain(record, EMPTY_LOG, 5).line.trimEnd();
}

describe("a line of a log", () => {
  it("reads as it was written", () => {
    const { head } = chain({ kind: "gap", records: 2 }, EMPTY_LOG, 5);
    expect(readLine(Buffer.from(line()))).toEqual({
      record: { at: 5, kind: "gap", records: 2, seq: 1 },
      prev: EMPTY_LOG.hash,
      hash: head.hash,
      intact: true,
    });
  });

  it("reads where it was changed, and says that it was", () => {
    expect(readLine(Buffer.from(line().replace('"records":2', '"records":3')))).toMatchObject({ intact: false });
  });

  it.each([
    ["nothing", ""],
    ["a record without its link", '{"kind":"gap","seq":1}'],
    ["a link without its record", line().slice(0, 149)],
    ["a hash of other letters", line().replace(/"hash":"./, '"hash":"G')],
    ["something before it", ` ${line()}`],
    ["a record whose number is none", line().replace('"seq":1', '"seq":"1"')],
  ])("is none that is %s", (_what, text) => {
    expect(readLine(Buffer.from(text))).toBeUndefined();
  });
});
