import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createLineReader } from "./read-lines.ts";

/** What a reader makes of chunks; `null` stands for a line that was too long. */
function read(chunks: readonly Buffer[], maxBytes = 1000): readonly (string | null)[] {
  const lines: (string | null)[] = [];
  const reader = createLineReader({
    maxBytes,
    onLine: (line) => void lines.push(line),
    onTooLong: () => void lines.push(null),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return lines;
}

function cut(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

it("ends lines at LF and CRLF, leaves empty ones out, and takes the last without an end", () => {
  expect(read([Buffer.from("one\r\n\n\r\ntwo\nthree")])).toEqual(["one", "two", "three"]);
});

it("puts characters together that were cut between chunks", () => {
  expect(read(cut(Buffer.from("é€😀\nß\n"), 1))).toEqual(["é€😀", "ß"]);
});

it("keeps a line of exactly the limit, with either end, and drops a longer one", () => {
  for (const size of [1, 3, 100])
    expect(read(cut(Buffer.from("12345\n12345\r\n123456\n1234567\r\n12345678901\n12\n"), size), 5)).toEqual([
      "12345",
      "12345",
      null,
      null,
      null,
      "12",
    ]);
});

it("says once that a line is too long, before its end has come", () => {
  const told: string[] = [];
  const reader = createLineReader({
    maxBytes: 4,
    onLine: (line) => void told.push(line),
    onTooLong: () => void told.push("too long"),
  });
  for (let index = 0; index < 10; index++) reader.push(Buffer.from("abc"));
  expect(told).toEqual(["too long"]);
  reader.push(Buffer.from("abc\nnext\n"));
  expect(told).toEqual(["too long", "next"]);
});

it("shows how a line that is too long begins and ends, however it is cut into chunks", () => {
  const line = `{"id":"t5",${"x".repeat(1000)},"id":"t6"}`;
  for (const size of [1, 7, 300, 2000]) {
    const shown: string[] = [];
    const reader = createLineReader({
      maxBytes: 500,
      onLine: (text) => void shown.push(text),
      onTooLong: (head) => void shown.push(`head ${head.toString().slice(0, 11)}`),
      onSkipped: (tail) => void shown.push(`tail ${tail.toString().slice(-11)}`),
    });
    for (const chunk of cut(Buffer.from(`${line}\nnext\n`), size)) reader.push(chunk);
    expect(shown).toEqual(['head {"id":"t5",', 'tail ,"id":"t6"}', "next"]);
  }
});

it("keeps nothing of a line that is too long", () => {
  const chunk = Buffer.alloc(64 * 1024, "x");
  let tooLong = 0;
  const reader = createLineReader({ maxBytes: 1024 * 1024, onLine: () => {}, onTooLong: () => void tooLong++ });
  const before = process.memoryUsage().arrayBuffers;
  for (let index = 0; index < 1600; index++) reader.push(chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
  expect(tooLong).toBe(1);
});

it("reads the same lines however the bytes are cut", () => {
  const line = fc.string({ unit: "binary", maxLength: 20 }).map((text) => text.replaceAll(/[\r\n]/g, ""));
  fc.assert(
    fc.property(fc.array(line), fc.integer({ min: 1, max: 30 }), fc.constantFrom("\n", "\r\n"), (lines, size, end) => {
      const bytes = Buffer.from(lines.map((text) => text + end).join(""));
      const expected = lines
        .filter((text) => text !== "")
        .map((text) => (Buffer.byteLength(text) > 30 ? null : Buffer.from(text).toString()));
      expect(read(cut(bytes, size), 30)).toEqual(expected);
    }),
  );
});
