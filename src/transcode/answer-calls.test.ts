import { describe, expect, it } from "vitest";
import type { ToolCall } from "../execute/call.ts";
import type { ToolResult } from "../execute/result.ts";
import { answerCalls } from "./answer-calls.ts";
import type { ReadCall } from "./dialect.port.ts";

const SOUND: ReadCall = { id: "a", call: { toolName: "ping", arguments: { n: 1 } } };
const BROKEN: ReadCall = {
  id: "b",
  call: { toolName: "ping" },
  rawArguments: "{",
  problem: "The arguments are cut off.",
};

function succeed({ toolName, arguments: result }: ToolCall): ToolResult {
  const times = { queuedAt: 0, completedAt: 1, latencyMs: 1, attempts: 1, traceId: "t", spanId: "s" };
  return { toolName, status: "success", result, ...times };
}

describe("answerCalls", () => {
  it("pairs each call with its outcome, in order [001-processor-execute]", async () => {
    const second = { ...SOUND, id: "c", call: { toolName: "pong", arguments: {} } };
    const answered = await answerCalls([SOUND, second], async (call) => succeed(call));
    expect(answered.map(({ read, result }) => [read.id, result.toolName, result.result])).toEqual([
      ["a", "ping", { n: 1 }],
      ["c", "pong", {}],
    ]);
  });

  it("runs them at once", async () => {
    const started: string[] = [];
    const first = Promise.withResolvers<void>();
    const answering = answerCalls([SOUND, { ...SOUND, call: { toolName: "pong" } }], async (call) => {
      started.push(call.toolName);
      if (started.length === 2) first.resolve();
      await first.promise;
      return succeed(call);
    });
    expect(await answering).toHaveLength(2);
  });

  it("does not run what cannot be read, and says why", async () => {
    const ran: ToolCall[] = [];
    const [answer] = await answerCalls([BROKEN], async (call) => (ran.push(call), succeed(call)));
    expect(ran).toEqual([]);
    expect(answer).toMatchObject({
      read: BROKEN,
      result: { status: "failure", attempts: 0, error: { code: "ARGUMENTS_INVALID", message: BROKEN.problem } },
    });
  });
});
