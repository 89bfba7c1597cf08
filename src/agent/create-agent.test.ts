import { describe, expect, it } from "vitest";
import { llmOf, ToolArsenal } from "../arsenal.ts";
import { memoryAudit } from "../adapters/audit/memory.ts";
import { createClient } from "../client/index.ts";
import type { ToolArsenalConfig } from "../config/config.ts";
import type { ToolArsenalParts } from "../wire/parts.ts";
import { createRunner, createToolset } from "../toolset/index.ts";
import { createPrincipal, type Principal } from "../guard/principal.ts";
import type { Tool } from "../tool/tool.ts";
import { type AgentOptions, createAgent } from "./create-agent.ts";
import type { AgentEvent } from "./agent-run.ts";
import type { Llm } from "./llm.port.ts";
import type { AgentArsenal } from "./offer-tools.ts";
import { scriptedLlm, say, type ScriptedLlm } from "../testing/scripted-llm.ts";

const principal = createPrincipal({ id: "agent", capabilities: ["read_data"] });

/** A shop of four tools, and what they did. */
function shop(
  parts: ToolArsenalParts = {},
  execution: ToolArsenalConfig["execution"] = {},
): { readonly arsenal: ToolArsenal; readonly ran: string[] } {
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, execution, ...parts });
  const ran: string[] = [];
  const order = { type: "object", properties: { order: { type: "string" } }, required: ["order"] } as const;
  const add = (name: string, description: string, handler: (order: string) => unknown): Tool =>
    arsenal.register({ name, description, parameters: order }, (args) => {
      ran.push(`${name} ${args.order}`);
      return handler(args.order);
    });
  add("find_order", "Finds an order of a customer.", (id) => ({ id, state: "delivered" }));
  add("refund_order", "Refunds an order: gives the customer money back.", (id) => `refunded ${id}`);
  add("track_order", "Tracks the parcel of an order.", () => {
    throw new Error("The carrier is down.");
  });
  arsenal.register(
    { name: "close_order", description: "Closes an order for good.", parameters: order, capabilities: ["delete_data"] },
    () => "closed",
  );
  return { arsenal, ran };
}

async function eventsOf(run: AsyncIterable<AgentEvent>): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

const resultsIn = ({ requests }: ScriptedLlm, request: number): readonly { toolName: string; status: string }[] => {
  const last = requests[request]?.messages.at(-1);
  return last?.role === "tool" ? last.results.map(({ result }) => result) : [];
};

