import { describe, expect, it } from "vitest";
import { memoryState } from "../adapters/state/memory.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Emit } from "../observe/events.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Tool } from "../tool/tool.ts";
import { createAegis, type Aegis, type AegisRequest, type AegisSettings } from "./aegis.ts";
import type { Policy, PolicyDecision } from "./policy.port.ts";
import { localOperator, type Principal } from "./principal.ts";

const ALLOW: Policy = { sees: () => true, decide: () => ({ effect: "allow" }) };

const CONFIRM: Policy = {
  sees: () => true,
  decide: ({ tool }) => ({ effect: "confirm", rule: "always", reason: `A person must approve ${tool.id}.` }),
};

const alice: Principal = localOperator({ id: "alice", roles: [], local: false });

function toolWith(draft: Partial<ToolDraft> = {}): Tool {
  return defineTool({
    name: "delete_user",
    description: "Deletes a user for good.",
    parameters: { type: "object", properties: { id: { type: "string" } } },
    createdAt: 0,
    ...draft,
  });
}

interface Setup {
  readonly aegis: Aegis;
  readonly clock: ManualClock;
  readonly events: readonly { readonly name: string; readonly data: unknown }[];
}

function setUp(policy: Policy, settings: Partial<AegisSettings> = {}): Setup {
  const clock = createManualClock(1_000_000);
  const events: { name: string; data: unknown }[] = [];
  const emit: Emit = (name, data) => void events.push({ name, data });
  const aegis = createAegis({
    state: memoryState({ clock }).documents,
    policy,
    clock,
    emit,
    settings: { maxRequestsPerMinute: 60, confirmationTimeoutS: 600, selfApproval: "never", ...settings },
  });
  return { aegis, clock, events };
}

function request(overrides: Partial<AegisRequest> = {}): AegisRequest {
  return { tool: toolWith(), arguments: { id: "7" }, principal: alice, requireConfirmation: false, ...overrides };
}

describe("sees", () => {
  it("is what the policy says", () => {
    const { aegis } = setUp({ ...ALLOW, sees: (tool) => tool.name === "delete_user" });
    expect(aegis.sees(toolWith(), alice)).toBe(true);
    expect(aegis.sees(toolWith({ name: "other_tool" }), alice)).toBe(false);
  });

  it("hides everything where the policy throws", () => {
    const sees = (): never => {
      throw new Error("broken");
    };
    expect(setUp({ ...ALLOW, sees }).aegis.sees(toolWith(), alice)).toBe(false);
  });
});

