import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFullShop } from "../../../../test/doubles/shop.ts";
import { createPrincipal } from "../../../guard/principal.ts";
import { sourceContract } from "../../../testing/source.contract.ts";
import { workflows } from "./settings.ts";
import { workflowsSource } from "./workflows.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "workflows-"))));
afterAll(() => rm(folder, { recursive: true }));

const APPROVER = createPrincipal({ id: "boss", roles: ["approver"] });

const CREDIT = `
name: credit_order
description: Credits an order and reserves its goods again.
inputs:
  type: object
  properties: { order: { type: string }, extra: { type: number } }
  required: [order]
steps:
  - id: order
    tool: shop.find_order
    arguments: { order: "\${{ inputs.order }}" }
  - id: reserve
    tool: shop.reserve
    forEach: steps.order.result.lines
    arguments: { sku: "\${{ item.sku }}" }
    compensate:
      tool: shop.release
      arguments: { reservation: "\${{ result.reservation }}" }
  - id: agree
    if: inputs.extra != null && inputs.extra < 100
    approval: Credit \${{ inputs.extra }} more?
  - id: credit
    tool: shop.credit
    needs: [reserve, agree]
    arguments:
      order: \${{ steps.order.result.id }}
      amount: "\${{ steps.order.result.total + (inputs.extra == null ? 0.0 : inputs.extra) }}"
result:
  text: Credited \${{ steps.credit.result.amount }}
  goods: \${{ steps.reserve.result.map(each, each.reservation) }}
`;

async function write(files: Readonly<Record<string, string>>): Promise<string> {
  const own = await mkdtemp(join(folder, "flows-"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(own, name), text);
  return own;
}

describe("the source contract", () => {
  for (const { name, run } of sourceContract(async () => ({
    adapter: workflowsSource({ paths: [await write({ "credit.yaml": CREDIT })] }),
  })))
    it(name, run);
});

/** A shop with workflows. */
async function open(files: Readonly<Record<string, string>>, options = {}) {
  const own = await write(files);
  const shop = createFullShop(options);
  await shop.arsenal.add(workflows(own));
  return { ...shop, [Symbol.asyncDispose]: () => shop.arsenal.close() };
}

describe("a workflow file", () => {
  it("is one tool, whose capabilities, scopes and risk are those of its steps", async () => {
    await using shop = await open({ "credit.yaml": CREDIT });
    expect(await shop.arsenal.getTool("credit_order", "workflows")).toMatchObject({
      source: "workflow",
      capabilities: ["write_data", "financial"],
      requiredScopes: ["billing"],
      riskLevel: "high",
      parameters: { required: ["order"], additionalProperties: false },
      returns: { type: "object", properties: { text: { type: "string" } } },
      annotations: { confirmed: true, readOnly: false },
    });
  });

  it("runs its steps in the order of their needs, once per item, and returns its result", async () => {
    await using shop = await open({ "credit.yaml": CREDIT });
    const ran = await shop.arsenal.execute({ toolName: "workflows.credit_order", arguments: { order: "7" } });
    expect(ran.result).toEqual({ text: "Credited 30", goods: ["r-a", "r-b"] });
    expect(shop.calls[0]).toBe('find_order {"order":"7"}');
    expect(shop.calls.slice(1, 3).toSorted()).toEqual(['reserve {"sku":"a"}', 'reserve {"sku":"b"}']);
    expect(shop.calls.slice(3)).toEqual(['credit {"order":"7","amount":30}']);
  });

  it("undoes the calls that ran, last first, if a later step fails", async () => {
    await using shop = await open({ "credit.yaml": CREDIT });
    const given = { order: "7", extra: 5000 };
    const ran = await shop.arsenal.execute({ toolName: "workflows.credit_order", arguments: given });
    expect(ran.status).toBe("failure");
    expect(ran.error?.message).toBe(
      'The step "credit" (shop.credit) failed: the bank refused. Undone: reserve[1], reserve[0].',
    );
    expect(shop.calls.slice(4)).toEqual(['release {"reservation":"r-b"}', 'release {"reservation":"r-a"}']);
  });

  it("waits for a person at an approval step, and goes on without repeating a step", async () => {
    await using shop = await open({ "credit.yaml": CREDIT });
    const call = { toolName: "workflows.credit_order", arguments: { order: "7", extra: 5 } };
    const waiting = await shop.arsenal.execute(call);
    expect(waiting).toMatchObject({ status: "pending_confirmation", error: { code: "CONFIRMATION_REQUIRED" } });
    const [asked] = await shop.arsenal.approvals.list();
    expect(asked).toMatchObject({
      id: waiting.confirmationId,
      toolId: "workflows.credit_order",
      arguments: { order: "7", approval: { step: "agree", question: "Credit 5 more?" } },
    });
    expect(shop.calls).toHaveLength(3);
    await shop.arsenal.approvals.approve(waiting.confirmationId ?? "", APPROVER);
    const ran = await shop.arsenal.execute({ ...call, confirmationId: waiting.confirmationId ?? "" });
    expect(ran.result).toEqual({ text: "Credited 35", goods: ["r-a", "r-b"] });
    expect(shop.calls.slice(3)).toEqual(['credit {"order":"7","amount":35}']);
  });

  it("fails and undoes its steps if the person refuses", async () => {
    await using shop = await open({ "credit.yaml": CREDIT });
    const call = { toolName: "workflows.credit_order", arguments: { order: "7", extra: 5 } };
    const { confirmationId = "" } = await shop.arsenal.execute(call);
    await shop.arsenal.approvals.deny(confirmationId, APPROVER);
    const ran = await shop.arsenal.execute(call);
    expect(ran).toMatchObject({ status: "permission_denied", error: { code: "APPROVAL_INVALID" } });
    expect(shop.calls.slice(3)).toEqual(['release {"reservation":"r-b"}', 'release {"reservation":"r-a"}']);
  });
});
