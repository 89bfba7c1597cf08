import { describe, expect, it } from "vitest";
import { ToolArsenal } from "../../arsenal.ts";
import type { ToolArsenalConfig } from "../../config/config.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { parseConfig } from "../../config/load/load-config.ts";
import { resolveConfig } from "../../config/load/resolve-config.ts";
import type { ToolCall } from "../../execute/call.ts";
import { localOperator, type Principal } from "../../guard/principal.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import type { ToolQuery } from "../query.ts";
import type { RetrievalResult } from "../result.ts";

const DAY = 24 * 60 * 60_000;
const asked = "book a table in a restaurant";
const asWritten = ["booking_one", "booking_two"];
const reversed = ["booking_two", "booking_one"];
const learns: ToolArsenalConfig = { routing: { learning: { enabled: true } } };

interface Scene extends AsyncDisposable {
  readonly arsenal: ToolArsenal;
  readonly clock: ManualClock;
  find(query?: string, more?: Partial<ToolQuery>): Promise<RetrievalResult>;
  order(query?: string, more?: Partial<ToolQuery>): Promise<readonly string[]>;
}

/** Two tools that fit alike. The first leads, because ids decide between equals; what puts the second in front was learned. */
async function scene(config: ToolArsenalConfig = learns): Promise<Scene> {
  const clock = createManualClock(1_000 * DAY);
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, ...config, clock });
  const parameters = { type: "object", properties: { fail: { type: "boolean" } } } as const;
  for (const name of asWritten) {
    await arsenal.addTool({ name, description: "Books a table in a restaurant.", parameters }, (args) => {
      if (args["fail"] === true) throw new Error("the restaurant is full");
      return "booked";
    });
  }
  const find: Scene["find"] = (query = asked, more = {}) =>
    arsenal.retrieve({ context: { query }, scoreThreshold: 0, ...more });
  return {
    arsenal,
    clock,
    find,
    order: async (query, more) => (await find(query, more)).tools.map(({ tool }) => tool.name),
    [Symbol.asyncDispose]: () => arsenal.close(),
  };
}

const call: ToolCall = { toolName: "booking_two" };
const member = (id: string, tenant: string): Principal => localOperator({ id, tenant, local: false });

