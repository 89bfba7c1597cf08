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

  it("adds a tool from its definition alone, which can be found but not run [000-14-add-tool] [000-6.3-handler-missing]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const { id } = await arsenal.addTool(add);
    const { tools } = await arsenal.retrieve({ context: { query: "add two numbers" } });
    expect(tools.map(({ tool }) => tool.id)).toEqual([id]);
    const result = await arsenal.execute({ toolName: id, arguments: { a: 1, b: 2 } });
    expect(result.error?.code).toBe("HANDLER_MISSING");
  });

  it("registers the good tools of a batch and reports the bad ones [000-14-batch]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const outcome = await arsenal.addTools([{ tool: add }, { tool: { ...add, name: "bad", version: "latest" } }]);
    expect(arsenal.toolCount).toBe(1);
    expect(JSON.stringify(outcome)).toContain("latest");
  });

  it("indexes what is pending, says how much was new, and does nothing again [000-14-sync] [000-14-tool-count]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    for (const tool of sampleTools()) arsenal.register(draftOf(tool), () => "done");
    expect(arsenal.toolCount).toBe(5);
    expect(await arsenal.sync()).toBe(5);
    for (const tool of sampleTools()) arsenal.register(draftOf(tool), () => "done");
    expect(await arsenal.sync()).toBe(0);
    expect(arsenal.toolCount).toBe(5);
  });

  it("replaces a tool that is registered again [000-14-replace]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.addTool(add, () => "old");
    await arsenal.addTool({ ...add, version: "2.0.0" }, () => "new");
    const [tool, ...others] = await arsenal.listTools();
    expect(others).toEqual([]);
    expect(tool?.version).toBe("2.0.0");
    expect((await arsenal.execute({ toolName: "add_numbers", arguments: { a: 1, b: 1 } })).result).toBe("new");
  });

  it("gets, lists and deletes tools by name, namespace and source [000-14-get-tool] [000-14-list-tools] [000-14-delete-tool]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.addTool(add, () => 1);
    await arsenal.addTool({ ...add, namespace: "other", source: "descriptor" }, () => 1);
    expect((await arsenal.getTool("add_numbers", "maths"))?.id).toBe("maths.add_numbers");
    expect(await arsenal.getTool("add_numbers")).toBeUndefined();
    const ids = async (filter: Parameters<ToolArsenal["listTools"]>[0]): Promise<string[]> =>
      (await arsenal.listTools(filter)).map(({ id }) => id);
    expect(await ids({})).toEqual(["maths.add_numbers", "other.add_numbers"]);
    expect(await ids({ namespace: "other" })).toEqual(["other.add_numbers"]);
    expect(await ids({ source: "function" })).toEqual(["maths.add_numbers"]);
    expect(await arsenal.deleteTool("add_numbers", "maths")).toBe(true);
    expect(await arsenal.deleteTool("add_numbers", "maths")).toBe(false);
    expect(await ids({})).toEqual(["other.add_numbers"]);
    expect((await arsenal.retrieve({ context: { query: "add numbers" } })).tools).toHaveLength(1);
    const gone = await arsenal.execute({ toolName: "maths.add_numbers", arguments: { a: 1, b: 1 } });
    expect(gone.error?.code).toBe("TOOL_NOT_FOUND");
  });

  it("keeps tools of every kind of source in one catalog [000-2.2-one-catalog] [000-4.1-sources]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    for (const kind of ["mcp", "openapi", "a2a", "descriptor", "builtin"] as const) {
      expect(await arsenal.addEnsemble(sourceOf(`from_${kind}`, kind, ["sync_calendar"]))).toBe(1);
    }
    await arsenal.addTool({ ...add, name: "sync_calendar" }, () => 1);
    const { tools } = await arsenal.retrieve({ context: { query: "sync calendar" }, limit: 10 });
    const kinds = tools.map(({ tool }) => tool.source).sort();
    expect(kinds).toEqual(["a2a", "builtin", "descriptor", "function", "mcp", "openapi"]);
  });

  it("keeps tools of the same name in two ensembles apart [001-ensemble-names] [003-canonical-namespaced] [003-canonical-id]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.addEnsemble(sourceOf("red", "mcp", ["paint"]));
    await arsenal.addEnsemble(sourceOf("blue", "mcp", ["paint"]));
    expect((await arsenal.execute({ toolName: "red.paint" })).result).toBe("red:paint");
    expect((await arsenal.execute({ toolName: "blue.paint" })).result).toBe("blue:paint");
    const which = await arsenal.execute({ toolName: "paint" });
    expect(which.error?.code).toBe("TOOL_NOT_FOUND");
    expect(which.error?.message).toContain("red.paint");
    expect(which.error?.message).toContain("blue.paint");
  });
});

