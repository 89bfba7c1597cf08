import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import type { RpcNotification } from "../../../../mcp/protocol.ts";
import { createRelayLimits } from "./relay-limits.ts";

const progress = (count: number): RpcNotification => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progress: count },
});
const log = (data: string): RpcNotification => ({ jsonrpc: "2.0", method: "notifications/message", params: { data } });

describe("progress", () => {
  it("passes as it comes at first, then the latest of each tenth of a second", async () => {
    const clock = createManualClock();
    const given: unknown[] = [];
    const { push } = createRelayLimits("s", clock).progress(({ params }) => void given.push(params?.["progress"]));
    for (let count = 1; count <= 1000; count++) push(progress(count));
    expect(given).toEqual(Array.from({ length: 20 }, (_, place) => place + 1));
    await clock.advance(100);
    expect(given.slice(20)).toEqual([1000]);
    for (let count = 1001; count <= 2000; count++) push(progress(count));
    await clock.advance(100);
    expect(given.slice(21)).toEqual([2000]);
  });

  it("gives the latest before the answer, and nothing after the request failed", async () => {
    const clock = createManualClock();
    const given: unknown[] = [];
    const limits = createRelayLimits("s", clock);
    const answered = limits.progress(({ params }) => void given.push(params?.["progress"]));
    for (let count = 1; count <= 50; count++) answered.push(progress(count));
    answered.flush();
    expect(given.at(-1)).toBe(50);
    const failed = limits.progress(({ params }) => void given.push(params?.["progress"]));
    for (let count = 1; count <= 50; count++) failed.push(progress(-count));
    failed.stop();
    await clock.advance(10_000);
    expect(given.at(-1)).toBe(-20);
    expect(clock.pending).toBe(0);
  });
});

describe("log messages", () => {
  it("pass up to a number a second, and the next says how many were dropped", async () => {
    const clock = createManualClock();
    const given: unknown[] = [];
    const limits = createRelayLimits("files", clock);
    const give = ({ params }: RpcNotification): void => void given.push(params?.["data"]);
    for (let count = 0; count < 500; count++) limits.log(log(`m${count}`), give);
    expect(given).toHaveLength(100);
    await clock.advance(50);
    limits.log(log("later"), give);
    expect(given.slice(100)).toEqual([
      '400 log messages of the MCP server "files" were dropped: it sends too many.',
      "later",
    ]);
  });
});
