import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import { boundEvents } from "./bound-events.ts";

const server = "The MCP server at http://old.test";

function cut(said: string, size: number): readonly Buffer[] {
  const bytes = Buffer.from(said);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, place) =>
    bytes.subarray(place * size, (place + 1) * size),
  );
}

describe.each([1, 7, 1000])("events that come in pieces of %i bytes", (size) => {
  const through = (said: string): Promise<string> => {
    const bounded = boundEvents({ server, maxMessageBytes: 100, clock: createManualClock() });
    return text(Readable.from(cut(said, size)).pipe(bounded));
  };

  it.each(["\n", "\r\n"])("pass unchanged where each is short enough, with lines that end in %j", async (end) => {
    const said = `event: message${end}data: ${"x".repeat(60)}${end}${end}`.repeat(5);
    expect(await through(said)).toBe(said);
  });

  it("end with an error at one that is too long, whether in one line or in many", async () => {
    const short = "data: short\n\n";
    await expect(through(`${short}data: ${"x".repeat(200)}\n\n`)).rejects.toMatchObject({ code: "RESULT_TOO_LARGE" });
    await expect(through(short + "data: xxxxxxxxxx\n".repeat(20))).rejects.toMatchObject({ code: "RESULT_TOO_LARGE" });
  });
});

it("passes a flood on slowly", async () => {
  const clock = createManualClock();
  const bounded = boundEvents({ server, maxMessageBytes: 100, clock });
  const passed: number[] = [];
  bounded.on("data", (chunk: Buffer) => passed.push(chunk.length));
  const chunk = Buffer.from("data: x\n\n".repeat(500));
  for (let count = 0; count < 3; count++) bounded.write(chunk);
  await new Promise((resolve) => setImmediate(resolve));
  expect(passed).toEqual([]);
  await clock.advance(500);
  expect(passed).toHaveLength(1);
  await clock.advance(1100);
  expect(passed).toHaveLength(3);
});
