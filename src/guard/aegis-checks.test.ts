import { describe, expect, it } from "vitest";
import { memoryState } from "../adapters/state/memory.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import { type Aegis, type AegisRequest, createAegis } from "./aegis.ts";
import type { Policy } from "./policy.port.ts";
import { localOperator } from "./principal.ts";
import type { Inspection } from "./scan/inspection.ts";

const ALLOW: Policy = { sees: () => true, decide: () => ({ effect: "allow" }) };
const CONFIRM: Policy = { ...ALLOW, decide: () => ({ effect: "confirm", rule: "always", reason: "Ask." }) };

const tool = defineTool({
  name: "delete_user",
  description: "Deletes a user for good.",
  parameters: { type: "object", properties: { id: { type: "string" } } },
});

function setUp(
  policy: Policy,
  parts: Pick<Parameters<typeof createAegis>[0], "pins" | "inspection"> = {},
): { readonly aegis: Aegis; readonly events: readonly string[] } {
  const clock = createManualClock();
  const events: string[] = [];
  const aegis = createAegis({
    policy,
    state: memoryState({ clock }).documents,
    clock,
    emit: (name) => void events.push(name),
    settings: { maxRequestsPerMinute: 60, confirmationTimeoutS: 600, selfApproval: "never" },
    ...parts,
  });
  return { aegis, events };
}

function request(overrides: Partial<AegisRequest> = {}): AegisRequest {
  const principal = localOperator({ id: "alice", local: false });
  return { tool, arguments: { id: "7" }, principal, requireConfirmation: false, ...overrides };
}

describe("pins", () => {
  const changed = "delete_user changed its description. Run toolarsenal pins accept default.delete_user.";

  it.each([
    ["at once", (): string => changed],
    ["in time", async (): Promise<string> => changed],
  ])("refuse a tool that is not what was accepted, told %s", async (_when, refusal) => {
    const { aegis } = setUp(ALLOW, { pins: { hides: () => false, refusal } });
    const refused = { effect: "deny", code: "PERMISSION_DENIED", rule: "pin", reason: changed };
    expect(await aegis.decide(request())).toEqual(refused);
    expect(await aegis.redeem(request())).toEqual(refused);
  });

  it("are asked again at the last moment, before the approval is used up", async () => {
    let refusal: string | undefined;
    const { aegis } = setUp(CONFIRM, { pins: { hides: () => false, refusal: () => refusal } });
    const asked = await aegis.decide(request());
    const confirmationId = asked.effect === "confirm" ? asked.confirmationId : "";
    await aegis.approvals.approve(confirmationId, localOperator({ id: "bob" }));
    const approved = request({ confirmationId });
    refusal = changed;
    expect(await aegis.redeem(approved)).toMatchObject({ effect: "deny", rule: "pin" });
    refusal = undefined;
    expect(await aegis.redeem(approved)).toEqual({ effect: "allow" });
  });

  it.each([
    [
      "throw",
      (): never => {
        throw new Error("no state");
      },
    ],
    ["reject", async (): Promise<never> => Promise.reject(new Error("no state"))],
  ])("refuse where they %s", async (_how, refusal) => {
    const { aegis } = setUp(ALLOW, { pins: { hides: () => false, refusal } });
    const reason = "The pin of default.delete_user could not be checked, so the call is refused: no state.";
    expect(await aegis.decide(request())).toMatchObject({ effect: "deny", rule: "pin", reason });
    expect(await aegis.redeem(request())).toMatchObject({ effect: "deny", rule: "pin", reason });
  });

  it("that doubt nothing let a call run, without a wait where they answer at once", async () => {
    const { aegis } = setUp(ALLOW, { pins: { hides: () => false, refusal: () => undefined } });
    expect(await aegis.decide(request())).toStrictEqual({ effect: "allow" });
    expect(aegis.redeem(request())).toStrictEqual({ effect: "allow" });
    const slow = setUp(ALLOW, { pins: { hides: () => false, refusal: async () => undefined } }).aegis;
    expect(await slow.decide(request())).toStrictEqual({ effect: "allow" });
    expect(await slow.redeem(request())).toStrictEqual({ effect: "allow" });
  });

  it("hide a tool whatever the policy says", async () => {
    const { aegis } = setUp(ALLOW, { pins: { hides: () => true, refusal: () => undefined } });
    expect(aegis.sees(request().tool, request().principal)).toBe(false);
    expect((await aegis.decide(request())).effect).toBe("deny");
  });

  it("say nothing of a tool that the policy refuses", async () => {
    const pins = { hides: () => false, refusal: () => changed };
    const deny: Policy = { ...ALLOW, decide: () => ({ effect: "deny", rule: "no", reason: "No." }) };
    expect(await setUp(deny, { pins }).aegis.decide(request())).toMatchObject({ rule: "no" });
  });
});

/** An inspection that looks at large values as it does at small ones. */
function inspecting(looks: Pick<Inspection, "arguments" | "result">): Inspection {
  return {
    ...looks,
    inTurns: {
      arguments: async (...given) => looks.arguments(...given),
      result: async (...given) => looks.result(...given),
    },
  };
}

