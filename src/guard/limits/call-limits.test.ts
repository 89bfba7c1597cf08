import { describe, expect, it } from "vitest";
import type { Limits } from "../../state/limits.port.ts";
import { createLocalLimits } from "../../state/local-limits.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { AegisRequest } from "../aegis.ts";
import { localOperator } from "../principal.ts";
import { type CallLimits, createCallLimits, type LimitSettings, RUNAWAY } from "./call-limits.ts";

const tool = defineTool({
  name: "find_user",
  description: "Finds a user by their name.",
  parameters: { type: "object", properties: {} },
});

/** What a guard holds calls to, and where it counts them. */
interface Guard {
  readonly limitsOf: CallLimits;
  readonly limits: Limits;
}

function guardWith(rates: LimitSettings["rates"], maxRequestsPerMinute = 1_000): Guard {
  const limits = createLocalLimits({ clock: createManualClock() });
  return { limitsOf: createCallLimits({ maxRequestsPerMinute, rates }), limits };
}

/** A call by somebody, of a tenant where one is named, through a toolset where one is named. */
function by(id: string, tenant?: string, toolset?: string): AegisRequest {
  const principal = localOperator({ id, local: false, ...(tenant !== undefined && { tenant }) });
  const through = toolset === undefined ? {} : { toolset };
  return { tool, arguments: {}, principal, requireConfirmation: false, ...through };
}

/** How each call fared: true, or the name of the limit that refused it. */
function fates({ limitsOf, limits }: Guard, ...calls: readonly AegisRequest[]): readonly (true | string)[] {
  return calls.map((call) => {
    const windows = limitsOf(call);
    const admission = limits.admit({ windows, holdMs: 0 });
    if (admission instanceof Promise) throw new Error("Nothing to wait for.");
    return admission.admitted || (windows.find(({ key }) => key === admission.key)?.name ?? "");
  });
}

describe("the limits of a call", () => {
  it("are high for each remote caller and tool, and none for the program itself, unless they are configured", () => {
    const limitsOf = createCallLimits({});
    const [ada, bob] = [limitsOf(by("ada", "acme")), limitsOf(by("bob", "acme"))];
    expect(ada).toMatchObject([{ name: "ada for default.find_user", calls: RUNAWAY, windowMs: 60_000 }]);
    expect(ada[0]?.key).not.toBe(bob[0]?.key);
    expect(limitsOf({ ...by("ada"), principal: localOperator() })).toEqual([]);
    const guard = { limitsOf, limits: createLocalLimits({ clock: createManualClock() }) };
    const loop = Array.from({ length: RUNAWAY + 1 }, () => by("ada"));
    expect(fates(guard, ...loop, by("bob")).slice(-3)).toEqual([true, "ada for default.find_user", true]);
  });

  it("are the tool's alone where nothing more is configured or demanded", () => {
    const limitsOf = createCallLimits({ maxRequestsPerMinute: 60 });
    const { key, ...limit } = limitsOf(by("ada", "acme", "billing"))[0] ?? { key: "" };
    expect(key).not.toBe("");
    const setting = "security.max_requests_per_minute";
    expect(limit).toEqual({ name: "tool default.find_user", calls: 60, windowMs: 60_000, setting });
    expect(limitsOf(by("ada", "acme", "billing"))).toHaveLength(1);
  });

  it("are those of its tenant, caller and toolset, and of the rules, named as a person knows them", () => {
    const limitsOf = createCallLimits({ maxRequestsPerMinute: 60, rates: { tenant: 5, principal: 4, toolset: 3 } });
    const rates = [
      { key: "a", calls: 2, windowMs: 1_000, rule: "slowly" },
      { key: "b", calls: 1, windowMs: 2_000 },
    ];
    const limits = limitsOf(by("ada", "acme", "billing"), { rates });
    expect(limits.map(({ name, calls, windowMs }) => [name, calls, windowMs])).toEqual([
      ["tool default.find_user", 60, 60_000],
      ["tenant acme", 5, 60_000],
      ["principal ada", 4, 60_000],
      ["toolset billing", 3, 60_000],
      ["rule slowly", 2, 1_000],
      ["a rule", 1, 2_000],
    ]);
    expect(new Set(limits.map(({ key }) => key)).size).toBe(6);
  });

  it("leave out those of a tenant and a toolset that a call has none of", () => {
    const limitsOf = createCallLimits({ maxRequestsPerMinute: 60, rates: { tenant: 5, principal: 4, toolset: 3 } });
    expect(limitsOf(by("ada")).map(({ name }) => name)).toEqual(["tool default.find_user", "principal ada"]);
  });

  it("count the rates of rules with different keys apart", () => {
    const limitsOf = createCallLimits({ maxRequestsPerMinute: 60 });
    const keys = ["a", "b", "a"].map((key) => limitsOf(by("ada"), { rates: [{ key, calls: 1, windowMs: 1 }] })[1]?.key);
    expect(keys[0]).toBe(keys[2]);
    expect(keys[0]).not.toBe(keys[1]);
  });

  it("are the configured one where a function's own is zero", () => {
    const limitsOf = createCallLimits({ maxRequestsPerMinute: 7 });
    expect(limitsOf({ ...by("ada"), tool: { ...tool, cost: { rateLimit: 0 } } })[0]?.calls).toBe(7);
  });
});

