import { expectTypeOf, describe, expect, it } from "vitest";
import { z } from "zod";
import { ToolArsenal, type ToolDraft, type ToolSource } from "../../src/index.ts";
import type { Source } from "../../src/adapters/sources/index.ts";
import { sampleTools } from "../../src/testing/index.ts";

const quiet = { telemetry: { enabled: false } } as const;

const add: ToolDraft = {
  name: "add_numbers",
  namespace: "maths",
  description: "Adds two numbers and returns the sum.",
  parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
};

function sourceOf(name: string, kind: ToolSource, tools: readonly string[]): Source {
  return {
    name,
    kind,
    connect: () => Promise.resolve(),
    list: () =>
      Promise.resolve(
        tools.map((tool) => ({
          draft: { name: tool, description: `Does ${tool} for the ${name} team.` },
          handler: () => `${name}:${tool}`,
        })),
      ),
    disconnect: () => Promise.resolve(),
  };
}

describe("registering", () => {
  it("takes a function with its options and infers what its handler gets [000-14-options] [001-invoker-typed]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const tool = arsenal.register(
      {
        name: "refund_order",
        namespace: "billing",
        description: "Gives the customer of an order the money back.",
        parameters: z.object({ order: z.string(), amount: z.number().optional() }),
        capabilities: ["financial"],
        requiresConfirmation: true,
        tags: ["refund"],
        examples: ["the customer wants the money back"],
      },
      (args) => {
        expectTypeOf(args).toEqualTypeOf<{ order: string; amount?: number | undefined }>();
        return args.order;
      },
    );
    expect(tool).toMatchObject({
      id: "billing.refund_order",
      capabilities: ["financial"],
      requiresConfirmation: true,
      tags: ["refund"],
      examples: ["the customer wants the money back"],
    });
    expect(await arsenal.getTool("refund_order", "billing")).toEqual(tool);
  });

  it("keeps tools of every kind of source in one catalog [000-2.2-one-catalog] [000-4.1-sources]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    for (const kind of ["mcp", "openapi", "a2a", "descriptor", "builtin"] as const) {
      expect(await arsenal.add(sourceOf(`from_${kind}`, kind, ["sync_calendar"]))).toBe(1);
    }
    await arsenal.addTool({ ...add, name: "sync_calendar" }, () => 1);
    const { tools } = await arsenal.retrieve({ context: { query: "sync calendar" }, limit: 10 });
    const kinds = tools.map(({ tool }) => tool.source).sort();
    expect(kinds).toEqual(["a2a", "builtin", "descriptor", "function", "mcp", "openapi"]);
  });
});

describe("retrieving", () => {
  it("publishes the five sample tools [000-12.1-samples]", () => {
    const names = sampleTools().map(({ name }) => name);
    expect(names.sort()).toEqual(["create_user", "generate_report", "process_refund", "query_database", "send_email"]);
  });
});

describe("an arsenal", () => {
  it("needs no arguments, and says which parts work [000-14-construct] [000-14-health-check]", async () => {
    await using arsenal = new ToolArsenal();
    expect(await arsenal.healthCheck()).toEqual({ store: true, state: true });
  });

  it("disconnects its ensembles on close, also where one fails to [001-ensemble-close]", async () => {
    const disconnected: string[] = [];
    const arsenal = new ToolArsenal(quiet);
    for (const name of ["first", "second", "third"]) {
      await arsenal.add({
        ...sourceOf(name, "mcp", ["x"]),
        disconnect: async () => {
          disconnected.push(name);
          if (name === "second") throw new Error("stuck");
        },
      });
    }
    await arsenal.close().catch(() => {});
    expect(disconnected.sort()).toEqual(["first", "second", "third"]);
  });
});
