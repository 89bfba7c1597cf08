import { describe, expect, it } from "vitest";
import { memoryState } from "../../adapters/state/memory.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Emit, EventMap } from "../../observe/events.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { ToolDraft } from "../../tool/draft.ts";
import type { Tool } from "../../tool/tool.ts";
import { createAegis, type Aegis, type AegisDecision, type AegisSettings } from "../aegis.ts";
import { MOST_PER_CALLER } from "./approvals.ts";
import type { Policy } from "../policy.port.ts";
import { localOperator, type Principal } from "../principal.ts";

const CONFIRM: Policy = {
  sees: () => true,
  decide: () => ({ effect: "confirm", rule: "always", reason: "Somebody must look." }),
};

const alice: Principal = localOperator({ id: "alice", roles: ["approver"], local: false });
const bob: Principal = localOperator({ id: "bob", roles: ["approver"], local: false });
const carol: Principal = localOperator({ id: "carol", roles: ["approver"], local: false });
const guest: Principal = localOperator({ id: "guest", roles: ["operator"], local: false });

const refund = refundTool();

function refundTool(draft: Partial<ToolDraft> = {}): Tool {
  return defineTool({
    name: "refund_user",
    namespace: "billing",
    description: "Refunds a user's payment.",
    parameters: { type: "object", properties: { amount: { type: "number" } } },
    createdAt: 0,
    ...draft,
  });
}

interface Call {
  readonly tool?: Tool;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly principal?: Principal;
  readonly confirmationId?: string;
}

interface Setup {
  readonly aegis: Aegis;
  readonly clock: ManualClock;
  readonly resolved: readonly EventMap["confirmation-resolved"][];
  readonly requested: readonly EventMap["confirmation-requested"][];
  call(call?: Call): Promise<AegisDecision>;
  /** Makes a call that needs a confirmation, and returns its id. */
  ask(call?: Call): Promise<string>;
}

function setUp(settings: Partial<AegisSettings> = {}): Setup {
  const clock = createManualClock(1_000_000);
  const resolved: EventMap["confirmation-resolved"][] = [];
  const requested: EventMap["confirmation-requested"][] = [];
  const emit: Emit = (name, data) => {
    if (name === "confirmation-resolved") resolved.push(data as EventMap["confirmation-resolved"]);
    if (name === "confirmation-requested") requested.push(data as EventMap["confirmation-requested"]);
  };
  const aegis = createAegis({
    policy: CONFIRM,
    state: memoryState({ clock }).documents,
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
    clock,
    resolved,
    requested,
    call,
    async ask(made = {}) {
      const decision = await call(made);
      if (decision.effect !== "confirm") throw new Error(`Not asked to confirm: ${JSON.stringify(decision)}`);
      return decision.confirmationId;
    },
  };
}

async function errorOf(run: () => Promise<unknown>): Promise<ArsenalError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof ArsenalError) return error;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}

