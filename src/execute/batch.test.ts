import { describe, expect, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import { sampleTools } from "../testing/sample-tools.ts";
import type { Tool } from "../tool/tool.ts";
import { runBatch } from "./batch.ts";
import type { BatchCall, ToolCall } from "./call.ts";
import type { BatchResult, ExecutionStatus, ToolResult } from "./result.ts";

const MS = 100;

/** Runs a batch in which each call takes 100 ms, and `fail…` fails. Says when each call started. */
async function run(
  batch: Omit<BatchCall, "calls"> & { readonly calls: readonly (string | Partial<ToolCall>)[] },
  meanwhile?: (clock: ReturnType<typeof createManualClock>) => Promise<void>,
): Promise<{ readonly result: BatchResult; readonly log: readonly string[] }> {
  const clock = createManualClock();
  const log: string[] = [];
  const [sample] = sampleTools();
  const finish = (toolName: string, status: ExecutionStatus, message = ""): ToolResult => ({
    toolName,
    status,
    ...(status !== "success" && { error: { code: "EXECUTION_FAILED", message } }),
    queuedAt: 0,
    completedAt: 0,
    latencyMs: 0,
    attempts: 0,
    traceId: "",
    spanId: "",
  });
  const runCall = ({ toolName, signal }: ToolCall): Promise<ToolResult> =>
    new Promise((resolve) => {
      const cancel = (): void => resolve(finish(toolName, "cancelled", String(signal?.reason?.message)));
      if (signal?.aborted) return cancel();
      log.push(`${toolName}@${clock.now()}`);
      signal?.addEventListener("abort", cancel);
      clock.after(toolName.startsWith("slow") ? 3 * MS : MS, () => {
        const status = toolName.startsWith("fail") ? "failure" : "success";
        resolve(finish(toolName, toolName.startsWith("ask") ? "pending_confirmation" : status));
      });
    });
  const running = runBatch(
    {
      ...batch,
      calls: batch.calls.map((call) => (typeof call === "string" ? { toolName: call } : call)) as ToolCall[],
    },
    {
      run: runCall,
      clock,
      async toolOf({ toolName }) {
        const annotations = { confirmed: !toolName.includes("hinted"), readOnly: toolName.includes("read") };
        return { ...sample, annotations } as Tool;
      },
    },
  );
  await meanwhile?.(clock);
  await clock.advance(10_000);
  return { result: await running, log };
}

function statuses({ results }: BatchResult): readonly string[] {
  return results.map(({ toolName, status }) => `${toolName} ${status}`);
}

describe("a batch", () => {
  it("runs all calls at once where it is parallel, with results in the order of the calls [000-4.3-parallel]", async () => {
    const { result, log } = await run({ calls: ["slow1", "fail2", "ask3", "write4"], strategy: "parallel" });
    expect(log).toEqual(["slow1@0", "fail2@0", "ask3@0", "write4@0"]);
    expect(statuses(result)).toEqual(["slow1 success", "fail2 failure", "ask3 pending_confirmation", "write4 success"]);
    expect(result).toMatchObject({ successfulCount: 2, failedCount: 1, totalTimeMs: 300 });
  });

  it("runs one call after the other where it is sequential, past failures [000-4.3-sequential] [000-4.3-batch-counts]", async () => {
    const { result, log } = await run({ calls: ["read1", "fail2", "read3"], strategy: "sequential" });
    expect(log).toEqual(["read1@0", "fail2@100", "read3@200"]);
    expect(result).toMatchObject({ successfulCount: 2, failedCount: 1, totalTimeMs: 300 });
  });

  it("runs neighbours that are confirmed read-only at once, and everything else in order [000-4.3-adaptive]", async () => {
    const calls = ["read1", "read2", "write3", "write4", "read5", "read_hinted6", "read7", "read8"];
    const { log } = await run({ calls });
    expect(log).toEqual([
      "read1@0",
      "read2@0",
      "write3@100",
      "write4@200",
      "read5@300",
      "read_hinted6@400",
      "read7@500",
      "read8@500",
    ]);
  });

  it("cancels what runs and calls nothing more once a call failed, where it fails fast [000-4.3-fail-fast]", async () => {
    const { result, log } = await run({ calls: ["read0", "slow1", "fail2"], strategy: "parallel", failFast: true });
    expect(log).toHaveLength(3);
    expect(statuses(result)).toEqual(["read0 success", "slow1 cancelled", "fail2 failure"]);
    const inOrder = await run({ calls: ["ask1", "fail2", "write3", "write4"], strategy: "sequential", failFast: true });
    expect(inOrder.log).toEqual(["ask1@0", "fail2@100"]);
    expect(statuses(inOrder.result).slice(2)).toEqual(["write3 cancelled", "write4 cancelled"]);
    expect(inOrder.result.results[3]?.error?.message).toBe(
      "The call was cancelled because call 2 of the batch failed.",
    );
    expect(inOrder.result).toMatchObject({ successfulCount: 0, failedCount: 3 });
  });

  it("ends with its signal, and a call with its own", async () => {
    const [whole, single] = [new AbortController(), new AbortController()];
    const calls = [{ toolName: "slow1", signal: single.signal }, "slow2", "write3"];
    const { result } = await run({ calls, strategy: "parallel", signal: whole.signal }, async (clock) => {
      await clock.advance(50);
      single.abort();
      await clock.advance(100);
      whole.abort();
    });
    expect(statuses(result)).toEqual(["slow1 cancelled", "slow2 cancelled", "write3 success"]);
    const never = await run({
      calls: ["write1", { toolName: "write2", signal: single.signal }],
      signal: AbortSignal.abort(),
    });
    expect(never.log).toEqual([]);
    expect(statuses(never.result)).toEqual(["write1 cancelled", "write2 cancelled"]);
  });

  it("is empty where it has no calls", async () => {
    expect((await run({ calls: [] })).result).toEqual({
      results: [],
      totalTimeMs: 0,
      successfulCount: 0,
      failedCount: 0,
    });
  });

  it("is thrown back where it is malformed", async () => {
    const bad: readonly (readonly [unknown, string])[] = [
      [null, "batch"],
      [{}, "calls"],
      [{ calls: [], strategy: "fast" }, "strategy"],
      [{ calls: [], failFast: 1 }, "failFast"],
      [{ calls: [], signal: {} }, "signal"],
    ];
    for (const [batch, field] of bad) {
      const parts = {
        run: () => Promise.reject(new Error("called")),
        toolOf: async () => undefined,
        clock: createManualClock(),
      };
      await expect(runBatch(batch as BatchCall, parts)).rejects.toMatchObject({
        code: "CALL_INVALID",
        details: { field },
      });
    }
  });
});
