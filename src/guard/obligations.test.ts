import { describe, expect, it } from "vitest";
import { memoryState } from "../adapters/state/memory.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import { type AegisDecision, createAegis } from "./aegis.ts";
import type { PolicyDecision } from "./policy.port.ts";
import { localOperator } from "./principal.ts";

const tool = defineTool({ name: "find_user", description: "Finds a user by their name.", parameters: {} });
const rate = { key: "k", calls: 1, windowMs: 1_000 };

/** What the guard makes of a policy that demands something, whether it allows or asks. */
async function decided(obligations: unknown, effect: "allow" | "confirm" | "deny" = "allow"): Promise<AegisDecision> {
  const clock = createManualClock();
  const aegis = createAegis({
    policy: {
      sees: () => true,
      decide: () => ({ effect, rule: "mine", reason: "Because.", obligations }) as PolicyDecision,
    },
    state: memoryState({ clock }).documents,
    clock,
    emit: () => {},
    settings: { maxRequestsPerMinute: 60, confirmationTimeoutS: 600, selfApproval: "never" },
  });
  const principal = localOperator();
  return aegis.decide({ tool, arguments: {}, principal, requireConfirmation: false, guardsEgress: true });
}

describe("a policy's demand", () => {
  it.each([
    ["nothing", undefined],
    ["no more than nothing", {}],
    ["what is left out", { egress: undefined, later: undefined }],
    ["rates", { rates: [rate, { ...rate, calls: 0.5, rule: "slowly" }] }],
    ["redactions", { redact: [{ text: "a", apply: (value: unknown) => value }] }],
    ["domains", { egress: ["example.com"] }],
    ["no domain at all", { egress: [] }],
    ["a size", { maxResultBytes: 10 }],
    ["nothing but an empty result", { maxResultBytes: 0 }],
  ])("for %s is taken on", async (_what, obligations) => {
    expect((await decided(obligations)).effect).toBe("allow");
    expect((await decided(obligations, "confirm")).effect).toBe("confirm");
  });

  it.each([
    ["nobody knows", { noLogs: true }, 'it demands "noLogs", which is not supported'],
    ["is named as what every object has", { toString: 1 }, 'it demands "toString", which is not supported'],
    ["is no set of demands", "egress", 'its obligations are "egress"'],
    ["is null", null, "its obligations are null"],
    ["is a size that is no number", { maxResultBytes: Number.NaN }, "its obligation maxResultBytes is NaN"],
    ["is a size as text", { maxResultBytes: "10" }, 'its obligation maxResultBytes is "10"'],
    ["is a size below nothing", { maxResultBytes: -1 }, "its obligation maxResultBytes is -1"],
    ["is a domain without a list", { egress: "example.com" }, 'its obligation egress is "example.com"'],
    ["is a list of other things than domains", { egress: ["a.example", 5] }, "its obligation egress is "],
    ["is a redaction that cannot be applied", { redact: [{ text: "**.ssn" }] }, "its obligation redact is "],
    ["is a redaction as text", { redact: ["**.ssn"] }, "its obligation redact is "],
    ["is a rate without a list", { rates: rate }, "its obligation rates is "],
    ["is a rate of no calls", { rates: [{ ...rate, calls: 0 }] }, "its obligation rates is "],
    ["is a rate whose calls are no number", { rates: [{ ...rate, calls: Number.NaN }] }, "its obligation rates is "],
    ["is a rate in no time", { rates: [{ ...rate, windowMs: 0 }] }, "its obligation rates is "],
    ["is a rate that nothing is counted under", { rates: [{ calls: 1, windowMs: 1 }] }, "its obligation rates is "],
    ["is a rate among which one is none", { rates: [rate, null] }, "its obligation rates is "],
  ])("that %s refuses the call, whether it is allowed or asked about", async (_what, obligations, why) => {
    for (const effect of ["allow", "confirm"] as const) {
      const decision = await decided(obligations, effect);
      expect(decision).toMatchObject({ effect: "deny", code: "PERMISSION_DENIED", rule: "policy-failed" });
      expect(decision.effect === "deny" && decision.reason).toContain(
        `The policy failed to decide on default.find_user, so the call is refused: ${why}`,
      );
    }
  });

  it("does not matter where the call is denied anyway", async () => {
    expect(await decided({ noLogs: true }, "deny")).toMatchObject({ effect: "deny", rule: "mine" });
  });
});