describe("inspection", () => {
  const inspection = inspecting({
    arguments: (_tool, args) => (args["id"] === "rm -rf" ? "The arguments look like an attack." : undefined),
    result: (_tool, value) => (value === "evil" ? { refused: "It looks like an attack." } : { value }),
  });
  const broken = inspecting({
    arguments: () => {
      throw new Error("no rules");
    },
    result: () => {
      throw new Error("no rules");
    },
  });

  it("refuses arguments before a person is asked", async () => {
    const { aegis, events } = setUp(CONFIRM, { inspection });
    const reason = "The arguments look like an attack.";
    const refused = { effect: "deny", code: "PERMISSION_DENIED", rule: "scan", reason };
    expect(await aegis.decide(request({ arguments: { id: "rm -rf" } }))).toEqual(refused);
    expect(events).toEqual([]);
    expect((await aegis.decide(request())).effect).toBe("confirm");
  });

  it("gives results on, or says why not; without one they are given on as they are", async () => {
    expect(setUp(ALLOW, { inspection }).aegis.inspect(tool, "evil")).toEqual({
      refused: "It looks like an attack.",
    });
    expect(setUp(ALLOW, { inspection }).aegis.inspect(tool, "good")).toEqual({ value: "good" });
    expect(await setUp(ALLOW, { inspection }).aegis.inspectLarge(tool, "evil")).toEqual({
      refused: "It looks like an attack.",
    });
    expect(setUp(ALLOW).aegis.inspect(tool, "evil")).toEqual({ value: "evil" });
  });

  it("refuses where it throws", async () => {
    const { aegis } = setUp(ALLOW, { inspection: broken });
    const why = (what: string): string =>
      `The ${what} of default.delete_user could not be checked, so the call is refused: no rules.`;
    expect(await aegis.decide(request())).toMatchObject({ effect: "deny", rule: "scan", reason: why("arguments") });
    expect(aegis.inspect(tool, "good")).toEqual({ refused: why("result") });
  });
});

describe("preview", () => {
  const rules: Policy = {
    ...CONFIRM,
    sees: (_tool, { id }) => id !== "mallory",
    steps: () => [{ rule: "always", matched: true }],
  };

  it("says what would be decided, and asks nobody", async () => {
    const { aegis, events } = setUp(rules);
    expect(await aegis.preview(request())).toEqual({
      visible: true,
      effect: "confirm",
      rule: "always",
      reason: "Ask.",
      steps: [{ rule: "always", matched: true }],
    });
    expect(await setUp(ALLOW).aegis.preview(request())).toEqual({ visible: true, effect: "allow" });
    expect([events, await aegis.approvals.list()]).toEqual([[], []]);
  });

  it("denies what the caller may not see, with what the policy says of it", async () => {
    const principal = localOperator({ id: "mallory", local: false });
    const hidden = await setUp(rules).aegis.preview(request({ principal }));
    expect(hidden).toMatchObject({ visible: false, effect: "deny", rule: "always", reason: "Ask." });
    const unseen: Policy = { ...ALLOW, sees: () => false };
    expect(await setUp(unseen).aegis.preview(request())).toMatchObject({
      visible: false,
      effect: "deny",
      reason: expect.stringContaining("may not use this tool"),
    });
  });

  it("looks at capabilities, pins and arguments as a call would, without a word", async () => {
    const principal = localOperator({ id: "bo", capabilities: [], local: false });
    const deleting = { ...tool, capabilities: ["delete_data"] as const };
    expect(await setUp(ALLOW).aegis.preview(request({ tool: deleting, principal }))).toMatchObject({
      effect: "deny",
      reason: expect.stringContaining("lacks the capability delete_data"),
    });
    const pins = { hides: () => false, refusal: () => "It changed." };
    expect(await setUp(ALLOW, { pins }).aegis.preview(request())).toMatchObject({ rule: "pin", reason: "It changed." });
    const asked: unknown[] = [];
    const inspection = inspecting({
      arguments: (_tool, _args, options) => (asked.push(options), "It is harmful."),
      result: (_tool, value) => ({ value }),
    });
    const scanned = await setUp(ALLOW, { inspection }).aegis.preview(request());
    expect([scanned, asked]).toEqual([
      { visible: true, effect: "deny", rule: "scan", reason: "It is harmful." },
      [{ quiet: true }],
    ]);
  });
});

describe("visible", () => {
  const visible = { ...ALLOW, visible: () => ({ all: [] }) };
  const filterFor = (principal: Parameters<typeof localOperator>[0]): unknown =>
    setUp(visible).aegis.visible(localOperator({ id: "bo", local: false, ...principal }));

  it("leaves other tenants' tools out of the search, so that they cannot slow it down", () => {
    expect(filterFor({ tenant: "a" })).toEqual({ all: [{ all: [] }, { tenant: "a" }] });
    expect(filterFor({ roles: [] })).toEqual({ all: [{ all: [] }, { tenant: "" }] });
  });

  it("leaves nothing out for operators who belong to no tenant", () => {
    expect(filterFor({ roles: ["operator"] })).toEqual({ all: [] });
    expect(filterFor({ local: true, roles: [] })).toEqual({ all: [] });
  });
});
