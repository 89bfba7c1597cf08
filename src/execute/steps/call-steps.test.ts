import { describe, expect, it } from "vitest";
import { ToolArsenal } from "../../arsenal.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { ArsenalEvent, EventName } from "../../observe/events.ts";
import type { HandlerContext } from "../../tool/handler.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = /^[0-9a-f]{16}$/;

/** An arsenal on a clock that tests move, and what it told. */
function watched(): {
  arsenal: ToolArsenal;
  /** Lets time pass within a handler. */
  work(ms: number): void;
  told<Name extends EventName>(name: Name): Promise<ArsenalEvent<Name>["data"][]>;
} {
  let ahead = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const events: ArsenalEvent[] = [];
  const sink = { name: "list", write: (batch: readonly ArsenalEvent[]) => void events.push(...batch) };
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, clock, sinks: [sink] });
  return {
    arsenal,
    work: (ms) => void (ahead += ms),
    async told(name) {
      await arsenal.close();
      return events.filter((event) => event.name === name).map(({ data }) => data) as never;
    },
  };
}

describe("the steps of a call", () => {
  it("are told when it has ended: policy, queue and each attempt, with a span id for what an attempt asks of others", async () => {
    const { arsenal, work, told } = watched();
    const contexts: HandlerContext[] = [];
    arsenal.register({ name: "flaky", description: "Fails once.", annotations: { readOnly: true } }, (_, context) => {
      contexts.push(context);
      work(40);
      if (contexts.length === 1) throw new ArsenalError("TRANSPORT_FAILED", "gone", { beforeSend: true });
      return "ok";
    });
    const result = await arsenal.execute({
      toolName: "flaky",
      retryCount: 2,
      traceId: TRACE,
      parentSpanId: "b7ad6b7169203331",
      callId: "call_1",
    });
    expect(result).toMatchObject({ status: "success", attempts: 2 });

    const [finished] = await told("call-finished");
    expect(finished).toMatchObject({
      traceId: TRACE,
      spanId: result.spanId,
      parentSpanId: "b7ad6b7169203331",
      callId: "call_1",
      source: "function",
    });
    const { startedAt = 0, durationMs = 0, steps: { policy, queue, attempts = [] } = {} } = finished ?? {};
    const [first, second] = attempts;
    const inOrder = [startedAt, policy?.startedAt, queue?.startedAt, first?.startedAt, second?.startedAt].map(Number);
    expect(inOrder).toEqual(inOrder.toSorted((one, other) => one - other));
    expect(first).toMatchObject({ code: "TRANSPORT_FAILED" });
    expect(second).not.toHaveProperty("code");
    expect(attempts.every((attempt) => attempt.durationMs >= 40)).toBe(true);
    expect(durationMs).toBeGreaterThanOrEqual(80);
    const spans = attempts.map(({ spanId }) => spanId);
    expect(new Set([...spans, result.spanId]).size).toBe(3);
    expect(spans.every((spanId) => SPAN.test(spanId))).toBe(true);
    expect(contexts.map(({ traceparent }) => traceparent)).toEqual(spans.map((spanId) => `00-${TRACE}-${spanId}-01`));
  });

  it("tell handlers that a trace is not recorded, and nothing of a trace that W3C does not know", async () => {
    const { arsenal, told } = watched();
    const seen: (string | undefined)[] = [];
    arsenal.register({ name: "look", description: "Looks." }, (_, { traceparent }) => void seen.push(traceparent));
    await arsenal.execute({ toolName: "look", traceId: TRACE, sampled: false });
    await arsenal.execute({ toolName: "look", traceId: "order-42" });
    expect(seen).toEqual([expect.stringMatching(/-00$/), undefined]);
    expect((await told("call-finished")).map(({ sampled }) => sampled)).toEqual([false, undefined]);
  });
});

describe("the steps of a retrieval", () => {
  it("are told with its place in the trace, and add up to its duration", async () => {
    const { arsenal, told } = watched();
    arsenal.register({ name: "send_email", description: "Sends an email." }, () => "ok");
    await arsenal.retrieve({ context: { query: "send an email" }, traceId: TRACE, parentSpanId: "b7ad6b7169203331" });
    const [finished] = await told("retrieval-finished");
    expect(finished).toMatchObject({ traceId: TRACE, parentSpanId: "b7ad6b7169203331", tier: "lexical" });
    expect(finished?.spanId).toMatch(SPAN);
    const { understandMs, searchMs, fuseMs, fitMs, ...parts } = finished?.steps ?? ({} as never);
    expect(understandMs + searchMs + fuseMs + fitMs).toBeCloseTo(finished?.durationMs ?? -1, 6);
    expect(Object.keys(parts)).toEqual(["filterMs", "lexicalMs", "denseMs"]);
  });

  it("end with a code if it was refused", async () => {
    const { arsenal, told } = watched();
    await expect(arsenal.retrieve({ context: { query: "" }, traceId: TRACE })).rejects.toThrow("query");
    expect(await told("retrieval-failed")).toMatchObject([{ traceId: TRACE, code: "QUERY_INVALID" }]);
  });
});