describe("retrieving", () => {
  it("hands the model five of many tools by default [000-1-few-tools]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    for (let n = 0; n < 40; n++) await arsenal.addTool({ ...add, name: `add_numbers_${n}` });
    expect(await arsenal.retrieveTools("add two numbers")).toHaveLength(5);
  });

  it("writes tools in the shape of each provider, OpenAI's by default [000-4.1-openai] [000-4.1-anthropic] [000-4.1-gemini] [000-4.2-shapes] [000-14-retrieve-tools] [002-registry-schema-shape]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.addTool({ ...add, namespace: "default" });
    const { name, description, parameters } = add;
    const shown = (dialect?: "openai" | "anthropic" | "gemini") =>
      arsenal.retrieveTools("add two numbers", dialect === undefined ? {} : { dialect });
    const openai = [{ type: "function", function: { name, description, parameters } }];
    expect(await shown()).toEqual(openai);
    expect(await shown("openai")).toEqual(openai);
    expect(await shown("anthropic")).toEqual([{ name, description, input_schema: parameters }]);
    const [gemini] = await shown("gemini");
    expect(gemini).toMatchObject({ name, description });
    expect(Object.values(gemini ?? {})).toContainEqual(parameters);
  });

  it("takes calls by the name it showed the model, and by id, qualified name and bare name [000-4.1-alias] [000-4.1-qualified-name] [001-flow-by-name]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.addTool({ ...add, namespace: "maths.basic" }, ({ a, b }) => Number(a) + Number(b));
    const [shown] = await arsenal.retrieveTools("add two numbers", { dialect: "anthropic" });
    const alias = String(shown?.["name"]);
    expect(alias).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    for (const toolName of [alias, "maths.basic.add_numbers", "maths.basic.add_numbers:1.0.0", "add_numbers"]) {
      expect([toolName, (await arsenal.execute({ toolName, arguments: { a: 20, b: 22 } })).result]).toEqual([
        toolName,
        42,
      ]);
    }
    const other = await arsenal.execute({ toolName: "maths.basic.add_numbers:2.0.0", arguments: { a: 1, b: 1 } });
    expect(other.error?.code).toBe("TOOL_NOT_FOUND");
  });

  it("reports its times [000-4.2-times] [000-14-retrieve]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.addTool(add);
    const result = await arsenal.retrieve({ context: { query: "add two numbers" } });
    expect(result.tools.map(({ tool }) => tool.name)).toEqual(["add_numbers"]);
    expect(result.searchTimeMs).toBeGreaterThan(0);
    expect(result.totalTimeMs).toBeGreaterThanOrEqual(result.queryEmbeddingTimeMs + result.searchTimeMs);
    expect(result.rerankTimeMs).toBeUndefined();
  });

  it("weighs the signals as documented, or as configured [000-6.1-weights] [000-6.1-weights-configured]", async () => {
    const weights = async (routing: object): Promise<Record<string, number>> => {
      await using arsenal = new ToolArsenal({ ...quiet, routing });
      await arsenal.addTool(add);
      const { explanation } = await arsenal.retrieve({ context: { query: "add two numbers" }, explain: true });
      return Object.fromEntries(explanation?.chosen[0]?.signals.map(({ name, weight }) => [name, weight]) ?? []);
    };
    expect(await weights({})).toMatchObject({
      semantic: 0.6,
      intent: 0.15,
      conversation: 0.1,
      health: 0.1,
      cost: 0.05,
    });
    expect(await weights({ weights: { semantic: 0.5, cost: 0.15 } })).toMatchObject({ semantic: 0.5, cost: 0.15 });
  });

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

  it("takes no more work once it is closed, and closes twice [000-14-close]", async () => {
    const arsenal = new ToolArsenal(quiet);
    await arsenal.close();
    await arsenal.close();
    const refused = expect.objectContaining({ code: "CLOSED" });
    expect(() => arsenal.register({ ...add }, () => 1)).toThrow(refused as Error);
    await expect(arsenal.execute({ toolName: "x" })).rejects.toEqual(refused);
    await expect(arsenal.retrieve({ context: { query: "x" } })).rejects.toEqual(refused);
  });

  it("disconnects its ensembles on close, also where one fails to [001-ensemble-close]", async () => {
    const disconnected: string[] = [];
    const arsenal = new ToolArsenal(quiet);
    for (const name of ["first", "second", "third"]) {
      await arsenal.addEnsemble({
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

function draftOf({ name, description, parameters, tags, examples }: ToolDraft): ToolDraft {
  return { name, description, parameters, tags: tags ?? [], examples: examples ?? [] };
}
