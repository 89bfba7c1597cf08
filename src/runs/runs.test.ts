import { afterEach, describe, expect, it } from "vitest";
import { memoryState } from "../adapters/state/memory.ts";
import { ToolArsenal } from "../arsenal.ts";
import { createPrincipal, localOperator } from "../guard/principal.ts";
import { systemClock } from "../observe/clock.ts";
import type { SharedState } from "../state/shared-state.ts";
import type { Runner } from "./run.ts";
import { createRuns, type Runs } from "./runs.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

const BOT = createPrincipal({ id: "bot", capabilities: ["read_data", "write_data"], scopes: ["*"] });
const TRACE = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const ASKED = { kind: "program", work: { n: 1 }, title: "add", principal: BOT, ...TRACE } as const;

/** Counts what ran, over every process. */
interface Upstream {
  readonly ran: string[];
  /** Keeps calls of `slow` from ending. */
  readonly hold?: Promise<void>;
}

/** One process on a state. With `isLazy`, it has its runner when a run needs it. */
function processOn(
  state: SharedState,
  upstream: Upstream,
  runner: Runner,
  { isLazy = false }: { readonly isLazy?: boolean } = {},
): { runs: Runs; arsenal: ToolArsenal } {
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, state });
  const tool = (name: string): { name: string; description: string; parameters: { type: "object" } } => ({
    name,
    description: `Does ${name}.`,
    parameters: { type: "object" },
  });
  arsenal.register({ ...tool("read"), annotations: { readOnly: true } }, () => upstream.ran.push("read"));
  arsenal.register(tool("pay"), () => upstream.ran.push("pay"));
  arsenal.register(tool("slow"), async (_, { signal }) => {
    upstream.ran.push("slow");
    await Promise.race([upstream.hold, new Promise((end) => signal.addEventListener("abort", end))]);
    return "late";
  });
  const runs: Runs = createRuns({
    state,
    clock: systemClock,
    execute: (call) => arsenal.execute(call),
    approvals: arsenal.approvals,
    subscribe: (listener, options) => arsenal.subscribe(listener, options),
    mostDepth: 5,
    loadRunner: async (kind) => runs.use(kind, runner),
  });
  if (!isLazy) runs.use("program", runner);
  opened.push(arsenal, runs);
  return { runs, arsenal };
}

const shared = (): SharedState => ({ ...memoryState(), name: "shared" });

/** Reads, pays after a person's approval, and reads again. */
const readPayRead: Runner = async (_work, { call }) => {
  const first = await call("a", { toolName: "read", arguments: {} });
  const paid = await call("b", { toolName: "pay", arguments: {}, requireConfirmation: true });
  if (paid.status === "pending_confirmation") return { status: "waiting" };
  const last = await call("c", { toolName: "read", arguments: {} });
  return { status: "done", result: [first.result, paid.result ?? paid.error?.code, last.result] };
};