describe("an approved call", () => {
  it("runs once, for exactly the arguments it was asked with [000-6.2-approve-once]", async () => {
    const { aegis, call, ask, resolved } = setUp();
    const confirmationId = await ask({ arguments: { amount: 5, to: { iban: "DE1", name: "A" } } });
    await aegis.approvals.approve(confirmationId, bob);
    const sameInAnotherOrder = { to: { name: "A", iban: "DE1" }, amount: 5 };
    expect(await call({ arguments: sameInAnotherOrder, confirmationId })).toEqual({ effect: "allow" });
    expect(await call({ arguments: sameInAnotherOrder, confirmationId })).toEqual({
      effect: "deny",
      code: "APPROVAL_INVALID",
      reason: "The confirmation was already used. Make the call without confirmationId to ask again.",
    });
    expect(resolved).toEqual([
      { id: confirmationId, toolId: "billing.refund_user", outcome: "approved", by: "bob" },
      { id: confirmationId, toolId: "billing.refund_user", outcome: "used", by: "alice" },
    ]);
  });

  it("runs once where two calls redeem it at the same time", async () => {
    const { aegis, call, ask } = setUp();
    const confirmationId = await ask();
    await aegis.approvals.approve(confirmationId, bob);
    const effects = (await Promise.all([1, 2, 3].map(() => call({ confirmationId })))).map(({ effect }) => effect);
    expect(effects.sort()).toEqual(["allow", "deny", "deny"]);
  });

  it("does not run with other arguments, and stays good for its own", async () => {
    const { aegis, call, ask } = setUp();
    const confirmationId = await ask();
    await aegis.approvals.approve(confirmationId, bob);
    expect(await call({ arguments: { amount: 5_000 }, confirmationId })).toEqual({
      effect: "deny",
      code: "APPROVAL_INVALID",
      reason:
        "The confirmation was given for other arguments. Call with exactly those, or without confirmationId to ask for these.",
    });
    expect(await call({ confirmationId })).toEqual({ effect: "allow" });
  });

  it.each([
    ["another caller", { principal: carol }, "belongs to another caller"],
    ["the same name in another tenant", { principal: { ...alice, tenant: "acme" } }, "belongs to another caller"],
    ["the same name at this machine", { principal: { ...alice, local: true } }, "belongs to another caller"],
    [
      "another tool",
      { tool: refundTool({ name: "refund_all" }) },
      "is for billing.refund_user, not for billing.refund_all",
    ],
    ["a changed definition", { tool: refundTool({ description: "Refunds everybody." }) }, "has changed since"],
    ["another version", { tool: refundTool({ version: "2.0.0" }) }, "has changed since"],
  ])("does not run for %s", async (_, other, why) => {
    const { aegis, call, ask } = setUp();
    const confirmationId = await ask();
    await aegis.approvals.approve(confirmationId, bob);
    const decision = await call({ confirmationId, ...other });
    expect(decision).toMatchObject({ effect: "deny", code: "APPROVAL_INVALID", reason: expect.stringContaining(why) });
    expect(decision).toMatchObject({ reason: expect.stringContaining("without confirmationId") });
  });

  it("keeps its approval when the caller changes its own object afterwards", async () => {
    const { aegis, call, ask } = setUp();
    const args = { amount: 5, list: [1] };
    const confirmationId = await ask({ arguments: args });
    args.amount = 5_000;
    args.list.push(2);
    expect((await aegis.approvals.list())[0]?.arguments).toEqual({ amount: 5, list: [1] });
    await aegis.approvals.approve(confirmationId, bob);
    expect(await call({ arguments: args, confirmationId })).toMatchObject({ effect: "deny" });
  });

  it("can be used as long again after it was approved, and then no more", async () => {
    const { aegis, clock, call, ask, resolved } = setUp({ confirmationTimeoutS: 10 });
    const first = await ask({ arguments: { amount: 1 } });
    const second = await ask({ arguments: { amount: 2 } });
    await clock.advance(9_000);
    await aegis.approvals.approve(first, bob);
    await aegis.approvals.approve(second, bob);
    await clock.advance(9_999);
    expect(await call({ arguments: { amount: 1 }, confirmationId: first })).toEqual({ effect: "allow" });
    await clock.advance(1);
    expect(await call({ arguments: { amount: 2 }, confirmationId: second })).toEqual({
      effect: "deny",
      code: "APPROVAL_INVALID",
      reason: "The confirmation has expired. Make the call without confirmationId to ask again.",
    });
    expect(resolved.at(-1)).toEqual({ id: second, toolId: "billing.refund_user", outcome: "expired" });
  });
});

