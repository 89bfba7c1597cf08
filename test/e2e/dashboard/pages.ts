import type { Page } from "playwright-core";
import { localOperator } from "../../../src/index.ts";
import type { SampleGateway } from "./sample-gateway.ts";

/** A page as it looks in use. */
export interface PageWithContent {
  readonly name: string;
  readonly path: string;
  /** Waits until what the page is for is there. */
  ready(page: Page): Promise<unknown>;
}

const row = (page: Page): Promise<void> => page.locator("tbody tr").first().waitFor();
const article = (page: Page): Promise<void> => page.locator("article").first().waitFor();

/** Every page of the dashboard, once `useSampleGateway` has left something to see. */
export const PAGES_WITH_CONTENT: readonly PageWithContent[] = [
  { name: "overview", path: "", ready: row },
  {
    name: "playground",
    path: "playground?q=read%20a%20file%20and%20add%20it%20to%20the%20knowledge%20graph",
    async ready(page) {
      await page.locator(".ranking button").first().click();
      await page.getByRole("button", { name: "Run" }).waitFor();
    },
  },
  { name: "catalog", path: "catalog", ready: row },
  {
    name: "tool",
    path: "catalog/payments.charge_card",
    ready: (page) => page.locator(".sparkline").waitFor(),
  },
  { name: "calls", path: "calls", ready: row },
  {
    name: "trace",
    path: "calls",
    async ready(page) {
      await page.locator("tbody tr").filter({ hasText: "billing.get_invoice" }).locator("a").last().click();
      await page.getByRole("region", { name: "Waterfall" }).waitFor();
    },
  },
  {
    name: "program",
    path: "programs",
    async ready(page) {
      await page.getByRole("link", { name: "const invoice" }).click();
      await page.getByRole("region", { name: "Waterfall" }).waitFor();
      await page.getByRole("region", { name: "Code" }).waitFor();
    },
  },
  { name: "approvals", path: "approvals", ready: article },
  { name: "pins", path: "pins", ready: article },
  {
    name: "policy",
    path: "policy",
    async ready(page) {
      await page.getByLabel("Tool").fill("shop.close_account");
      await page.getByLabel("Caller").fill("ada");
      await page.getByRole("button", { name: "Ask" }).click();
      await page.locator("section[aria-live] .badge").waitFor();
    },
  },
  {
    name: "servers",
    path: "servers",
    async ready(page) {
      const server = page.getByRole("article", { name: "everything" });
      await server.getByRole("button", { name: "Log" }).click();
      await server.getByRole("log").getByText("connected, with MCP").waitFor();
    },
  },
  { name: "toolsets", path: "toolsets", ready: article },
  { name: "workflows", path: "workflows", ready: row },
  { name: "workflow", path: "workflows/flows.bill", ready: (page) => page.locator(".node.waiting").waitFor() },
  { name: "audit", path: "audit", ready: row },
];

/** Makes calls that succeed, fail, open a circuit and wait for a person, and changes a pinned tool. */
export async function useSampleGateway({ arsenal, changePin }: SampleGateway): Promise<void> {
  for (const query of ["add two numbers", "ship a parcel"]) await arsenal.retrieve({ context: { query } });
  const { traceId } = await arsenal.retrieve({ context: { query: "show me an invoice of a customer" } });
  await arsenal.execute({ toolName: "billing.get_invoice", arguments: { invoiceId: "i-1041" }, traceId });
  await arsenal.execute({ toolName: "everything.get_sum", arguments: { a: 40, b: 2 } });
  await arsenal.execute({ toolName: "everything.echo", arguments: { message: "hello" } });
  await arsenal.execute({ toolName: "memory.read_graph" });
  await arsenal.execute({ toolName: "flows.bill", arguments: { invoice: "i-1041" } });
  await arsenal.execute({ toolName: "shop.ship" });
  for (let call = 0; call < 3; call++) await arsenal.execute({ toolName: "payments.charge_card" });
  await arsenal.execute({
    principal: localOperator({ id: "ada" }),
    toolName: "shop.close_account",
    arguments: { reason: "moved away", customer: "c-77" },
  });
  await arsenal.runCode({ code: 'const invoice = await billing.get_invoice({ invoiceId: "i-1041" });\ninvoice' });
  await changePin();
}