describe("runs", () => {
  it("record their calls and their result", async () => {
    const upstream = { ran: [] };
    const { runs } = processOn(shared(), upstream, async (work, { call }) => {
      const { result } = await call("a", { toolName: "read", arguments: {} });
      return { status: "done", result: { result, work } };
    });
    const run = await runs.start(ASKED);
    expect(run).toMatchObject({ status: "done", result: { result: 1, work: { n: 1 } }, owner: { id: "bot" } });
    expect(await runs.get(run.id)).toMatchObject({
      status: "done",
      calls: [{ tool: "default.read", status: "success" }],
    });
    expect(await runs.list({ limit: 5 })).toMatchObject([{ id: run.id, title: "add" }]);
  });

  it("are removed once their caller has ended a thousand later ones, or some that are large", async () => {
    const { runs } = processOn(shared(), { ran: [] }, async () => ({ status: "done", result: "" }));
    const other = await runs.start({ ...ASKED, principal: createPrincipal({ id: "other" }) });
    const [first, second] = [await runs.start(ASKED), await runs.start(ASKED)];
    for (let n = 0; n < 999; n++) await runs.start(ASKED);
    expect(await runs.get(first.id)).toBeUndefined();
    expect(await runs.get(second.id)).toMatchObject({ status: "done" });
    const large = await runs.start({ ...ASKED, work: "x".repeat(17 * 1024 * 1024) });
    expect(await runs.get(second.id)).toBeUndefined();
    expect((await runs.list({ limit: 10 })).map(({ id }) => id).toSorted()).toEqual([large.id, other.id].toSorted());
  });

  it("wait for an approval, and go on in another process without repeating a call", async () => {
    const upstream = { ran: [] };
    const state = shared();
    const first = processOn(state, upstream, readPayRead);
    const waiting = await first.runs.start(ASKED);
    expect(waiting).toMatchObject({ status: "waiting", waits: [{ tool: "default.pay" }] });
    const id = waiting.waits[0]?.confirmationId ?? "";
    await first.runs.close();

    const second = processOn(state, upstream, readPayRead);
    second.runs.watch();
    expect(await second.runs.start(ASKED)).toMatchObject({ id: waiting.id, status: "waiting" });
    await second.arsenal.approvals.approve(id, localOperator());
    await expect.poll(async () => (await second.runs.get(waiting.id))?.status).toBe("done");
    expect(upstream.ran).toEqual(["read", "pay", "read"]);
    // The caller repeats its request and gets the outcome, once.
    expect(await second.runs.start(ASKED)).toMatchObject({ id: waiting.id, result: [1, 2, 3] });
    expect(await second.runs.start(ASKED)).not.toMatchObject({ id: waiting.id });
  });

  it("go on in a process that loads what does their work only then", async () => {
    const upstream = { ran: [] };
    const state = shared();
    const first = processOn(state, upstream, readPayRead);
    const { id, waits } = await first.runs.start(ASKED);
    await first.runs.close();
    const second = processOn(state, upstream, readPayRead, { isLazy: true });
    second.runs.watch();
    await second.arsenal.approvals.approve(waits[0]?.confirmationId ?? "", localOperator());
    await expect.poll(async () => (await second.runs.get(id))?.status, { timeout: 10_000 }).toBe("done");
    expect(upstream.ran).toEqual(["read", "pay", "read"]);
  });

  it("get a person's refusal as the call's outcome", async () => {
    const upstream = { ran: [] };
    const { runs, arsenal } = processOn(shared(), upstream, readPayRead);
    const { id, waits } = await runs.start(ASKED);
    await arsenal.approvals.deny(waits[0]?.confirmationId ?? "", localOperator());
    await expect.poll(async () => (await runs.get(id))?.result).toEqual([1, "APPROVAL_INVALID", 2]);
  });

  it("are taken over from a process that ended, and a call without a recorded outcome does not run again", async () => {
    const upstream = { ran: [], hold: new Promise<void>(() => {}) };
    const state = shared();
    const runner: Runner = async (_work, { call }) => {
      await call("a", { toolName: "read", arguments: {} });
      const { status } = await call("b", { toolName: "slow", arguments: {} });
      return { status: "done", result: status };
    };
    const first = processOn(state, upstream, runner);
    const started = first.runs.start(ASKED).catch((error: Error) => error.message);
    await expect.poll(() => upstream.ran).toEqual(["read", "slow"]);
    await first.runs.close();
    expect(await started).toContain("closed");
    const [run] = await first.runs.list({ limit: 1 });
    expect(run?.status).toBe("running");

    const second = processOn(state, upstream, runner);
    const ended = await second.runs.resume(run?.id ?? "");
    expect(ended).toMatchObject({ status: "done" });
    expect(upstream.ran).toEqual(["read", "slow"]);
  });

  it("end with their calls when they are cancelled, from any process", async () => {
    const upstream = { ran: [], hold: new Promise<void>(() => {}) };
    const state = shared();
    const runner: Runner = async (_work, { call }) => ({
      status: "done",
      result: (await call("a", { toolName: "slow", arguments: {} })).status,
    });
    const first = processOn(state, upstream, runner);
    const other = processOn(state, upstream, runner);
    const started = first.runs.start(ASKED);
    await expect.poll(() => upstream.ran).toEqual(["slow"]);
    const [run] = await other.runs.list({ limit: 1 });
    expect(await other.runs.cancel(run?.id ?? "")).toBe(true);
    expect(await started).toMatchObject({ status: "cancelled", error: { code: "CANCELLED" } });
    expect(await other.runs.cancel(run?.id ?? "")).toBe(false);
  });

  it("withdraw their approval when they are cancelled while they wait", async () => {
    const { runs, arsenal } = processOn(shared(), { ran: [] }, readPayRead);
    const { id } = await runs.start(ASKED);
    expect(await arsenal.approvals.count()).toBe(1);
    expect(await runs.cancel(id)).toBe(true);
    expect(await arsenal.approvals.count()).toBe(0);
    expect(await runs.get(id)).toMatchObject({ status: "cancelled" });
  });

  it("request an approval of their own if an identical call used the one that they waited for", async () => {
    const upstream = { ran: [] };
    const { runs, arsenal } = processOn(shared(), upstream, readPayRead);
    const one = await runs.start(ASKED);
    const other = await runs.start({ ...ASKED, work: { n: 2 } });
    expect(other.waits[0]?.confirmationId).toBe(one.waits[0]?.confirmationId);
    await arsenal.approvals.approve(one.waits[0]?.confirmationId ?? "", localOperator());
    const statuses = async () => [(await runs.get(one.id))?.status, (await runs.get(other.id))?.status].toSorted();
    await expect.poll(statuses).toEqual(["done", "waiting"]);
    expect(upstream.ran.filter((name) => name === "pay")).toHaveLength(1);
  });
});