describe("an arsenal that learns from use", () => {
  it("puts the tool in front that was called for a request like this one", async () => {
    await using at = await scene();
    expect(await at.order()).toEqual(asWritten);
    expect((await at.arsenal.execute(call)).status).toBe("success");
    expect(await at.order()).toEqual(reversed);
    expect(await at.order("I want to book tables at two restaurants")).toEqual(reversed);
    await at.clock.advance(400 * DAY);
    expect((await at.find()).tools[0]?.signals.learned).toBeCloseTo(0.5, 6);
  });

  it("puts the tool behind that failed for it", async () => {
    await using at = await scene({ routing: { ...learns.routing, weights: { health: 0 } } });
    await at.find();
    await at.arsenal.execute({ toolName: "booking_one", arguments: { fail: true } });
    expect(await at.order()).toEqual(reversed);
  });

  it("does nothing unless it is switched on", async () => {
    await using at = await scene({});
    const before = await at.find(asked, { explain: true });
    await at.arsenal.execute(call);
    expect(await at.order()).toEqual(asWritten);
    expect(before.tools[0]?.signals).not.toHaveProperty("learned");
    expect(before.explanation?.chosen[0]?.signals.map(({ name }) => name)).not.toContain("learned");
  });

  it("shows in the explanation what learning adds, and the shares add up to the score", async () => {
    await using at = await scene();
    await at.find();
    await at.arsenal.execute(call);
    const { explanation } = await at.find(asked, { explain: true });
    for (const { score, signals } of explanation?.chosen ?? []) {
      expect(signals.reduce((sum, { contribution }) => sum + contribution, 0)).toBeCloseTo(score, 12);
    }
    const rows = explanation?.chosen.map(({ signals }) => signals.find(({ name }) => name === "learned"));
    expect(rows?.map((row) => row?.weight)).toEqual([0.08, 0.08]);
    expect(rows?.[0]?.value).toBeGreaterThan(0.6);
    expect(rows?.[0]?.contribution).toBeCloseTo((rows?.[0]?.value ?? 0) * 0.08, 12);
    expect(rows?.[1]?.value).toBeLessThan(0.5);
  });

  it("is configured under routing.learning, in code and in a file", async () => {
    expect(resolveConfig({}).routing.learning).toEqual({ enabled: false, halfLifeDays: 14, weight: 0.08 });
    const text = "routing:\n  learning:\n    enabled: true\n    half_life_days: 7\n";
    const { routing } = await parseConfig(text, "a.yaml", {});
    expect(routing.learning).toEqual({ enabled: true, halfLifeDays: 7, weight: 0.08 });
  });

  it("gives what was learned the configured weight", async () => {
    await using at = await scene({ routing: { learning: { enabled: true, weight: 0 } } });
    await at.find();
    await at.arsenal.execute(call);
    expect(await at.order()).toEqual(asWritten);
  });

  it("forgets at the configured pace", async () => {
    const after = async (halfLifeDays: number): Promise<number> => {
      await using at = await scene({ routing: { learning: { enabled: true, halfLifeDays } } });
      await at.find();
      await at.arsenal.execute(call);
      await at.clock.advance(30 * DAY);
      return (await at.find()).tools.find(({ tool }) => tool.name === "booking_two")?.signals.learned ?? 0;
    };
    expect(await after(1)).toBeCloseTo(0.5, 6);
    expect(await after(300)).toBeGreaterThan(0.65);
  });

  it("lifts no tool over the semantic threshold", async () => {
    await using at = await scene({ routing: { learning: { enabled: true, weight: 1 } } });
    const query = "cook a soup of tomatoes on a table";
    await at.find(query);
    for (let count = 0; count < 4; count++) await at.arsenal.execute(call);
    const found = await at.find(query);
    const fit = found.tools[0]?.semanticScore ?? 0;
    expect(found.tools[0]?.signals.learned).toBeGreaterThan(0.8);
    expect(await at.order(query, { scoreThreshold: fit + 0.01 })).toEqual([]);
  });
});

