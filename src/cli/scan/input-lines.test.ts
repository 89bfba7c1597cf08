import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { type InputLine, inputLines } from "./input-lines.ts";

async function read(chunks: readonly (string | Buffer)[], maxBytes?: number): Promise<readonly InputLine[]> {
  const lines: InputLine[] = [];
  for await (const line of inputLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), maxBytes))
    lines.push(line);
  return lines;
}

describe("inputLines", () => {
  it("has every line, empty ones too, and none after the last line end", async () => {
    expect(await read(["a\n\nb\r\n"])).toEqual([{ text: "a" }, { text: "" }, { text: "b" }]);
    expect(await read(["a\nb"])).toEqual([{ text: "a" }, { text: "b" }]);
    expect(await read([""])).toEqual([]);
  });

  it("puts lines together however the stream is cut, within a character too", async () => {
    const bytes = Buffer.from("ä\u2028ö\nü\n");
    const cut = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect(await read(cut)).toEqual([{ text: "ä\u2028ö" }, { text: "ü" }]);
  });

  it("keeps nothing of a line that is too long, and goes on", async () => {
    expect(await read(["12", "34", "56\nab\n12345"], 4)).toEqual([
      { tooLong: true },
      { text: "ab" },
      { tooLong: true },
    ]);
    expect(await read(["1234\r\n1234\n"], 4)).toEqual([{ text: "1234" }, { text: "1234" }]);
  });
});
