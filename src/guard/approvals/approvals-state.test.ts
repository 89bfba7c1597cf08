import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { memoryState } from "../../adapters/state/memory.ts";
import { sqliteState } from "../../adapters/state/sqlite.ts";
import type { Emit, EventMap } from "../../observe/events.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { type Aegis, type AegisDecision, type AegisSettings, createAegis } from "../aegis.ts";
import type { Policy } from "../policy.port.ts";
import { localOperator, type Principal } from "../principal.ts";
import type { State } from "../../state/state.port.ts";

const CONFIRM: Policy = {
  sees: () => true,
  decide: () => ({ effect: "confirm", rule: "always", reason: "Somebody must look." }),
};

const alice = localOperator({ id: "alice", local: false });
const bob = localOperator({ id: "bob", local: false });
const carol = localOperator({ id: "carol", local: false });
const refund = defineTool({
  name: "refund_user",
  namespace: "billing",
  description: "Refunds a user's payment.",
  parameters: {},
  createdAt: 0,
});

interface Call {
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly principal?: Principal;
  readonly confirmationId?: string;
}

interface Setup {
  readonly aegis: Aegis;
  readonly resolved: readonly EventMap["confirmation-resolved"][];
  call(call?: Call): Promise<AegisDecision>;
  /** Makes a call that needs a confirmation, and returns its id. */
  ask(call?: Call): Promise<string>;
}

/** A guard over a state, as one process has it. */
function setUp(settings: Partial<AegisSettings>, clock: ManualClock, state: State): Setup {
  const resolved: EventMap["confirmation-resolved"][] = [];
  const emit: Emit = (name, data) => {
    if (name === "confirmation-resolved") resolved.push(data as EventMap["confirmation-resolved"]);
  };
  const aegis = createAegis({
    policy: CONFIRM,
    state,
    clock,
    emit,
    settings: { maxRequestsPerMinute: 60, confirmationTimeoutS: 600, selfApproval: "never", ...settings },
  });
  const call = async (made: Call = {}): Promise<AegisDecision> => {
    const request = { tool: refund, arguments: { amount: 5 }, principal: alice, requireConfirmation: false, ...made };
    const decision = await aegis.decide(request);
    return decision.effect === "allow" ? aegis.redeem(request) : decision;
  };
  return {
    aegis,
    resolved,
    call,
    async ask(made = {}) {
      const decision = await call(made);
      if (decision.effect !== "confirm") throw new Error(`Not asked to confirm: ${JSON.stringify(decision)}`);
      return decision.confirmationId;
    },
  };
}

