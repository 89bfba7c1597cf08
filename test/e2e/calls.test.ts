import { describe, expect, it } from "vitest";
import {
  type ArsenalEvent,
  ArsenalError,
  type Handler,
  localOperator,
  ToolArsenal,
  type ToolArsenalConfig,
  type ToolDraft,
} from "../../src/index.ts";
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
  it("returns what the handler returns, at once or later [001-invoker-sync] [000-14-execute]", async () => {
    await using now = await arsenalWith(() => 1);
    await using later = await arsenalWith(() => Promise.resolve(2));
    expect((await now.execute({ toolName: "look_around" })).result).toBe(1);
    expect((await later.execute({ toolName: "look_around" })).result).toBe(2);
  });

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

  it("tells its handler the tool, a signal, its ids and the attempt [001-context-tool] [001-context-signal]", async () => {
    const seen: unknown[] = [];
    const progress: unknown[] = [];
    await using arsenal = await arsenalWith(
      (_args, context) => {
        context.progress({ progress: context.attempt, total: 2 });
        seen.push([context.tool.id, context.signal.aborted, context.traceId, context.spanId.length, context.attempt]);
        if (context.attempt === 1) throw new Error("not yet");
      },
      { annotations: { readOnly: true } },
    );
    const call = { toolName: "look_around", traceId: "mine", onProgress: (update: object) => progress.push(update) };
    expect((await arsenal.execute(call)).status).toBe("success");
    expect(seen).toEqual([
      ["default.look_around", false, "mine", 16, 1],
      ["default.look_around", false, "mine", 16, 2],
    ]);
    expect(progress).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
  });

  it("keeps the code of an error that its handler chose [001-errors-network] [004-errors-protocol]", async () => {
    for (const code of ["TRANSPORT_FAILED", "PROTOCOL_ERROR"] as const) {
      await using arsenal = await arsenalWith(
        () => {
          throw new ArsenalError(code, "the server is no good");
        },
        { annotations: { readOnly: true } },
      );
      const { status, error } = await arsenal.execute({ toolName: "look_around", retryCount: 1 });
      expect([status, error?.code, error?.message]).toEqual(["failure", code, "the server is no good"]);
    }
  });

  it("names the nearest tool where its own is not found, and nothing hidden [000-6.3-not-found] [002-errors-not-found]", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, security: { deny: ["look_around_twice"] } });
    await arsenal.addTool(noop, () => 1);
    await arsenal.addTool({ ...noop, name: "look_around_twice" }, () => 1);
    const { status, error } = await arsenal.execute({ toolName: "look_arround" });
    expect([status, error?.code]).toEqual(["failure", "TOOL_NOT_FOUND"]);
    expect(error?.message).toContain("default.look_around");
    const hidden = await arsenal.execute({ toolName: "look_around_twic" });
    expect(hidden.error?.message).not.toContain("look_around_twice");
  });

  it("cannot waive a confirmation, only ask for one [000-4.3-require-confirmation] [000-6.3-confirmation]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.addTool({ ...noop, name: "delete_file" }, () => 1);
    await arsenal.addTool(noop, () => 1);
    await arsenal.addTool({ ...noop, name: "own_wish", requiresConfirmation: true }, () => 1);
    const status = async (toolName: string, requireConfirmation?: boolean): Promise<string> =>
      (await arsenal.execute({ toolName, ...(requireConfirmation === undefined ? {} : { requireConfirmation }) }))
        .status;
    expect(await status("look_around")).toBe("success");
    expect(await status("look_around", true)).toBe("pending_confirmation");
    expect(await status("delete_file", false)).toBe("pending_confirmation");
    expect(await status("own_wish", false)).toBe("pending_confirmation");
  });

  it("is limited and confirmed with no configuration at all [000-3.1-fail-safe]", async () => {
    await using arsenal = new ToolArsenal({}, { clock: createManualClock() });
    await arsenal.addTool(noop, () => 1);
    await arsenal.addTool({ ...noop, name: "drop_table" }, () => 1);
    expect((await arsenal.execute({ toolName: "drop_table" })).status).toBe("pending_confirmation");
    const codes = new Set<string | undefined>();
    for (let count = 0; count < 61; count++)
      codes.add((await arsenal.execute({ toolName: "look_around" })).error?.code);
    expect([...codes]).toEqual([undefined, "RATE_LIMITED"]);
  });

  it("is one of 60 a minute, give or take one, however many callers there are [000-6.2-rate-parallel]", async () => {
    const clock = createManualClock();
    await using arsenal = new ToolArsenal({ ...quiet, execution: { maxConcurrent: 16 } }, { clock });
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

  it("meets the same guard alone, in a batch of any strategy [000-3.2-same-guard] [000-14-execute-batch]", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, security: { deny: ["secret_*"] } });
    const names = ["look_around", "delete_file", "secret_plan", "spend_money"];
    for (const name of names) {
      await arsenal.addTool(
        { ...noop, name, ...(name === "spend_money" ? { capabilities: ["financial"] } : {}) },
        () => 1,
      );
    }
    const principal = { ...localOperator(), id: "guest", capabilities: [] };
    const calls = names.map((toolName) => ({ toolName, principal }));
    const alone = [];
    for (const call of calls) alone.push((await arsenal.execute(call)).status);
    expect(alone).toEqual(["success", "pending_confirmation", "failure", "permission_denied"]);
    for (const strategy of ["parallel", "sequential", "adaptive"] as const) {
      const batch = await arsenal.executeBatch({ calls, strategy });
      expect(batch.results.map(({ status }) => status)).toEqual(alone);
      expect([batch.successfulCount, batch.failedCount]).toEqual([1, 2]);
    }
  });

  it("is looked up, checked and authorised before anything runs [002-service-order] [000-3.1-zero-trust]", async () => {
    let ran = 0;
    await using arsenal = await arsenalWith(() => void ran++, {
      name: "delete_file",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      capabilities: ["delete_data"],
    });
    const guest = { ...localOperator(), id: "guest", capabilities: [] };
    const code = async (call: object): Promise<string | undefined> =>
      (await arsenal.execute({ toolName: "delete_file", ...call })).error?.code;
    expect(await code({ toolName: "delete_fil" })).toBe("TOOL_NOT_FOUND");
    expect(await code({ arguments: { path: 1 } })).toBe("ARGUMENTS_INVALID");
    expect(await code({ arguments: { path: "a" }, principal: guest })).toBe("PERMISSION_DENIED");
    expect(await code({ arguments: { path: "a" } })).toBe("CONFIRMATION_REQUIRED");
    expect(ran).toBe(0);
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

  it("changes the health of a tool, never its definition [000-4.1-health-apart] [000-6.3-health] [000-6.3-circuit-opens] [000-2.3-flaky]", async () => {
    await using arsenal = await arsenalWith(() => {
      throw new Error("broken");
    });
    const before = await arsenal.getTool("look_around");
    for (let count = 0; count < 5; count++) await arsenal.execute({ toolName: "look_around" });
    expect(arsenal.health("default.look_around")).toMatchObject({
      totalCalls: 5,
      consecutiveFailures: 5,
      successRate: 0,
      circuitOpen: true,
    });
    expect(await arsenal.getTool("look_around")).toEqual(before);
    expect(before).not.toHaveProperty("health");
  });

  it("tells its events to whoever listens, success and failure alike [002-service-events]", async () => {
    const heard: ArsenalEvent[] = [];
    let fails = false;
    await using arsenal = await arsenalWith(() => {
      if (fails) throw new Error("broken");
    });
    arsenal.subscribe((event) => heard.push(event));
    await arsenal.execute({ toolName: "look_around" });
    fails = true;
    await arsenal.execute({ toolName: "look_around" });
    await arsenal.close();
    const finished = heard.flatMap(({ name, data }) => (name === "call-finished" ? [data] : []));
    expect(finished).toMatchObject([{ status: "success" }, { status: "failure", code: "EXECUTION_FAILED" }]);
  });
});
