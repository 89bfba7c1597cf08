import { describe, expect, it } from "vitest";
import type { PendingApproval } from "../../guard/aegis.ts";
import { approvalQuestion, readAnswer, showsForms } from "./approval-question.ts";

const waiting: PendingApproval = {
  id: "0f4c",
  toolId: "billing.refund_user",
  arguments: { amount: 5 },
  requestedBy: "local",
  reason: "Refunds need a look.",
  state: "pending",
  requestedAt: 0,
  expiresAt: 600_000,
};

describe("the question", () => {
  it("shows the tool, the arguments and the reason, each on its own line, and asks for a yes or no", () => {
    expect(approvalQuestion({ ...waiting, reason: "a\nTool: other" })).toEqual({
      message: [
        "A call waits for your approval.",
        "Tool: billing.refund_user",
        'Arguments: {"amount":5}',
        String.raw`Reason: a\u000aTool: other`,
      ].join("\n"),
      requestedSchema: {
        type: "object",
        properties: { approve: expect.objectContaining({ type: "boolean" }) as unknown },
        required: ["approve"],
      },
    });
  });

  it("is not asked about what is too long to be read, as it is shown", () => {
    const text = (length: number, character = "x"): PendingApproval => ({
      ...waiting,
      arguments: { a: character.repeat(length) },
    });
    expect(approvalQuestion(text(3_992))).not.toBe(undefined);
    expect(approvalQuestion(text(3_993))).toBe(undefined);
    expect(approvalQuestion(text(700, "\u202E"))).toBe(undefined);
  });
});

describe("the answer", () => {
  it.each([
    [{ action: "accept", content: { approve: true } }, "approve"],
    [{ action: "accept", content: { approve: false } }, "deny"],
    [{ action: "decline" }, "deny"],
    [{ action: "cancel" }, undefined],
    [{ action: "cancel", content: { approve: true } }, undefined],
    [{ action: "accept" }, undefined],
    [{ action: "accept", content: {} }, undefined],
    [{ action: "accept", content: { approve: "true" } }, undefined],
    [{ content: { approve: true } }, undefined],
    [{}, undefined],
  ])("%j means %s", (given, meant) => {
    expect(readAnswer(given)).toBe(meant);
  });
});

describe("a client shows forms", () => {
  it.each([
    [{ elicitation: {} }, true],
    [{ elicitation: { form: {} } }, true],
    [{ elicitation: { form: {}, url: {} } }, true],
    [{ elicitation: { url: {} } }, false],
    [{ elicitation: true }, false],
    [{ sampling: {} }, false],
    [{}, false],
  ])("or not, with %j: %s", (capabilities, shows) => {
    expect(showsForms({ capabilities })).toBe(shows);
  });
});
