import { describe, expect, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import { judgeDraft } from "./judge-draft.ts";
import { readCase } from "./policy-cases.ts";

const cases = [
  readCase({ tool: "billing.refund_user", principal: "ada", args: { amount: 500 }, expect: "require_approval" }, 0),
  readCase({ tool: "billing.get_invoice", principal: "ada", expect: "deny" }, 1),
];
const RULE = "{ id: large, effect: require_approval, tools: [billing.refund_*], when: args.amount > 100 }";
const draft = (rules: readonly string[]): string =>
  `version: 1\nrules:\n${rules.map((rule) => `  - ${rule}\n`).join("")}`;

describe("judgeDraft", () => {
  it("says how each case comes out", async () => {
    expect(await judgeDraft({ policy: draft([RULE]), cases })).toMatchObject([
      { ok: true, name: "1: billing.refund_user", actual: "require_approval", rule: "large" },
      { ok: false, expected: "deny", actual: "allow" },
    ]);
  });

  it("rejects a draft that is wrong, with its line and how to fix it", async () => {
    await expect(judgeDraft({ policy: draft(["{ id: x, effect: alow }"]), cases })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(
        'policy:3:22 rules.0.effect: must be one of allow, deny, require_approval, not "alow"',
      ),
    });
  });

  it("leaves the event loop free while it compiles thousands of rules", async () => {
    const rules = Array.from({ length: 2_000 }, (_, at) => RULE.replace("large", `large${at}`).replace("100", `${at}`));
    let longest = 0;
    let since = process.threadCpuUsage();
    const watch = setInterval(() => {
      const { user, system } = process.threadCpuUsage(since);
      longest = Math.max(longest, (user + system) / 1_000);
      since = process.threadCpuUsage();
    }, 1);
    const judged = await judgeDraft({ policy: draft(rules), cases });
    clearInterval(watch);
    expect(judged[0]).toMatchObject({ ok: true });
    expect(longest).toBeLessThan(100);
  });

  it("gives a draft up that takes too long", async () => {
    const clock = createManualClock();
    const judging = judgeDraft({ policy: draft([RULE]), cases }, { clock });
    await Promise.resolve();
    await clock.advance(30_000);
    await expect(judging).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message:
        "The draft takes more than 30 s. Test fewer rules or fewer cases at once, or run toolarsenal policy test.",
    });
  });
});
