import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Agent, AgentEvent, AgentOptions, AgentRun, SavedRun } from "../../../src/agent/index.ts";
import type { ToolArsenal } from "../../../src/index.ts";
import { MODEL_APIS, type ModelDouble, openModel, type ScriptStep } from "../../doubles/llms/model-double.ts";
import type { Printed, Resumed } from "./resume-process.ts";
import { DANA, LIMIT, openSeller, openShop } from "./shop.ts";

const KINDS = MODEL_APIS.flatMap((api) =>
  [true, false].map((stream) => ({ api, stream, how: stream ? "streamed" : "whole" })),
);

let folder: string;
let shop: { readonly log: string; readonly state: string };
const opened: { close(): Promise<unknown> }[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "arsenal-agent-"));
  shop = { log: join(folder, "log"), state: join(folder, "state.sqlite") };
});
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
  rmSync(folder, { recursive: true });
});

const call = (name: string, order: string): { name: string; arguments: { order: string } } => ({
  name: `shop-${name}`,
  arguments: { order },
});

const ran = (): readonly string[] => readFileSync(shop.log, "utf8").trim().split("\n");

async function eventsOf(run: AgentRun): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

describe.each(KINDS)("an agent on $api, $how", ({ api, stream }) => {
  async function open(
    script: readonly ScriptStep[],
    { onPacking, ...options }: Partial<AgentOptions> & { readonly onPacking?: () => void } = {},
  ): Promise<{ readonly agent: Agent; readonly model: ModelDouble; readonly arsenal: ToolArsenal }> {
    const model = await openModel(api, script);
    const arsenal = await openShop(shop, onPacking);
    opened.push(model, arsenal);
    expect(arsenal.toolCount).toBe(300);
    return { model, arsenal, agent: await openSeller(arsenal, model.settings, { stream, ...options }) };
  }

  /** Whatever a test asked, no request had more tools than allowed, and each came as the test says. */
  function checkRequests({ asked }: ModelDouble, count: number): void {
    expect(asked).toHaveLength(count);
    for (const { tools, streamed, system } of asked) {
      expect(tools.length).toBeLessThanOrEqual(LIMIT);
      expect(streamed).toBe(stream);
      expect(system).toBe("You serve the customers of a shop.");
    }
  }

  it("does a task of several steps with tools it was offered [004-agent-loop]", async () => {
    const { agent, model } = await open([
      ({ tools }) => {
        expect(tools.map(({ name }) => name)).toContain("shop-find_order");
        return { text: "Let me find the order.", calls: [call("find_order", "7")] };
      },
      ({ results }) => {
        expect(results).toMatchObject([
          { name: "shop-find_order", text: expect.stringContaining("rain jacket") as string },
        ]);
        return { calls: [call("find_order", "8")] };
      },
      { text: "You bought two rain jackets." },
    ]);
    const run = agent.run("Find my orders 7 and 8");
    const events = await eventsOf(run);
    const { status, text: said, usage } = await run.result;
    expect([status, said]).toEqual(["answered", "You bought two rain jackets."]);
    expect(usage.inputTokens).toBeGreaterThan(100);
    expect(events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("")).toBe(
      "Let me find the order.You bought two rain jackets.",
    );
    expect(ran()).toEqual(["find 7", "find 8"]);
    checkRequests(model, 3);
  });

  it("runs the calls of one turn at once, and answers each", async () => {
    const { agent, model } = await open([
      { calls: [call("weigh_order", "7"), call("weigh_order", "8")] },
      ({ results }) => ({ text: results.map(({ text: said }) => said).join(", ") }),
    ]);
    expect(await agent.execute("Weigh the orders 7 and 8")).toBe("7 weighs 2 kg, 8 weighs 2 kg");
    checkRequests(model, 2);
  });

  it("reads why a tool failed and does it another way, and reads what it may not do [004-agent-errors]", async () => {
    const { agent, model } = await open([
      { calls: [call("track_order", "7")] },
      ({ results: [failed] }) => {
        expect(failed?.text).toContain("The carrier does not answer.");
        return { calls: [call("find_order", "7"), call("erase_order", "7"), call("fly", "7")] };
      },
      ({ results: [found, denied, unknown] }) => {
        expect(found?.text).toContain("rain jacket");
        expect(denied?.text).toMatch(/delete_data[\s\S]*do not repeat this call/);
        expect(unknown?.text).toContain("search for a tool");
        return { text: "It is a rain jacket. I may not erase it." };
      },
    ]);
    expect(await agent.execute("Track order 7 and erase it")).toBe("It is a rain jacket. I may not erase it.");
    expect(ran()).toEqual(["find 7"]);
    checkRequests(model, 3);
  });

  it("pauses for an approval and goes on in a new process, and runs no call twice", async () => {
    const { agent, model, arsenal } = await open([
      { text: "I will refund it.", calls: [call("find_order", "7"), call("refund_order", "7")] },
      ({ results }) => ({ text: `Done: ${results.map(({ text: said }) => said).join(" and ")}` }),
    ]);
    const run = agent.run("Refund my order 7");
    const { status, approvals, traceId } = await run.result;
    expect([status, approvals.length]).toEqual(["paused", 1]);
    const saved = run.save();

    await arsenal.approvals.approve(approvals[0]?.confirmationId ?? "", DANA);
    await arsenal.close();
    const done = await resumeElsewhere(model, saved);
    expect(done).toMatchObject({ status: "answered", steps: 2, traceId });
    expect(done.text).toMatch(/^Done: .*rain jacket.* and refunded 7$/s);
    expect(done.pid).not.toBe(process.pid);
    expect(ran()).toEqual(["find 7", "refund 7"]);
    checkRequests(model, 2);
  });

  async function resumeElsewhere({ settings }: ModelDouble, saved: SavedRun): Promise<Printed> {
    const script = fileURLToPath(new URL("resume-process.ts", import.meta.url));
    const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
    const given: Resumed = { shop, settings, stream, saved };
    child.stdin.end(JSON.stringify(given));
    return JSON.parse(await text(child.stdout)) as Printed;
  }

  it("stops a call under way when it is aborted, and says so to the model when it is resumed", async () => {
    const stop = new AbortController();
    const script: ScriptStep[] = [
      { calls: [call("pack_order", "7")] },
      ({ results }) => ({ text: results[0]?.text ?? "" }),
    ];
    const { agent, model } = await open(script, { onPacking: () => stop.abort() });
    const run = agent.run("Pack order 7", { signal: stop.signal });
    expect((await run.result).status).toBe("aborted");
    expect(ran()).toEqual(["pack started", "pack aborted"]);
    checkRequests(model, 1);
    const { text: said } = await agent.resume(run.save()).result;
    expect(said).toMatch(/cancelled/i);
    expect(ran()).toHaveLength(2);
    checkRequests(model, 2);
  });

  it("gives results in words if it is asked to, and reads a function_call in words [004-agent-detect]", async () => {
    const spoken = JSON.stringify({ function_call: { name: "shop.find_order", arguments: '{"order":"7"}' } });
    const { agent, model } = await open(
      [
        { text: spoken },
        ({ prompt }) => {
          expect(prompt).toMatch(
            /^Tool Execution Result\nTool: shop.find_order\nArguments: \{"order": "7"\}\nOutput: .*jacket/,
          );
          return { calls: [call("find_order", "8")] };
        },
        ({ results }) => {
          expect(results[0]?.text).toMatch(/^Tool Execution Result\nTool: shop-find_order\nArguments: /);
          return { text: "A rain jacket." };
        },
      ],
      { resultFormat: "text" },
    );
    expect(await agent.execute("Find order 7")).toBe("A rain jacket.");
    checkRequests(model, 3);
  });

  it("ends the request to the model when it is aborted", async () => {
    const { agent, model } = await open([]);
    model.answerNext("hang");
    const stop = new AbortController();
    const run = agent.run("Find order 7", { signal: stop.signal });
    for await (const { type } of run) if (type === "tools-offered") setImmediate(() => stop.abort());
    expect((await run.result).status).toBe("aborted");
    await model.whenIdle();
  });
});
