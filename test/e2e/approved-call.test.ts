import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CAPABILITIES, type Principal, ToolArsenal, type ToolCall } from "../../src/index.ts";

const person = (id: string, ...roles: string[]): Principal => ({
  id,
  roles,
  capabilities: CAPABILITIES,
  scopes: ["*"],
  local: false,
});
const AGENT = person("agent");
const ADA = person("ada", "approver");
const PAY: ToolCall = { toolName: "pay", arguments: { amount: 5 }, principal: AGENT };

let arsenal: ToolArsenal;
let paid: number;

beforeEach(async () => {
  paid = 0;
  arsenal = new ToolArsenal({ telemetry: { enabled: false }, security: { requireConfirmation: ["pay"] } });
  const parameters = { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] };
  await arsenal.addTool(
    { name: "pay", description: "Pays an amount to somebody.", parameters },
    () => `paid ${++paid}`,
  );
});
afterEach(() => arsenal.close());

async function waits(call: ToolCall): Promise<string> {
  const { status, confirmationId = "" } = await arsenal.execute(call);
  expect(status).toBe("pending_confirmation");
  return confirmationId;
}

describe("a call that a person approved", () => {
  it("runs when the same caller makes it again, and only once", async () => {
    await arsenal.approvals.approve(await waits(PAY), ADA);
    expect(await arsenal.execute(PAY)).toMatchObject({ status: "success", result: "paid 1" });
    await waits(PAY);
    expect(paid).toBe(1);
  });

  it("runs as part of a batch", async () => {
    await arsenal.approvals.approve(await waits(PAY), ADA);
    const { results } = await arsenal.executeBatch({ calls: [PAY] });
    expect(results).toMatchObject([{ status: "success", result: "paid 1" }]);
  });

  it.each([
    ["with another argument", { ...PAY, arguments: { amount: 6 } }],
    ["by another caller", { ...PAY, principal: person("mallory") }],
    ["by a caller of the same name in a tenant", { ...PAY, principal: { ...AGENT, tenant: "other" } }],
  ])("waits again %s", async (_, other) => {
    const id = await waits(PAY);
    await arsenal.approvals.approve(id, ADA);
    expect(await waits(other)).not.toBe(id);
    expect(paid).toBe(0);
    expect(await arsenal.execute(PAY)).toMatchObject({ status: "success" });
  });

  it("runs once when it is made twice at the same time, and the other call waits for a new approval", async () => {
    const id = await waits(PAY);
    await arsenal.approvals.approve(id, ADA);
    const results = await Promise.all([arsenal.execute(PAY), arsenal.execute(PAY), arsenal.execute(PAY)]);
    expect(results.map(({ status }) => status).toSorted()).toEqual([
      "pending_confirmation",
      "pending_confirmation",
      "success",
    ]);
    expect(paid).toBe(1);
    expect(await arsenal.approvals.list()).toMatchObject([{ state: "pending" }]);
  });

  it("does not run after a person denied it", async () => {
    await arsenal.approvals.deny(await waits(PAY), ADA);
    await waits(PAY);
    expect(paid).toBe(0);
  });
});

it("tells the model to ask the user and to make the same call again", async () => {
  const { error } = await arsenal.execute(PAY);
  expect(error?.message).toContain("Ask the user to approve this call, then make the same call again.");
  expect(error?.message).not.toContain("confirmationId");
});
