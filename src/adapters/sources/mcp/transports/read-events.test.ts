import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEventReader } from "./read-events.ts";

/** What a reader makes of chunks, in order. */
function read(chunks: readonly (string | Uint8Array)[], maxBytes = 1000): readonly string[] {
  const seen: string[] = [];
  const reader = createEventReader({
    maxBytes,
    onData: (data, type) => seen.push(`${type === "message" ? "data" : type} ${data}`),
    onId: (id) => seen.push(`id ${id}`),
    onRetry: (ms) => seen.push(`retry ${ms}`),
    onTooLong: () => seen.push("too long"),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk as string));
  return seen;
}

const STREAM =
  "\uFEFFid: 1\nevent: message\ndata: {}\n\n: still here\nretry: 250\nid: 2\ndata:\n\nevent:message\r\ndata:ä\r\ndata: b\r\n\r\n";
const SEEN = ["id 1", "data {}", "retry 250", "id 2", "data ä\nb"];

describe("a stream of server-sent events", () => {
  it("is read alike however it is cut into chunks", () => {
    const bytes = Buffer.from(STREAM);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 8 }), (cuts) => {
        const ends = [...cuts.toSorted((a, b) => a - b), bytes.length];
        expect(read(ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end)))).toEqual(SEEN);
      }),
    );
  });

  it("has lines that end in CR", () => {
    expect(read(["data: 1\r\rid: 7\rdata: 2\r\r\n"])).toEqual(["data 1", "id 7", "data 2"]);
  });

  it("tells events of other types, and leaves out what is no time and no id", () => {
    expect(read(["event: ping\ndata: 1\n\nretry: soon\nid: a\0b\ndata: 2\n\ndata\n\nunknown: 3\n\n"])).toEqual([
      "ping 1",
      "data 2",
    ]);
  });

  it("has no event that its end cuts off", () => {
    expect(read(["id: 1\ndata: 1\n"])).toEqual([]);
  });

  it("goes on after an event that is too long, in one line or in many", () => {
    expect(read([`data: ${"x".repeat(11)}\n\ndata: 0123456789\n\n`], 10)).toEqual(["too long", "data 0123456789"]);
    expect(read(["data: 01234\ndata: 56789\ndata: x\n\ndata: 1\n\n"], 10)).toEqual(["too long", "data 1"]);
  });
});