describe("decide", () => {
  it("allows what the policy allows", async () => {
    expect(await setUp(ALLOW).aegis.decide(request())).toStrictEqual({ effect: "allow" });
  });

  it("refuses a tool the caller cannot see, also where the policy would let it run", async () => {
    expect(await setUp({ ...ALLOW, sees: () => false }).aegis.decide(request())).toStrictEqual({
      effect: "deny",
      code: "PERMISSION_DENIED",
      reason: '"alice" may not use this tool.',
    });
  });

  it("names every capability and scope that is missing, and does not ask the policy [000-6.2-capabilities] [003-canonical-scopes] [000-3.1-zero-trust]", async () => {
    let asked = 0;
    const { aegis } = setUp({ ...ALLOW, decide: () => (asked++, { effect: "allow" }) });
    const tool = toolWith({
      capabilities: ["read_data", "financial", "pii_access"],
      requiredScopes: ["users:read", "users:delete"],
    });
    const principal: Principal = { ...alice, capabilities: ["read_data"], scopes: ["users:read"] };
    expect(await aegis.decide(request({ tool, principal }))).toEqual({
      effect: "deny",
      code: "PERMISSION_DENIED",
      reason:
        '"alice" lacks the capabilities financial, pii_access and the scope users:delete that default.delete_user needs. Grant it, or use another tool.',
    });
    expect(asked).toBe(0);
  });

  it("refuses what the policy refuses, with its reason and rule", async () => {
    const policy: Policy = {
      ...ALLOW,
      decide: () => ({ effect: "deny", rule: "office-hours", reason: "It is late." }),
    };
    expect(await setUp(policy).aegis.decide(request())).toEqual({
      effect: "deny",
      code: "PERMISSION_DENIED",
      reason: "It is late. (rule office-hours)",
      rule: "office-hours",
    });
  });

  it.each([
    ["throws", () => Promise.reject(new Error("no database")), "no database"],
    ["answers nothing", () => undefined as never, "it answered undefined"],
    ["answers something else", () => ({ effect: "maybe" }) as never, "it answered "],
  ])("refuses where the policy %s, and says that the policy failed [000-6.2-policy-fails]", async (_, decide, why) => {
    const decision = await setUp({ ...ALLOW, decide }).aegis.decide(request());
    expect(decision).toMatchObject({ effect: "deny", code: "PERMISSION_DENIED" });
    expect(JSON.stringify(decision)).toContain("The policy failed to decide on default.delete_user");
    expect(JSON.stringify(decision)).toContain(`so the call is refused: ${why}`);
    expect(JSON.stringify(decision)).toContain("(rule policy-failed)");
  });

  it("asks for a confirmation where the policy wants one, with its reason and rule", async () => {
    const { aegis, events } = setUp(CONFIRM);
    const decision = await aegis.decide(request());
    expect(decision).toMatchObject({
      effect: "confirm",
      reason: "A person must approve default.delete_user. (rule always)",
    });
    expect(events).toEqual([
      {
        name: "confirmation-requested",
        data: {
          id: decision.effect === "confirm" && decision.confirmationId,
          toolId: "default.delete_user",
          principal: "alice",
          reason: "A person must approve default.delete_user. (rule always)",
        },
      },
    ]);
  });

  it("asks for a confirmation where the caller wants one [000-4.3-require-confirmation]", async () => {
    const { aegis } = setUp(ALLOW);
    expect(await aegis.decide(request({ requireConfirmation: true }))).toStrictEqual({
      effect: "confirm",
      confirmationId: expect.any(String) as string,
      reason: "The caller requires a person to approve default.delete_user.",
    });
  });

  it("refuses a call with an approval that the policy now refuses, and leaves the approval unused", async () => {
    let late = false;
    const { aegis } = setUp({
      ...CONFIRM,
      decide: (call) => (late ? { effect: "deny", rule: "r", reason: "Late." } : CONFIRM.decide(call)),
    });
    const asked = await aegis.decide(request());
    if (asked.effect !== "confirm") throw new Error("No confirmation was asked for.");
    await aegis.approvals.approve(asked.confirmationId, localOperator());
    late = true;
    const redeeming = request({ confirmationId: asked.confirmationId });
    expect(await aegis.decide(redeeming)).toMatchObject({ effect: "deny", code: "PERMISSION_DENIED" });
    late = false;
    expect(await aegis.decide(redeeming)).toEqual({ effect: "allow", rule: "always" });
  });

  it("refuses an approval nobody knows even where no confirmation is needed", async () => {
    expect(await setUp(ALLOW).aegis.decide(request({ confirmationId: "made-up" }))).toEqual({
      effect: "deny",
      code: "APPROVAL_INVALID",
      reason: "The confirmation is unknown. Make the call without confirmationId to ask again.",
    });
  });

  it("refuses to have arguments approved that a person cannot be shown", async () => {
    const { aegis } = setUp(CONFIRM);
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    for (const args of [{ callback: () => 1 }, { amount: 10n }, { amount: Number.NaN }, cyclic]) {
      expect(await aegis.decide(request({ arguments: args }))).toMatchObject({
        effect: "deny",
        code: "PERMISSION_DENIED",
        reason: expect.stringContaining("plain JSON arguments"),
      });
    }
    expect(await aegis.approvals.list()).toEqual([]);
  });
});

describe("redeem", () => {
  it("uses up an approval that decide left good, and allows a call that names none", async () => {
    const { aegis, events } = setUp(CONFIRM);
    const asked = await aegis.decide(request());
    if (asked.effect !== "confirm") throw new Error("No confirmation was asked for.");
    await aegis.approvals.approve(asked.confirmationId, localOperator());
    const redeeming = request({ confirmationId: asked.confirmationId });
    expect([await aegis.decide(redeeming), await aegis.decide(redeeming)]).toEqual([
      { effect: "allow", rule: "always" },
      { effect: "allow", rule: "always" },
    ]);
    expect([(await aegis.redeem(redeeming)).effect, (await aegis.redeem(redeeming)).effect]).toEqual(["allow", "deny"]);
    expect(events.filter(({ name }) => name === "confirmation-resolved")).toHaveLength(2);
    expect(aegis.redeem(request())).toEqual({ effect: "allow" });
  });
});

describe("limitsOf", () => {
  const callsOf = ({ aegis }: Setup, tool: Tool): readonly number[] =>
    aegis.limitsOf(request({ tool })).map(({ calls }) => calls);

  it("holds each tool apart to the configured limit [000-6.2-rate]", () => {
    const { aegis } = setUp(ALLOW, { maxRequestsPerMinute: 2 });
    const [one, again, other] = [toolWith(), toolWith(), toolWith({ name: "other_tool" })].flatMap((tool) =>
      aegis.limitsOf(request({ tool })),
    );
    expect(one).toMatchObject({ calls: 2, windowMs: 60_000 });
    expect(again?.key).toBe(one?.key);
    expect(other?.key).not.toBe(one?.key);
  });

  it("prefers the tool's own limit [000-6.2-rate]", () => {
    expect(callsOf(setUp(ALLOW, { maxRequestsPerMinute: 60 }), toolWith({ cost: { rateLimit: 1 } }))).toEqual([1]);
  });

  it("lets a source lower the configured limit for its tools, never raise it [000-6.2-rate]", () => {
    const calls = (draft: Partial<ToolDraft>): readonly number[] =>
      callsOf(setUp(ALLOW, { maxRequestsPerMinute: 3 }), toolWith(draft));
    for (const source of ["mcp", "openapi", "a2a", "descriptor"] as const) {
      expect(calls({ source, cost: { rateLimit: 8 } })).toEqual([3]);
      expect(calls({ source, cost: { rateLimit: 2 } })).toEqual([2]);
    }
    for (const source of ["function", "builtin"] as const)
      expect(calls({ source, cost: { rateLimit: 8 } })).toEqual([8]);
  });

  it("falls back to the configured limit if the tool's own makes no sense", () => {
    for (const rateLimit of [0, -5, Number.NaN])
      expect(callsOf(setUp(ALLOW, { maxRequestsPerMinute: 1 }), { ...toolWith(), cost: { rateLimit } })).toEqual([1]);
  });

  it("lets one call through if the limit is a fraction, and has none if it is infinite", () => {
    expect(callsOf(setUp(ALLOW, { maxRequestsPerMinute: 0.5 }), toolWith())).toEqual([1]);
    expect(callsOf(setUp(ALLOW, { maxRequestsPerMinute: Number.POSITIVE_INFINITY }), toolWith())).toEqual([]);
  });
});