describe("an agent", () => {
  it("is built from a model, a system prompt and a name, and answers in words [004-agent-build]", async () => {
    const { arsenal } = shop();
    const llm = scriptedLlm([say("96")]);
    const agent = createAgent({ llm, arsenal, principal, systemPrompt: "You calculate.", name: "Calculator Agent" });
    expect(agent.name).toBe("Calculator Agent");
    expect(await agent.execute("What is 12 * 8?")).toBe("96");
    expect(llm.requests[0]).toMatchObject({
      system: "You calculate.",
      messages: [{ role: "user", text: "What is 12 * 8?" }],
    });
  });

  it("runs the model's calls and continues with their results [004-agent-loop] [002-integration-reasoning]", async () => {
    const { arsenal, ran } = shop();
    const llm = scriptedLlm([
      say("Let me look.", ["find_order", { order: "7" }], ["find_order", { order: "8" }]),
      say("", ["find_order", { order: "9" }]),
      say("All delivered."),
    ]);
    const agent = createAgent({ llm, arsenal, principal, limit: 2 });
    const run = agent.run("Find the orders of the customer");
    const events = await eventsOf(run);
    const result = await run.result;

    expect(result).toMatchObject({ status: "answered", text: "All delivered.", steps: 3 });
    expect(result.usage).toEqual({ inputTokens: 30, outputTokens: 15 });
    expect(ran).toEqual(["find_order 7", "find_order 8", "find_order 9"]);
    expect(events.map(({ type }) => type).join(" ")).toBe(
      "step-started tools-offered text call-started call-started call-finished call-finished " +
        "step-started tools-offered call-started call-finished step-started tools-offered text finished",
    );
    expect(events[1]).toMatchObject({ tools: [{ score: expect.any(Number) as number, because: "retrieved" }, {}] });
    expect(llm.requests.every(({ tools }) => tools.length <= 2)).toBe(true);
    const roles = result.messages.map(({ role }) => role).join(" ");
    expect(roles).toBe("user assistant tool assistant tool assistant");
  });

  it("gives failures, denials and unknown tools to the model to read, and goes on [004-agent-errors]", async () => {
    const { arsenal } = shop();
    const llm = scriptedLlm([
      say(
        "",
        ["track_order", { order: "7" }],
        ["close_order", { order: "7" }],
        ["fly_to_moon", {}],
        ["find_order", { wrong: 1 }],
      ),
      say("I could not do that."),
    ]);
    const agent = createAgent({ llm, arsenal, principal });
    expect(await agent.execute("Track order 7")).toBe("I could not do that.");
    expect(resultsIn(llm, 1)).toMatchObject([
      { status: "failure", error: { message: "The carrier is down." } },
      { status: "permission_denied" },
      { status: "failure", error: { code: "TOOL_NOT_FOUND" } },
      { status: "failure", error: { code: "ARGUMENTS_INVALID" } },
    ]);
  });

  it("traces every call and search of a run under one id", async () => {
    const { arsenal } = shop();
    const seen: unknown[] = [];
    arsenal.subscribe(({ name, data }) => {
      if (name === "retrieval-finished" || name === "call-finished") seen.push(data.traceId);
    });
    const llm = scriptedLlm([say("", ["find_order", { order: "7" }]), say("Done.")]);
    const { traceId } = await createAgent({ llm, arsenal, principal }).run("Find order 7").result;
    await arsenal.close(); // every event was handed out
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(seen).toEqual([traceId, traceId, traceId]);
  });

  it("looks through its toolset, and every call is recorded with toolset, caller and trace", async () => {
    const audit = memoryAudit();
    const { arsenal } = shop({ audit });
    await createToolset("finding").fromCatalog(arsenal).withTools("default.find_order").build();
    const llm = scriptedLlm([say("", ["find_order", { order: "7" }], ["refund_order", { order: "7" }]), say("Done.")]);
    const agent = createAgent({ llm, arsenal, principal, toolset: "finding" });
    const { traceId } = await agent.run("Refund an order").result;
    expect(llm.requests[0]?.tools.map(({ id }) => id)).toEqual(["default.find_order", "default.find_tools"]);
    expect(resultsIn(llm, 1)).toMatchObject([{ status: "success" }, { error: { code: "TOOL_NOT_FOUND" } }]);
    const narrowed = scriptedLlm(["Done."]);
    await createAgent({ llm: narrowed, arsenal: createRunner(arsenal, "finding"), principal }).execute(
      "Refund an order",
    );
    expect(narrowed.requests[0]?.tools.map(({ id }) => id)).toEqual(["default.find_order", "default.find_tools"]);
    const recorded = { kind: "call", toolset: "finding", principal: "agent", traceId };
    expect(audit.lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([recorded, recorded]);
  });

  it("leaves out tools below its score threshold", async () => {
    const { arsenal } = shop();
    const llm = scriptedLlm(["Done.", "Done."]);
    const closer = { ...principal, capabilities: ["delete_data"] as const };
    const shared = { llm, arsenal, principal: closer, findTools: false };
    await createAgent(shared).execute("Refund order 7");
    await createAgent({ ...shared, scoreThreshold: 0.99 }).execute("Refund order 7");
    expect(llm.requests.map(({ tools }) => tools.length)).toEqual([4, 0]);
  });

  it("offers the model no tool that its principal may not call, not even a pinned one", async () => {
    const { arsenal } = shop();
    const llm = scriptedLlm(["Done."]);
    await createAgent({ llm, arsenal, principal, pinned: ["close_order"] }).execute("Close order 7 for good");
    expect(llm.requests[0]?.tools.map(({ id }) => id).sort()).toEqual([
      "default.find_order",
      "default.find_tools",
      "default.refund_order",
      "default.track_order",
    ]);
  });

  it("gives the model the beginning of a result that is too long, and its followers the whole", async () => {
    const { arsenal } = shop();
    const parameters = { type: "object", properties: {} } as const;
    const rows = Array.from({ length: 500 }, (_, row) => ({ row }));
    const image = { content: [{ type: "image", mimeType: "image/png", data: "A".repeat(500) }] };
    arsenal.register({ name: "export_orders", description: "Exports all orders.", parameters }, () => rows);
    arsenal.register({ name: "draw_orders", description: "Draws all orders.", parameters }, () => image);
    const llm = scriptedLlm([say("", ["export_orders", {}], ["draw_orders", {}]), say("Many.")]);
    const events = await eventsOf(
      createAgent({ llm, arsenal, principal, maxResultLength: 100 }).run("Export all orders"),
    );

    const length = JSON.stringify(rows).length;
    expect(resultsIn(llm, 1)).toMatchObject([
      { result: expect.stringMatching(`\n.The first 100 of ${length} characters`) as string },
      { result: image },
    ]);
    const finished = events.filter((event) => event.type === "call-finished");
    expect(finished.map(({ result }) => result.result)).toEqual(expect.arrayContaining([rows, image]));
  });

  it("reads failures that the arsenal throws, too", async () => {
    const { arsenal } = shop({}, { onFailure: "throw" });
    const llm = scriptedLlm([say("", ["track_order", { order: "7" }]), say("It failed.")]);
    expect(await createAgent({ llm, arsenal, principal }).execute("Track order 7")).toBe("It failed.");
    expect(resultsIn(llm, 1)).toMatchObject([{ status: "failure", error: { message: "The carrier is down." } }]);
  });

  it("keeps a tool that was called on offer, and offers the pinned ones first", async () => {
    const { arsenal } = shop();
    const llm = scriptedLlm([
      say("", ["track_order", { order: "7" }]),
      say("", ["find_order", { order: "7" }]),
      say("Done."),
    ]);
    const agent = createAgent({ llm, arsenal, principal, limit: 3, pinned: ["refund_order"] });
    const run = agent.run("Find the order of a customer");
    const offers = (await eventsOf(run)).flatMap((event) => (event.type === "tools-offered" ? [event.tools] : []));
    expect(offers[0]?.[0]).toEqual({ id: "default.refund_order", because: "pinned" });
    expect(offers[1]?.map(({ id, because }) => [id, because])).toContainEqual(["default.track_order", "used"]);
    expect(offers.every((tools) => tools.length <= 3)).toBe(true);
  });

  it("finds tools for what the model says it needs next, not for the request alone", async () => {
    const { arsenal } = shop();
    const llm = scriptedLlm([say("I will refund it: money back.", ["find_order", { order: "7" }]), say("Done.")]);
    const agent = createAgent({ llm, arsenal, principal, limit: 2 });
    await agent.execute("Where is the parcel?");
    expect(llm.requests[0]?.tools.map(({ name }) => name)).not.toContain("refund_order");
    expect(llm.requests[1]?.tools.map(({ name }) => name)).toContain("refund_order");
  });

  it("offers nothing but the search if no tool fits, and the model can still answer", async () => {
    const { arsenal } = shop();
    const llm = scriptedLlm([say("Roses are red.")]);
    expect(await createAgent({ llm, arsenal, principal }).execute("zzz qqq xxx")).toBe("Roses are red.");
    expect(llm.requests[0]?.tools.map(({ name }) => name)).toEqual(["find_tools"]);
  });

  it("goes on with an earlier conversation", async () => {
    const { arsenal } = shop();
    const llm = scriptedLlm([say("", ["find_order", { order: "7" }]), say("Delivered."), say("You are welcome.")]);
    const agent = createAgent({ llm, arsenal, principal });
    const first = await agent.run("Find order 7").result;
    const second = await agent.run("Thank you", { history: first.messages, summary: "They like tea." }).result;
    expect(second.messages).toHaveLength(6);
    expect(second.usage).toEqual({ inputTokens: 10, outputTokens: 5 });
    expect(llm.requests[2]?.tools.map(({ name }) => name)).toContain("find_order");
    expect(llm.requests[2]?.system).toContain("They like tea.");
  });

  it.each([
    ["step-limit", { maxSteps: 2 }],
    ["token-limit", { maxTokens: 20 }],
  ] as const)("stops at the %s, without running calls that nobody would read", async (status, budget) => {
    const { arsenal, ran } = shop();
    const call = say("", ["find_order", { order: "7" }]);
    const agent = createAgent({ llm: scriptedLlm([call, call, call]), arsenal, principal, ...budget });
    const result = await agent.run("Find order 7").result;
    expect(result).toMatchObject({ status, steps: 2 });
    expect(ran).toHaveLength(1);
    const last = result.messages.at(-1);
    expect(last?.role === "tool" && last.results[0]?.result).toMatchObject({ status: "cancelled", attempts: 0 });
    const again = createAgent({ llm: scriptedLlm([call, call, call]), arsenal, principal, ...budget });
    await expect(again.execute("Find order 7")).rejects.toMatchObject({ code: "AGENT_STOPPED" });
  });

  it("counts tokens itself where the provider does not", async () => {
    const { arsenal } = shop();
    const silent = { ...say("", ["find_order", { order: "7" }]), usage: { inputTokens: 0, outputTokens: 0 } };
    const agent = createAgent({ llm: scriptedLlm([silent, silent]), arsenal, principal, maxTokens: 10 });
    const result = await agent.run("Find order 7").result;
    expect(result.status).toBe("token-limit");
    expect(result.usage.inputTokens).toBeGreaterThan(10);
  });

  it("fails with the model's error, and can be resumed", async () => {
    const { arsenal } = shop();
    const llm = scriptedLlm([say("", ["find_order", { order: "7" }]), new Error("503"), say("Delivered.")]);
    const agent = createAgent({ llm, arsenal, principal });
    const run = agent.run("Find order 7");
    await expect(eventsOf(run)).rejects.toThrow("503");
    await expect(run.result).rejects.toThrow("503");
    const resumed = await agent.resume(run.save()).result;
    expect(resumed).toMatchObject({ status: "answered", text: "Delivered.", steps: 2 });
  });

  it.each([
    ["an empty request", { input: " " }, "input"],
    ["a limit of 0", { limit: 0 }, "limit"],
    ["more pinned tools than are offered", { limit: 1, pinned: ["a", "b"] }, "pinned"],
    ["a model that is not configured", { llm: llmOf(new ToolArsenal()) as Llm }, "llm"],
    ["something that is not an arsenal", { arsenal: {} as AgentArsenal }, "arsenal"],
    ["a misspelled result format", { resultFormat: "texts" as "text" }, "resultFormat"],
    ["one pinned tool that is not in a list", { pinned: "shop.refund" as unknown as string[] }, "pinned"],
    ["no steps", { maxSteps: 0 }, "maxSteps"],
    ["a token budget that is not a number", { maxTokens: Number.NaN }, "maxTokens"],
  ])("refuses %s", (_what, given: Partial<AgentOptions> & { readonly input?: string }, field) => {
    const { arsenal } = shop();
    const { input = "Hello", ...options } = given;
    expect(() => createAgent({ llm: scriptedLlm([]), arsenal, principal, ...options }).run(input)).toThrow(
      expect.objectContaining({ code: "QUERY_INVALID", details: expect.objectContaining({ field }) as object }),
    );
  });

  it("refuses to run without a principal, unless the credentials of a client identify the caller", () => {
    const { arsenal } = shop();
    const llm = scriptedLlm([]);
    for (const missing of [{}, { principal: null as unknown as Principal }])
      expect(() => createAgent({ llm, arsenal, ...missing })).toThrow(
        expect.objectContaining({
          code: "INPUT_INVALID",
          message: expect.stringContaining("createPrincipal({ id:") as string,
          details: expect.objectContaining({ field: "principal" }) as object,
        }),
      );
    expect(createAgent({ llm, arsenal: createClient({ url: "http://127.0.0.1:1" }) }).name).toBe("agent");
  });
});