describe("approvals in a state that outlives the process", () => {
  const folder = mkdtempSync(join(tmpdir(), "arsenal-approvals-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;
  const newFile = (): string => join(folder, `${++files}.sqlite`);

  it("are answered and used after a restart, once", async () => {
    const file = newFile();
    const clock = createManualClock(1_000_000);
    const restarted = async <Value>(step: (setup: Setup) => Promise<Value>): Promise<Value> => {
      const state = sqliteState({ file, clock });
      try {
        return await step(setUp({}, clock, state.documents));
      } finally {
        await state.close();
      }
    };
    const confirmationId = await restarted(({ ask }) => ask());
    expect(await restarted(({ ask }) => ask())).toBe(confirmationId);
    await restarted(({ aegis }) => aegis.approvals.approve(confirmationId, bob));
    expect(await restarted(({ call }) => call({ arguments: { amount: 6 }, confirmationId }))).toMatchObject({
      effect: "deny",
      reason: expect.stringContaining("other arguments"),
    });
    expect(await restarted(({ call }) => call({ confirmationId }))).toEqual({ effect: "allow" });
    expect(await restarted(({ call }) => call({ confirmationId }))).toMatchObject({
      effect: "deny",
      reason: expect.stringContaining("was already used"),
    });
  });

  it("are seen by a process that waits when another one gives them", async () => {
    const file = newFile();
    const state = sqliteState({ file });
    const waiting = setUp({}, createManualClock(Date.now()), state.documents);
    const confirmationId = await waiting.ask();
    const modules = [
      "../../adapters/state/sqlite.ts",
      "./approvals.ts",
      "../principal.ts",
      "../../observe/clock.ts",
    ].map((path) => new URL(path, import.meta.url).href);
    const program = `
      const [{ sqliteState }, { createApprovals }, { localOperator }, { systemClock }] =
        await Promise.all(${JSON.stringify(modules)}.map((url) => import(url)));
      const state = sqliteState({ file: ${JSON.stringify(file)} }).documents;
      const settings = { confirmationTimeoutS: 600, selfApproval: "never" };
      const approvals = createApprovals({ state, clock: systemClock, emit() {}, settings });
      const [{ id }] = await approvals.list();
      await approvals.approve(id, localOperator({ id: "bob" }));
      process.stdout.write(id);`;
    expect(await waiting.call({ confirmationId })).toMatchObject({ effect: "confirm" });
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
    expect(stdout).toBe(confirmationId);
    expect(await waiting.call({ confirmationId })).toEqual({ effect: "allow" });
    await state.close();
  });

  it("are given by one of two approvers and used by one of many calls, in two processes' worth of guards", async () => {
    const file = newFile();
    const clock = createManualClock(1_000_000);
    const states = [sqliteState({ file, clock }), sqliteState({ file, clock })];
    const guards = states.map((state) => setUp({}, clock, state.documents));
    const ids = await Promise.all(guards.flatMap(({ ask }) => [ask(), ask()]));
    expect(new Set(ids).size).toBe(1);
    const [confirmationId = ""] = ids;
    expect(await guards[0]?.aegis.approvals.list()).toHaveLength(1);
    const answers = await Promise.allSettled([
      ...guards.map(({ aegis }, index) => aegis.approvals.approve(confirmationId, index === 0 ? bob : carol)),
      guards[0]?.aegis.approvals.deny(confirmationId, carol),
    ]);
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const decisions = await Promise.all(guards.flatMap(({ call }) => [1, 2, 3].map(() => call({ confirmationId }))));
    expect(decisions.filter(({ effect }) => effect === "allow")).toHaveLength(1);
    expect(guards.flatMap(({ resolved }) => resolved.map(({ outcome }) => outcome)).sort()).toEqual([
      "approved",
      "used",
    ]);
    for (const state of states) await state.close();
  });

  it("refuse what needs one where the state fails, and say why", async () => {
    const clock = createManualClock();
    const state = memoryState({ clock });
    const { call } = setUp({}, clock, state.documents);
    await state.close();
    expect(await call()).toMatchObject({
      effect: "deny",
      code: "PERMISSION_DENIED",
      reason:
        "billing.refund_user needs an approval, and approvals cannot be kept: This state was closed. Create a new one.",
    });
    expect(await call({ confirmationId: "x" })).toMatchObject({ effect: "deny", code: "PERMISSION_DENIED" });
  });

  it("leave no arguments behind once they are settled, and nothing at all in the end", async () => {
    const clock = createManualClock();
    const state = memoryState({ clock }).documents;
    const { aegis, ask } = setUp({ confirmationTimeoutS: 10 }, clock, state);
    await aegis.approvals.deny(await ask({ arguments: { note: "secret" } }), bob);
    expect(JSON.stringify(await state.list(""))).not.toContain("secret");
    await clock.advance(20_000);
    expect((await state.list("")).map(({ key }) => key)).toEqual(["approvals-decided"]);
    await clock.advance(86_400_000);
    expect(await state.list("")).toEqual([]);
  });

  it.each(["as it is", "the other way"])("are listed oldest first where the state lists %s", async (order) => {
    const clock = createManualClock();
    const state = memoryState({ clock }).documents;
    const list: State["list"] = async (prefix) =>
      order === "as it is" ? state.list(prefix) : [...(await state.list(prefix))].toReversed();
    const { aegis, ask } = setUp({}, clock, { ...state, list });
    const ids = [await ask({ arguments: { amount: 1 } }), await ask({ arguments: { amount: 2 } })];
    await clock.advance(1);
    ids.push(await ask({ arguments: { amount: 3 } }));
    await clock.advance(1);
    ids.push(await ask({ arguments: { amount: 4 } }));
    await aegis.approvals.approve(ids[2] ?? "", bob);
    expect((await aegis.approvals.list()).map(({ id }) => id)).toEqual(ids);
  });

  it("that are long gone cannot be given back, which is no error", async () => {
    const clock = createManualClock();
    const state = memoryState({ clock }).documents;
    const { aegis, ask, resolved } = setUp({ confirmationTimeoutS: 10 }, clock, state);
    const confirmationId = await ask();
    await aegis.approvals.approve(confirmationId, bob);
    const principal = alice;
    const request = { tool: refund, arguments: { amount: 5 }, principal, requireConfirmation: false, confirmationId };
    await aegis.redeem(request);
    await clock.advance(20_000);
    await aegis.giveBack(request);
    expect(resolved.map(({ outcome }) => outcome)).toEqual(["approved", "used"]);
    expect((await state.list("")).map(({ key }) => key)).toEqual(["approvals-decided"]);
  });

  it("are good again where the call that used one did not run, once", async () => {
    const clock = createManualClock();
    const { aegis, ask, resolved } = setUp({}, clock, memoryState({ clock }).documents);
    const confirmationId = await ask();
    await aegis.approvals.approve(confirmationId, bob);
    const request = {
      tool: refund,
      arguments: { amount: 5 },
      principal: alice,
      requireConfirmation: false,
      confirmationId,
    };
    expect(await aegis.redeem(request)).toEqual({ effect: "allow" });
    await aegis.giveBack(request);
    await aegis.giveBack(request);
    const { confirmationId: _, ...unnamed } = request;
    expect(await aegis.decide(unnamed)).toMatchObject({ effect: "allow", confirmationId });
    expect(await aegis.redeem({ ...request })).toEqual({ effect: "allow" });
    await aegis.giveBack(request);
    expect(await aegis.redeem({ ...request })).toMatchObject({ effect: "deny" });
    expect(resolved.map(({ outcome }) => outcome)).toEqual(["approved", "used", "returned", "used"]);
  });
});

describe("a call that was approved, or waits", () => {
  const inMemory = (settings: Partial<AegisSettings> = {}): Setup => {
    const clock = createManualClock();
    return setUp(settings, clock, memoryState({ clock }).documents);
  };

  it("is allowed once it is approved, without naming the approval that it then redeems", async () => {
    const { aegis, ask } = inMemory();
    const confirmationId = await ask();
    await aegis.approvals.approve(confirmationId, bob);
    const request = { tool: refund, arguments: { amount: 5 }, principal: alice, requireConfirmation: false };
    const decision = { effect: "allow", rule: "always", confirmationId };
    expect(await aegis.decide(request)).toEqual(decision);
    expect(await aegis.decide(request)).toEqual(decision);
    expect(await aegis.redeem({ ...request, confirmationId })).toEqual({ effect: "allow" });
    expect(await aegis.decide(request)).toMatchObject({
      effect: "confirm",
      reason: "Somebody must look. (rule always)",
    });
  });

  it("names the command that approves it to the person at this machine, and to nobody else", async () => {
    const { call } = inMemory({ approveCommand: "npx toolarsenal approvals approve" });
    const principal = localOperator();
    const waiting = await call({ principal });
    const confirmationId = waiting.effect === "confirm" ? waiting.confirmationId : "";
    const command = `npx toolarsenal approvals approve ${confirmationId}`;
    expect([waiting, await call({ principal, confirmationId })]).toMatchObject([
      { command },
      { effect: "confirm", command },
    ]);
    expect(await call({ principal: alice })).not.toHaveProperty("command");
  });
});