describe("obligations", () => {
  it("come with the permission, and the rule that demands them", async () => {
    const obligations = { maxResultBytes: 10 };
    const { aegis } = setUp({ ...ALLOW, decide: () => ({ effect: "allow", rule: "small", obligations }) });
    expect(await aegis.decide(request())).toEqual({ effect: "allow", rule: "small", obligations });
  });

  it("hold for a call once it is approved", async () => {
    const obligations = { maxResultBytes: 10 };
    const { aegis } = setUp({
      ...ALLOW,
      decide: () => ({ effect: "confirm", rule: "small", reason: "Ask.", obligations }),
    });
    const asked = await aegis.decide(request());
    const confirmationId = asked.effect === "confirm" ? asked.confirmationId : "";
    await aegis.approvals.approve(confirmationId, localOperator({ id: "bob" }));
    const approved = await aegis.decide(request({ confirmationId }));
    expect(approved).toEqual({ effect: "allow", rule: "small", obligations });
  });

  it("refuse a tool whose reach cannot be bounded, before a person is asked", async () => {
    const decide = (): PolicyDecision => ({
      effect: "confirm",
      rule: "near",
      reason: "Ask.",
      obligations: { egress: [] },
    });
    const { aegis } = setUp({ ...ALLOW, decide });
    expect(await aegis.decide(request())).toEqual({
      effect: "deny",
      code: "PERMISSION_DENIED",
      rule: "near",
      reason:
        "near restricts the domains that default.delete_user may reach, and requests of the tool's source cannot be restricted. Leave the tool out of the rule, or take egress out of its obligations.",
    });
    expect((await aegis.decide(request({ guardsEgress: true }))).effect).toBe("confirm");
  });

  it("count the rates of a rule beside the tool's own limit", () => {
    const { aegis } = setUp(ALLOW);
    const rates = [{ key: "k", calls: 1, windowMs: 1_000, rule: "slowly" }];
    expect(aegis.limitsOf(request(), { rates })).toMatchObject([
      { calls: 60, windowMs: 60_000 },
      { calls: 1, windowMs: 1_000, name: "rule slowly" },
    ]);
    expect(aegis.limitsOf(request())).toHaveLength(1);
  });
});

describe("a toolset", () => {
  it("is what the policy is asked about", async () => {
    const asked: unknown[] = [];
    const { aegis } = setUp({
      sees: (_tool, _principal, through) => asked.push(through?.toolset) > 0,
      decide: ({ toolset }) => {
        asked.push(toolset);
        return { effect: "allow", rule: "any" };
      },
    });
    aegis.sees(toolWith(), alice, { toolset: "billing" });
    await aegis.decide(request({ toolset: "support" }));
    await aegis.decide(request());
    expect(asked).toEqual(["billing", "support", "support", undefined, undefined]);
  });
});

describe("settings", () => {
  it.each([
    ["security.max_requests_per_minute", { maxRequestsPerMinute: 0 }, "is 0. Write a number above 0"],
    ["security.max_requests_per_minute", { maxRequestsPerMinute: Number.NaN }, "is NaN. Write a number above 0"],
    ["security.max_requests_per_minute", { maxRequestsPerMinute: "60" as never }, 'is "60". Write a number above 0'],
    ["security.rates.tenant", { rates: { tenant: 0 } }, "is 0. Write a number of calls a minute"],
    ["security.confirmation_timeout_s", { confirmationTimeoutS: -1 }, "is -1. Write a number of seconds above 0"],
    ["security.self_approval", { selfApproval: "always" as "local" }, 'is "always". Write "never" or "local".'],
  ])("refuses a wrong %s, naming it and what to write", (field, settings, what) => {
    const create = (): unknown => setUp(ALLOW, settings);
    expect(create).toThrow(ArsenalError);
    expect(create).toThrow(`${field} ${what}`);
    expect(create).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", details: expect.objectContaining({ field }) }),
    );
  });
});