describe("a call that waits", () => {
  it("is listed with all an approver needs", async () => {
    const { aegis, ask } = setUp();
    const id = await ask();
    expect(await aegis.approvals.list()).toEqual([
      {
        id,
        toolId: "billing.refund_user",
        arguments: { amount: 5 },
        requestedBy: "alice",
        reason: "Somebody must look. (rule always)",
        state: "pending",
        requestedAt: 1_000_000,
        expiresAt: 1_600_000,
      },
    ]);
    await aegis.approvals.approve(id, bob);
    expect(await aegis.approvals.list()).toMatchObject([{ id, state: "approved" }]);
  });

  it("still waits where it is redeemed before anybody answered", async () => {
    const { call, ask } = setUp();
    const confirmationId = await ask();
    expect(await call({ confirmationId })).toMatchObject({
      effect: "confirm",
      confirmationId,
      reason: expect.stringContaining("Nobody has approved this call yet"),
    });
  });

  it("is asked for once, however often the same call is made", async () => {
    const { aegis, ask, call, requested } = setUp();
    const ids = [await ask(), await ask(), await ask()];
    expect(new Set(ids).size).toBe(1);
    expect(await aegis.approvals.list()).toHaveLength(1);
    expect(requested).toHaveLength(1);
    expect(await call()).toMatchObject({ reason: "Somebody must look. (rule always)" });
  });

  it("waits apart from the same call by another, and from other arguments", async () => {
    const { ask } = setUp();
    const ids = [await ask(), await ask({ principal: carol }), await ask({ arguments: { amount: 6 } })];
    expect(new Set(ids).size).toBe(3);
  });

  it("has an id of 128 random bits", async () => {
    const { ask } = setUp();
    const ids = await Promise.all(Array.from({ length: 50 }, (_, amount) => ask({ arguments: { amount } })));
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });

  it("expires by the clock, leaving no timer behind, and can then be asked for anew [000-6.2-approval-expires]", async () => {
    const { aegis, clock, ask, resolved } = setUp({ confirmationTimeoutS: 10 });
    const id = await ask();
    expect(clock.pending).toBe(0);
    await clock.advance(9_999);
    expect(await aegis.approvals.list()).toHaveLength(1);
    await clock.advance(1);
    expect(await aegis.approvals.list()).toEqual([]);
    expect(resolved).toEqual([{ id, toolId: "billing.refund_user", outcome: "expired" }]);
    expect((await errorOf(() => aegis.approvals.approve(id, bob))).message).toBe("The confirmation has expired.");
    expect(await ask()).not.toBe(id);
  });

  it("expires although an older one that was approved may still be used", async () => {
    const { aegis, clock, ask } = setUp({ confirmationTimeoutS: 10 });
    const approved = await ask({ arguments: { amount: 1 } });
    await clock.advance(1_000);
    await ask({ arguments: { amount: 2 } });
    await clock.advance(8_000);
    await aegis.approvals.approve(approved, bob);
    await clock.advance(2_000);
    expect((await aegis.approvals.list()).map(({ id }) => id)).toEqual([approved]);
  });

  it("gives way to newer ones of its caller beyond two hundred, with an event", async () => {
    const { aegis, ask, resolved } = setUp();
    const oldest = await ask({ arguments: { amount: 0 } });
    for (let amount = 1; amount < MOST_PER_CALLER.count; amount++) await ask({ arguments: { amount } });
    expect(resolved).toEqual([]);
    await ask({ arguments: { amount: -1 } });
    expect(await aegis.approvals.count()).toBe(200);
    expect(resolved).toEqual([
      { id: oldest, toolId: "billing.refund_user", outcome: "expired", reason: "A newer call replaced it." },
    ]);
  });

  it("is refused if nobody could sensibly read its arguments", async () => {
    const { aegis, call, ask } = setUp();
    expect(await call({ arguments: { text: "x".repeat(65_536) } })).toEqual({
      effect: "deny",
      code: "PERMISSION_DENIED",
      reason:
        "billing.refund_user needs an approval, and its arguments cannot be shown to a person: they are at least 65540 bytes as JSON, and a person is asked to read at most 65536. Call it with fewer, plain JSON arguments.",
    });
    await ask({ arguments: { text: "x".repeat(65_536 - '{"text":""}'.length) } });
    expect(await aegis.approvals.count()).toBe(1);
  });
});

