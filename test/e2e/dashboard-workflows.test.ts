import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { workflows } from "../../src/adapters/sources/index.ts";
import { createPrincipal } from "../../src/index.ts";
import { createFullShop } from "../doubles/shop.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { looksOf } from "./dashboard/looks.ts";
import { barriers, visit } from "./dashboard/visit.ts";

const FLOW = `
name: restock
description: Reserves goods once a person agreed.
inputs: { type: object, properties: { order: { type: string } }, required: [order] }
steps:
  - { id: order, tool: shop.find_order, arguments: { order: "\${{ inputs.order }}" } }
  - { id: agree, needs: [order], approval: "Reserve \${{ inputs.order }}?" }
  - id: reserve
    tool: shop.reserve
    needs: [agree]
    forEach: steps.order.result.lines
    arguments: { sku: "\${{ item.sku }}" }
`;

describeInBrowser("the dashboard's page of a workflow", (browser) => {
  const shop = createFullShop();
  let url: string;
  let folder: string;
  let closeGateway: () => Promise<unknown>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolarsenal-flows-"));
    await writeFile(join(folder, "restock.yaml"), FLOW);
    await writeFile(
      join(folder, "wrong.yaml"),
      FLOW.replace("restock", "wrong").replace("shop.reserve", "shop.reserv"),
    );
    await shop.arsenal.add(workflows({ name: "flows", paths: [folder] }));
    const gateway = await shop.arsenal.serve({ port: 0 });
    url = gateway.url ?? "";
    closeGateway = () => gateway.close();
  });
  afterAll(async () => {
    await closeGateway?.();
    await shop.arsenal.close();
    await rm(folder, { recursive: true });
  });

  it("shows its graph, follows a run while it waits and goes on, and lists files that are not tools", async () => {
    const { page, complaints, close } = await visit(browser(), `${url}/ui/workflows`);
    await page.getByText('"shop.reserv" is not a tool. Did you mean shop.reserve?').waitFor();
    await page.getByRole("link", { name: "flows.restock" }).click();
    await page.getByRole("region", { name: "The steps of flows.restock" }).waitFor();

    const call = { toolName: "flows.restock", arguments: { order: "7" } };
    const { confirmationId = "" } = await shop.arsenal.execute(call);
    await page.locator(".node.waiting").getByText("agree", { exact: true }).waitFor();
    await page.getByText("The step agree waits for").waitFor();
    expect(await page.locator(".node.done text").first().textContent()).toBe("order");
    await shop.arsenal.approvals.approve(confirmationId, createPrincipal({ id: "boss", roles: ["approver"] }));
    await page.locator(".node.done").getByText("reserve ×", { exact: true }).waitFor();
    expect(await page.locator(".node.done").count()).toBe(3);
    for (const { colorScheme, width } of looksOf("run of a workflow")) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      expect(await barriers(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
    expect(complaints).toEqual([]);
    await close();
  });
});
