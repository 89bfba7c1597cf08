import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { integrations } from "../../src/integrations/manifest.ts";
import { frameworksInstalled } from "./frameworks.ts";
import type { FrameworkCell, FrameworkRow, FrameworkRun } from "./row.ts";
import { type ScriptedModel, type ScriptedTurn, startScriptedModel } from "./scripted-model.ts";
import { AGENT, createShop, DANA, refundsIn, type ShopEvents } from "./shop.ts";

/** Integrations without an agent of their own that this suite could drive. */
const NO_ROW: Readonly<Record<string, string>> = {
  autogen: "a Python framework: its pages are driven by a plain Python client",
  crewai: "a Python framework: its pages are driven by a plain Python client",
};

const LIMIT = 6;
const isInstalled = frameworksInstalled();
const names = Object.keys(integrations).filter((name) => NO_ROW[name] === undefined);

// because the frameworks are large, and only test/frameworks has them
describe.skipIf(!isInstalled).each(names)(
  "%s runs its tasks by the arsenal [000-10.1-langchain] [000-10.2-llamaindex]",
  async (name) => {
    if (!isInstalled) return;
    const { row } = (await import(`./rows/${name}.ts`)) as { readonly row: FrameworkRow };
    let folder: string;
    let model: ScriptedModel;
    /** The ids of the principals that called tools. */
    const callers = new Set<string>();

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "toolarsenal-framework-"));
    });
    afterEach(async () => {
      await model.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Runs a task over more than 300 tools against a model that follows the script. */
    async function drive(
      prompt: string,
      script: readonly ScriptedTurn[],
      act: (events: ShopEvents, stop: AbortController) => Promise<void> = async () => {},
    ): Promise<FrameworkRun> {
      model = await startScriptedModel(script);
      const { arsenal, events } = createShop(folder);
      arsenal.subscribe((event) => {
        if (event.name === "call-finished") callers.add(event.data.principal);
      });
      const stop = new AbortController();
      const task = { arsenal, baseURL: model.baseURL, prompt, limit: LIMIT, principal: AGENT, approver: DANA };
      try {
        const [run] = await Promise.all([row.run({ ...task, signal: stop.signal }), act(events, stop)]);
        return run;
      } finally {
        await arsenal.close();
      }
    }

    function cell(claim: FrameworkCell, what: string, test: () => Promise<void>): void {
      const reason = row.skipped[claim];
      // because the framework has no terms for it; its row explains why
      if (reason !== undefined) it.skip(`${claim}: ${reason}`, test);
      else it(`${claim}: ${what}`, test);
    }

    cell("multi-step", "the model gets few of more than 300 tools in each turn, found for that turn", async () => {
      const run = await drive("Look up order 1042, then track where its parcel is", [
        { text: "I look up the order.", calls: [["shop-find_order", { order: "1042" }]] },
        { text: "Now I need other tools.", calls: [["find_tools", { query: "write a sales report" }]] },
        { text: "Now I track the parcel.", calls: [["shop-track_parcel", { order: "1042" }]] },
        { text: "It is in Porto." },
      ]);
      expect(run.text).toBe("It is in Porto.");
      expect([...callers]).toEqual([row.caller ?? AGENT.id]);
      expect(run.calls.map((call) => call.name)).toEqual(["shop-find_order", "find_tools", "shop-track_parcel"]);
      expect(run.calls.map((call) => call.failed)).toEqual([false, false, false]);
      expect(run.calls[0]?.text).toContain("Lisbon");
      expect(run.calls[2]?.text).toContain("Porto");
      const { requests } = model;
      expect(requests).toHaveLength(4);
      for (const { tools } of requests) expect(tools.length).toBeLessThanOrEqual(LIMIT);
      expect(requests[0]?.tools).toContain("shop-find_order");
      expect(requests[0]?.tools).not.toContain("shop-slow_report");
      expect(requests[2]?.tools).toContain("shop-slow_report");
      expect(requests[3]?.messages.at(-1)?.content).toContain("Porto");
    });

    cell("tool error", "the model reads the error, and the framework counts the call as failed", async () => {
      const run = await drive("Print the invoice of order 1042", [
        { calls: [["shop-print_invoice", { order: "1042" }]] },
        { text: "The printer has no paper." },
      ]);
      expect(run.calls).toMatchObject([{ name: "shop-print_invoice", failed: true }]);
      expect(run.calls[0]?.text).toContain("The printer is out of paper.");
      expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("The printer is out of paper.");
      expect(run.text).toBe("The printer has no paper.");
    });

    cell("denial", "the model reads that it must not repeat the call", async () => {
      const run = await drive("Delete the customer who placed order 1042 of the shop", [
        { calls: [["shop-delete_customer", { order: "1042" }]] },
        { text: "I may not do that." },
      ]);
      expect(run.calls).toMatchObject([{ name: "shop-delete_customer", failed: true }]);
      expect(run.calls[0]?.text).toContain("The agent may not delete customers.");
      expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("do not repeat this call");
    });

    cell("unknown outcome", "the model reads that the call may have taken effect", async () => {
      const run = await drive("Pay the supplier of order 1042", [
        { calls: [["shop-pay_supplier", { order: "1042" }]] },
        { text: "I have to check." },
      ]);
      expect(run.calls).toMatchObject([{ name: "shop-pay_supplier", failed: true }]);
      expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("check whether the call took effect");
    });

    cell("progress", "the framework shows what a running call reports", async () => {
      const run = await drive("Track the parcel of order 1042", [
        { calls: [["shop-track_parcel", { order: "1042" }]] },
        { text: "Porto." },
      ]);
      expect(run.progress).toEqual(["Asking the carrier", "Reading the answer"]);
      expect(run.calls[0]?.text).toContain("Porto");
    });

    cell("cancel", "stopping the run cancels the call", async () => {
      const script = [{ calls: [["shop-slow_report", { order: "1042" }]] as const }, { text: "Done." }];
      const run = drive("Write a sales report about order 1042", script, async ({ started, cancelled }, stop) => {
        await started;
        stop.abort();
        await cancelled;
      });
      await run.catch(() => {}); // some frameworks end a stopped run with an error
      expect(model.requests).toHaveLength(1);
    });

    const REFUND = [{ calls: [["shop-refund_order", { order: "1042" }]] as const }, { text: "It is done." }];

    /** Resumes the refund in another process, which has nothing but what was saved. */
    async function resumedElsewhere(saved: string, answer: "approve" | "deny"): Promise<FrameworkRun> {
      const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
      const parameters = ["--import", file("resolve.ts"), file("drive.ts"), name, folder, model.baseURL];
      const child = spawn(process.execPath, [...parameters, answer], {
        env: { ...process.env, OPENAI_API_KEY: "none" },
        stdio: ["pipe", "pipe", "inherit"],
      });
      child.stdin.end(saved);
      return JSON.parse(await text(child.stdout)) as FrameworkRun;
    }

    cell("approval", "the run waits, and another process resumes it: the call then runs once", async () => {
      const paused = await drive("Refund order 1042", REFUND);
      expect(paused.saved).toBeTypeOf("string");
      expect(refundsIn(folder)).toEqual([]);
      const ended = await resumedElsewhere(paused.saved ?? "", "approve");
      expect(refundsIn(folder)).toEqual(["1042"]);
      expect(ended.text).toBe("It is done.");
      expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain("refunded");
    });

    cell("approval denied", "the call does not run, and the model learns that it was denied", async () => {
      model = await startScriptedModel(REFUND);
      const { arsenal } = createShop(folder);
      const people = { principal: AGENT, approver: DANA };
      const { signal } = new AbortController();
      const task = { arsenal, baseURL: model.baseURL, prompt: "Refund order 1042", limit: LIMIT, ...people, signal };
      const paused = await row.run(task);
      const ended = await row.resume(task, paused.saved ?? "", "deny");
      await arsenal.close();
      expect(refundsIn(folder)).toEqual([]);
      expect(ended.text).toBe("It is done.");
      expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/denied|rejected|not approved|declined/i);
    });
  },
);

// because the frameworks are large, and only test/frameworks has them
describe.skipIf(!isInstalled).each(names)("own tools of %s", async (name) => {
  if (!isInstalled) return;
  const { row } = (await import(`./rows/${name}.ts`)) as { readonly row: FrameworkRow };
  const { ownTools } = row;
  // because import-tools.test.ts and the tests of the dialects have the tools of the other frameworks
  it.skipIf(ownTools === undefined)("run in the arsenal, which checks their arguments", async () => {
    const arsenal = new ToolArsenal();
    const { rejected } = await arsenal.add(ownTools ?? [], { format: name, namespace: "own" });
    expect(rejected).toEqual([]);
    const ran = await arsenal.execute({ toolName: "own.double", arguments: { x: 21 } });
    expect(ran).toMatchObject({ status: "success", toolId: "own.double" });
    expect(JSON.stringify(ran.result)).toContain("42");
    const refused = await arsenal.execute({ toolName: "own.double", arguments: { x: "many" } });
    expect(refused).toMatchObject({ status: "failure", error: { code: "ARGUMENTS_INVALID" } });
    await arsenal.close();
  });
});