describe("calls that count", () => {
  const learnedOf = async (at: Scene, more: Partial<ToolQuery> = {}): Promise<number | undefined> =>
    (await at.find(asked, more)).tools.find(({ tool }) => tool.name === "booking_two")?.signals.learned;

  it("are those that ran: not refused, cancelled, waiting or malformed ones", async () => {
    await using at = await scene();
    await at.find();
    const malformed = { ...call, arguments: { fail: "yes" } };
    const statuses = [
      await at.arsenal.execute({ ...call, requireConfirmation: true }),
      await at.arsenal.execute({ ...call, signal: AbortSignal.abort() }),
      await at.arsenal.execute(malformed),
      await at.arsenal.execute({ toolName: "booking_nowhere" }),
    ].map(({ status }) => status);
    expect(statuses).toEqual(["pending_confirmation", "cancelled", "failure", "failure"]);
    expect(await learnedOf(at)).toBe(0.5);
  });

  it("are also those of a batch", async () => {
    await using at = await scene();
    await at.find();
    await at.arsenal.executeBatch({ calls: [{ toolName: "booking_one", arguments: { fail: true } }, call] });
    const learned = (await at.find()).tools.map(({ tool, signals }) => [
      tool.name,
      Math.sign((signals.learned ?? 0) - 0.5),
    ]);
    expect(Object.fromEntries(learned)).toEqual({ booking_one: -1, booking_two: 1 });
  });

  it("are also failures that the arsenal throws", async () => {
    await using at = await scene({ ...learns, execution: { onFailure: "throw" } });
    await at.find();
    await expect(at.arsenal.execute({ ...call, arguments: { fail: true } })).rejects.toThrow("full");
    expect(await learnedOf(at)).toBeLessThan(0.4);
  });

  it("teach their own tenant alone, one without a tenant too", async () => {
    await using at = await scene();
    const [ann, bob, eve] = [member("ann", "red"), member("bob", "red"), member("eve", "local")];
    await at.find(asked, { principal: ann });
    await at.arsenal.execute({ ...call, principal: ann });
    expect(await at.order(asked, { principal: bob })).toEqual(reversed);
    expect(await at.order(asked, { principal: eve })).toEqual(asWritten);
    expect(await at.order()).toEqual(asWritten);

    await at.find();
    await at.arsenal.execute({ ...call, arguments: { fail: true } });
    expect(await learnedOf(at)).toBeLessThan(0.4);
    expect(await learnedOf(at, { principal: eve })).toBe(0.5);
    expect(await learnedOf(at, { principal: bob })).toBeGreaterThan(0.6);
  });

  it("are those of the principal that searched", async () => {
    await using at = await scene();
    await at.find(asked, { principal: member("ann", "red") });
    await at.arsenal.execute({ ...call, principal: member("bob", "red") });
    expect(await learnedOf(at, { principal: member("bob", "red") })).toBe(0.5);
  });

  it("are forgotten with a tool that is deleted", async () => {
    await using at = await scene();
    await at.find();
    await at.arsenal.execute(call);
    expect(await learnedOf(at)).toBeGreaterThan(0.6);
    const tool = await at.arsenal.getTool("booking_two");
    await at.arsenal.deleteTool("booking_two");
    expect(await at.order()).toEqual(["booking_one"]);
    if (tool !== undefined) {
      const { name, description, parameters } = tool;
      await at.arsenal.addTool({ name, description, parameters });
    }
    expect(await learnedOf(at)).toBe(0.5);
  });

  it("belong to what the conversation was about where the request names nothing", async () => {
    await using at = await scene();
    const recentMessages = [{ role: "user", content: asked }];
    await at.find("do it again", { context: { query: "do it again", recentMessages } });
    await at.arsenal.execute(call);
    expect(await learnedOf(at)).toBeGreaterThan(0.6);
  });

  it("are not those that were cancelled on their way", async () => {
    await using at = await scene();
    const slow = await waiting(at);
    await at.find("take a nap");
    const controller = new AbortController();
    const running = at.arsenal.execute({ toolName: "take_nap", signal: controller.signal });
    await slow.started;
    controller.abort();
    expect((await running).status).toBe("cancelled");
    expect((await at.find("take a nap")).tools[0]?.signals.learned).toBe(0.5);
  });

  it("that fail by a mistake of the caller teach nothing", async () => {
    await using at = await scene();
    const draft = { name: "take_nap", description: "Takes a nap.", parameters: { type: "object" } };
    await at.arsenal.addTool(draft, () => {
      throw new ArsenalError("EXECUTION_FAILED", "no such bed", { answered: true });
    });
    await at.find("take a nap");
    expect((await at.arsenal.execute({ toolName: "take_nap" })).status).toBe("failure");
    expect((await at.find("take a nap")).tools[0]?.signals.learned).toBe(0.5);
  });

  it("belong to no retrieval that came while they ran", async () => {
    await using at = await scene();
    const slow = await waiting(at);
    const running = at.arsenal.execute({ toolName: "take_nap" });
    await slow.started;
    await at.clock.advance(10);
    await at.find("take a nap");
    slow.end();
    expect((await running).status).toBe("success");
    expect((await at.find("take a nap")).tools[0]?.signals.learned).toBe(0.5);
  });

  it("do not keep a deleted tool's circuit open when it comes back", async () => {
    await using at = await scene({ ...learns, execution: { circuitBreakerThreshold: 1 } });
    const draft = { name: "take_nap", description: "Takes a nap.", parameters: { type: "object" } };
    await at.arsenal.addTool(draft, () => Promise.reject(new Error("too loud")));
    expect((await at.arsenal.execute({ toolName: "take_nap" })).status).toBe("failure");
    expect((await at.arsenal.execute({ toolName: "take_nap" })).status).toBe("circuit_open");
    await at.arsenal.deleteTool("take_nap");
    await at.arsenal.addTool(draft, () => "rested");
    expect((await at.arsenal.execute({ toolName: "take_nap" })).status).toBe("success");
  });
});

/** Adds a tool that runs until it is told to end. */
async function waiting({ arsenal }: Scene): Promise<{ readonly started: Promise<void>; readonly end: () => void }> {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  await arsenal.addTool({ name: "take_nap", description: "Takes a nap.", parameters: { type: "object" } }, () => {
    started.resolve();
    return ended.promise;
  });
  return { started: started.promise, end: () => ended.resolve("rested") };
}