describe("approve", () => {
  it("needs the role approver", async () => {
    const { aegis, ask } = setUp();
    const id = await ask();
    const error = await errorOf(() => aegis.approvals.approve(id, guest));
    expect(error.code).toBe("APPROVAL_INVALID");
    expect(error.message).toBe('"guest" lacks the role "approver" and cannot answer a confirmation.');
    expect(await aegis.approvals.list()).toMatchObject([{ state: "pending" }]);
  });

  it("is not for the one who asked, approver or not [000-6.2-self-approval]", async () => {
    const { aegis, ask, resolved } = setUp({ selfApproval: "local" });
    const id = await ask();
    const error = await errorOf(() => aegis.approvals.approve(id, alice));
    expect(error.code).toBe("APPROVAL_INVALID");
    expect(error.message).toBe('"alice" requested billing.refund_user and cannot approve its own call.');
    expect(resolved).toEqual([]);
  });

  it("is for the local operator's own calls only where self-approval is set to local [000-6.2-self-approval]", async () => {
    const never = setUp({ selfApproval: "never" });
    const refused = await never.ask({ principal: localOperator() });
    expect((await errorOf(() => never.aegis.approvals.approve(refused, localOperator()))).code).toBe(
      "APPROVAL_INVALID",
    );

    const local = setUp({ selfApproval: "local" });
    const id = await local.ask({ principal: localOperator() });
    await local.aegis.approvals.approve(id, localOperator());
    expect(await local.call({ principal: localOperator(), confirmationId: id })).toEqual({ effect: "allow" });
  });

  it("does not spare the local operator the role", async () => {
    const { aegis, ask } = setUp({ selfApproval: "local" });
    const operator = localOperator({ roles: ["operator"] });
    const id = await ask({ principal: operator });
    expect((await errorOf(() => aegis.approvals.approve(id, operator))).message).toContain('lacks the role "approver"');
  });

  it("succeeds for exactly one of two approvers", async () => {
    const { aegis, ask, resolved } = setUp();
    const id = await ask();
    const attempts = await Promise.allSettled(
      [bob, carol].map(async (approver) => aegis.approvals.approve(id, approver)),
    );
    expect(attempts.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(resolved).toHaveLength(1);
    expect(await errorOf(() => aegis.approvals.approve(id, carol))).toMatchObject({
      code: "APPROVAL_INVALID",
      message: "The confirmation was already approved.",
    });
  });

  it("refuses an id nobody asked for", async () => {
    expect(await errorOf(() => setUp().aegis.approvals.approve("made-up", bob))).toMatchObject({
      code: "APPROVAL_INVALID",
      message: "The confirmation is unknown.",
      details: { field: "confirmationId", value: "made-up" },
    });
  });

  it("is not for an approver of another tenant, who does not learn that the call exists", async () => {
    const { aegis, ask } = setUp();
    const id = await ask({ principal: { ...alice, tenant: "acme" } });
    expect((await errorOf(() => aegis.approvals.approve(id, { ...bob, tenant: "other" }))).message).toBe(
      "The confirmation is unknown.",
    );
    expect((await errorOf(() => aegis.approvals.deny(id, { ...alice, tenant: "other" }))).message).toBe(
      "The confirmation is unknown.",
    );
    await aegis.approvals.approve(id, { ...bob, tenant: "acme" });
    expect(await aegis.approvals.list()).toMatchObject([{ state: "approved" }]);
  });
});

describe("deny", () => {
  it("ends the request, and the caller learns of it", async () => {
    const { aegis, call, ask, resolved } = setUp();
    const confirmationId = await ask();
    await aegis.approvals.deny(confirmationId, bob);
    expect(await aegis.approvals.list()).toEqual([]);
    expect(resolved).toEqual([{ id: confirmationId, toolId: "billing.refund_user", outcome: "denied", by: "bob" }]);
    expect(await call({ confirmationId })).toEqual({
      effect: "deny",
      code: "APPROVAL_INVALID",
      reason: "The confirmation was denied. Do not make this call again unless the user asks for it.",
    });
    expect((await errorOf(() => aegis.approvals.approve(confirmationId, carol))).message).toBe(
      "The confirmation was denied.",
    );
  });

  it("needs the role approver, except for the one who asked", async () => {
    const { aegis, ask } = setUp();
    const id = await ask({ principal: guest });
    const stranger = { ...guest, id: "stranger" };
    expect((await errorOf(() => aegis.approvals.deny(id, stranger))).message).toContain('lacks the role "approver"');
    await aegis.approvals.deny(id, guest);
    expect(await aegis.approvals.list()).toEqual([]);
  });

  it("comes too late for what is approved", async () => {
    const { aegis, ask } = setUp();
    const id = await ask();
    await aegis.approvals.approve(id, bob);
    expect((await errorOf(() => aegis.approvals.deny(id, carol))).message).toBe(
      "The confirmation was already approved.",
    );
  });
});