describe("limits", () => {
  it("hold a tenant's callers together, and each tenant apart", () => {
    const aegis = guardWith({ tenant: 2 });
    expect(fates(aegis, by("ada", "acme"), by("bob", "acme"), by("cyd", "acme"), by("ada", "globex"))).toEqual([
      true,
      true,
      "tenant acme",
      true,
    ]);
  });

  it("leave callers without a tenant to the other limits", () => {
    expect(fates(guardWith({ tenant: 1 }), by("ada"), by("ada"), by("ada"))).toEqual([true, true, true]);
  });

  it("hold each caller apart, also those of one name in two tenants and in none", () => {
    const aegis = guardWith({ principal: 1 });
    const calls = [by("ada", "acme"), by("ada", "globex"), by("ada"), by("bob"), by("ada", "acme"), by("ada")];
    expect(fates(aegis, ...calls)).toEqual([true, true, true, true, "principal ada", "principal ada"]);
  });

  it("hold what passes one toolset together, and nothing else", () => {
    const aegis = guardWith({ toolset: 1 });
    const calls = [by("ada", "acme", "billing"), by("bob", "acme", "billing"), by("bob", "acme", "mail"), by("bob")];
    expect(fates(aegis, ...calls)).toEqual([true, "toolset billing", true, true]);
  });

  it("keep a tenant, a principal and a toolset of one name apart", () => {
    const aegis = guardWith({ tenant: 1, principal: 1, toolset: 1 });
    expect(fates(aegis, by("x", "a", "b"), by("y", "x", "c"), by("z", "w", "x"))).toEqual([true, true, true]);
  });

  it("use nothing up where one of them refuses", () => {
    const aegis = guardWith({ tenant: 3, principal: 1 });
    expect(fates(aegis, by("ada", "acme"), by("ada", "acme"), by("ada", "acme"))).toEqual([
      true,
      "principal ada",
      "principal ada",
    ]);
    // Had the refused calls counted for the tenant, it would have no room left.
    expect(fates(aegis, by("bob", "acme"), by("cyd", "acme"), by("dan", "acme"))).toEqual([true, true, "tenant acme"]);
  });

  it("name the tool where its own limit refuses", () => {
    expect(fates(guardWith({ tenant: 5 }, 1), by("ada", "acme"), by("ada", "acme"))).toEqual([
      true,
      "tool default.find_user",
    ]);
  });

  it("leave a server's resources and prompts to the limits of callers", () => {
    const read = { ...tool, id: "files.resources/read" };
    const aegis = guardWith({ principal: 3 }, 1);
    const calls = Array.from({ length: 4 }, () => ({ ...by("ada"), tool: read }));
    expect(fates(aegis, ...calls)).toEqual([true, true, true, "principal ada"]);
  });
});
