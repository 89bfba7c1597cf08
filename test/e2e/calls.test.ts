import { describe, expect, it } from "vitest";
import { type Handler, ToolArsenal, type ToolArsenalConfig, type ToolDraft } from "../../src/index.ts";
import { createManualClock } from "../../src/testing/index.ts";

const quiet = { telemetry: { enabled: false } } as const;
const noop: ToolDraft = {
  name: "look_around",
  description: "Looks around and says what it sees.",
  parameters: { type: "object" },
};

async function arsenalWith(
  handler: Handler,
  draft: Partial<ToolDraft> = {},
  config: ToolArsenalConfig = {},
): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ ...quiet, ...config });
  await arsenal.addTool({ ...noop, ...draft }, handler);
  return arsenal;
}

describe("a call", () => {
  it("is refused as a result where looking at it throws, alone and in a batch", async () => {
    await using arsenal = await arsenalWith(() => 1);
    const good = { toolName: "look_around" };
    const refused = { status: "failure", attempts: 0, error: { code: "CALL_INVALID" } };
    for (const field of ["toolName", "arguments", "principal", "traceId", "parentSpanId", "auxdata"]) {
      const get = (): never => {
        throw new Error("do not look");
      };
      const hostile = Object.defineProperty({ ...good }, field, { enumerable: true, get });
      expect([field, await arsenal.execute(hostile)]).toMatchObject([field, refused]);
      const { results } = await arsenal.executeBatch({ calls: [hostile, good] });
      expect([field, results]).toMatchObject([field, [refused, { status: "success" }]]);
    }
  });

  it("is not started where the arsenal was closed while it waited for its turn; one that runs goes on", async () => {
    const running = Promise.withResolvers<void>();
    const end = Promise.withResolvers<string>();
    let started = 0;
    const arsenal = new ToolArsenal({ ...quiet, execution: { maxConcurrent: 1 } });
    await arsenal.addTool(noop, () => {
      started++;
      running.resolve();
      return end.promise;
    });
    const calls = [1, 2, 3].map(() => arsenal.execute({ toolName: "look_around" }));
    await running.promise;
    await arsenal.close();
    end.resolve("done");
    const closed = { status: "failure", attempts: 0, error: { code: "CLOSED", beforeSend: true } };
    expect(await Promise.all(calls)).toMatchObject([{ status: "success", result: "done" }, closed, closed]);
    expect(started).toBe(1);
  });

  it("is one of the 60 a minute that are configured, give or take one, however many callers there are [000-6.2-rate-parallel]", async () => {
    const clock = createManualClock();
    await using arsenal = new ToolArsenal({
      ...quiet,
      security: { maxRequestsPerMinute: 60 },
      execution: { maxConcurrent: 16 },
      clock,
    });
    let ran = 0;
    await arsenal.addTool(noop, () => void ran++);
    const caller = async (): Promise<void> => {
      for (let count = 0; count < 20; count++) await arsenal.execute({ toolName: "look_around" });
    };
    const waves: number[] = [];
    for (let minute = 0; minute < 5; minute++) {
      ran = 0;
      await Promise.all(Array.from({ length: 16 }, caller));
      waves.push(ran);
      await clock.advance(60_000);
    }
    for (const calls of waves) expect(Math.abs(calls - 60)).toBeLessThanOrEqual(1);
  });

  it("runs beside at most as many others as execution.max_concurrent allows [004-control-limit]", async () => {
    let running = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    await using arsenal = await arsenalWith(
      async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => waiting.push(resolve));
        running--;
      },
      {},
      { execution: { maxConcurrent: 5 } },
    );
    const calls = Array.from({ length: 12 }, () => arsenal.execute({ toolName: "look_around" }));
    while (waiting.length < 5) await new Promise((resolve) => void setImmediate(resolve));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => void setImmediate(resolve));
    expect(running).toBe(5);
    for (let done = 0; done < 12; done++) {
      while (waiting.length === 0) await new Promise((resolve) => void setImmediate(resolve));
      waiting.shift()?.();
    }
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => "success"));
    expect(most).toBe(5);
  });
});
