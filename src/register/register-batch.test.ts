import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Emit } from "../observe/events.ts";
import type { HandlerContext } from "../tool/handler.ts";
import { type BatchRegistration, registerBatch } from "./register-batch.ts";
import type { Registration } from "./registry.ts";

const good = { name: "add", description: "Adds two numbers.", parameters: { type: "object" } };

async function register(batch: readonly unknown[]) {
  const added: Registration[] = [];
  const events: [string, unknown][] = [];
  const emit: Emit = (name, data) => void events.push([name, data]);
  const registry = { add: (entries: readonly Registration[]) => (added.push(...entries), []) };
  return { outcome: await registerBatch(registry, batch as readonly BatchRegistration[], emit), added, events };
}

describe("registerBatch", () => {
  it("registers the good ones and reports each bad one with its place [000-14-batch]", async () => {
    const handler = (): number => 1;
    const { outcome, added, events } = await register([
      { tool: { ...good, name: "?!" } },
      { tool: good, handler },
      null,
      { tool: { ...good, name: "sub" }, handler: "no function" },
      { tool: { ...good, name: "mul" } },
      { handler },
    ]);
    expect(outcome.registered.map(({ id }) => id)).toEqual(["default.add", "default.mul"]);
    expect(added.map((entry) => entry.handler)).toEqual([handler, undefined]);
    expect(outcome.rejected.map(({ index, name, error }) => [index, name, error.code])).toEqual([
      [0, "?!", "TOOL_INVALID"],
      [2, "", "TOOL_INVALID"],
      [3, "sub", "TOOL_INVALID"],
      [5, "", "TOOL_INVALID"],
    ]);
    expect(events[0]).toEqual([
      "tool-rejected",
      { name: "?!", code: "TOOL_INVALID", message: outcome.rejected[0]?.error.message },
    ]);
    expect(events).toHaveLength(4);
  });

  it("takes a library's schema together with its handler, and hands over what the schema returns", async () => {
    const parameters = z.object({ n: z.string().transform(Number) });
    const { added } = await register([{ tool: { ...good, parameters }, handler: ({ n }: { n: number }) => n + 1 }]);
    expect(await added[0]?.handler?.({ n: "41" }, {} as HandlerContext)).toBe(42);
  });

  it("reports a definition that throws when it is read", async () => {
    const hostile = new Proxy({}, { ownKeys: () => { throw new Error("no"); } }); // prettier-ignore
    expect((await register([{ tool: hostile }, { tool: good }])).outcome).toMatchObject({
      registered: [{ id: "default.add" }],
      rejected: [{ index: 0, error: { message: "The definition cannot be read: no" } }],
    });
  });

  it("reports a definition whose very name throws, and registers the others", async () => {
    const hostile = { get name() { throw new Error("no name"); } }; // prettier-ignore
    expect((await register([{ tool: hostile }, { tool: good }])).outcome).toMatchObject({
      registered: [{ id: "default.add" }],
      rejected: [{ index: 0, name: "", error: { message: "The definition cannot be read: no name" } }],
    });
  });

  it("refuses what is no array", async () => {
    await expect(register({ tool: good } as never)).rejects.toThrow("Give an array of { tool, handler }.");
  });

  it("reports those that the policy's limits leave out, each in its place", async () => {
    const error = new ArsenalError("TOOL_INVALID", "Too many.");
    const registry = {
      add: (entries: readonly Registration[]) => entries.slice(1).map(({ tool }) => ({ tool, error })),
    };
    const batch = [good, { ...good, name: "sub" }, { ...good, name: "mul" }].map((tool) => ({ tool }));
    const outcome = await registerBatch(registry, batch, () => {});
    expect(outcome.registered.map(({ name }) => name)).toEqual(["add"]);
    expect(outcome.rejected.map(({ index, name }) => [index, name])).toEqual([
      [1, "sub"],
      [2, "mul"],
    ]);
  });
});
