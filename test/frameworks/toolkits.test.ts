import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { frameworksInstalled } from "./frameworks.ts";
import { AGENT, createShop, DANA, refundsIn } from "./shop.ts";

const isInstalled = frameworksInstalled();

/** A tool of the AI SDK that runs and asks for approvals. */
interface Executable {
  needsApproval(input: object): Promise<boolean>;
  execute(input: object, options: object): AsyncIterable<unknown>;
}

function shopFor() {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-toolkit-"));
  const { arsenal } = createShop(folder);
  onTestFinished(async () => {
    await arsenal.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { arsenal, folder };
}

// because the frameworks are large, and only test/frameworks has them
describe.skipIf(!isInstalled)("tools without an agent of ours", () => {
  it("LangChain: getTools finds them for a query, runs them, and tells a model outside a graph that a call waits [000-10.1-langchain]", async () => {
    const { arsenal, folder } = shopFor();
    const { ToolArsenalToolkit } = await import("../../src/integrations/langchain.ts");
    const toolkit = new ToolArsenalToolkit(arsenal, { principal: AGENT, approver: DANA });
    const tools = await toolkit.getTools("refund an order", { limit: 3 });
    expect(tools).toHaveLength(3);
    const refund = tools.find(({ name }) => name === "shop-refund_order");
    const call = { type: "tool_call", id: "call_1", name: "shop-refund_order", args: { order: "7" } } as const;
    const waits = (await refund?.invoke(call)) as { readonly status: string; readonly content: string };
    expect(waits).toMatchObject({ status: "error", tool_call_id: "call_1" });
    expect(waits.content).toContain("Awaiting Confirmation");
    expect(refundsIn(folder)).toEqual([]);
    const [found] = await toolkit.getTools("look up an order by its number", { limit: 1 });
    const done = (await found?.invoke({ ...call, name: "shop-find_order" })) as { readonly artifact: unknown };
    expect(done).toMatchObject({ status: "success", artifact: { city: "Lisbon" } });
  });

  it("LangChain: options that cannot be used are refused when the toolkit is made", async () => {
    const { arsenal } = shopFor();
    const { ToolArsenalToolkit } = await import("../../src/integrations/langchain.ts");
    expect(() => new ToolArsenalToolkit(arsenal)).toThrow(/has no principal/);
    expect(() => new ToolArsenalToolkit(arsenal, { principal: AGENT, limit: 0 })).toThrow(
      /limit must be a whole number/,
    );
  });

  it("AI SDK: toolSet has no search, and a call that no person approved in the conversation is not approved by its approver", async () => {
    const { arsenal, folder } = shopFor();
    const { toolSet } = await import("../../src/integrations/ai-sdk.ts");
    const tools = await toolSet(arsenal, "refund an order", { principal: AGENT, approver: DANA, limit: 3 });
    expect(Object.keys(tools)).toHaveLength(3);
    expect(tools["find_tools"]).toBeUndefined();
    const refund = tools["shop-refund_order"] as unknown as Executable;
    expect(await refund.needsApproval({ order: "7" })).toBe(true);
    const options = { toolCallId: "call_1", messages: [], context: {} };
    const running = refund.execute({ order: "7" }, options);
    await expect(running[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "CONFIRMATION_REQUIRED" });
    expect(refundsIn(folder)).toEqual([]);
  });
});
