import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type ArsenalEvent, type Tool, localOperator, type Reranker, ToolArsenal, type ToolDraft } from "./index.ts";
import type { Source } from "./adapters/sources/index.ts";
import { createHashingEmbedder } from "./testing/index.ts";

const quiet = { telemetry: { enabled: false } } as const;

const look: ToolDraft = {
  name: "look_around",
  description: "Looks around and says what it sees.",
  parameters: { type: "object" },
};

describe("register", () => {
  const about = { description: "Repeats a text some times." };
  const call = { toolName: "repeat", arguments: { text: "ab", times: 2 } };

  it("takes a Zod schema, whose defaults and transforms reach the handler", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const parameters = z.object({
      text: z.string().transform((text) => text.toUpperCase()),
      times: z.number().default(3),
    });
    arsenal.register({ ...about, name: "repeat", parameters }, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ text: string; times: number }>();
      return args.text.repeat(args.times);
    });
    expect((await arsenal.execute(call)).result).toBe("ABAB");
    expect((await arsenal.execute({ ...call, arguments: { text: "a" } })).result).toBe("AAA");
  });

  it("takes a Valibot schema that says its JSON Schema", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const parameters = toStandardJsonSchema(v.object({ text: v.string(), times: v.pipe(v.number(), v.minValue(1)) }));
    const tool = arsenal.register({ ...about, name: "repeat", parameters }, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ text: string; times: number }>();
      return args.text.repeat(args.times);
    });
    expect(tool.parameters).toMatchObject({ properties: { times: { type: "number", minimum: 1 } } });
    expect((await arsenal.execute(call)).result).toBe("abab");
    const refused = await arsenal.execute({ ...call, arguments: { text: "ab", times: 0 } });
    expect(refused.error?.code).toBe("ARGUMENTS_INVALID");
  });

  it("takes an ArkType schema", async () => {
    await using arsenal = new ToolArsenal(quiet);
    arsenal.register(
      { ...about, name: "repeat", parameters: type({ text: "string", times: "number >= 1" }) },
      (args) => {
        expectTypeOf(args).toEqualTypeOf<{ text: string; times: number }>();
        return args.text.repeat(args.times);
      },
    );
    expect((await arsenal.execute(call)).result).toBe("abab");
    expect((await arsenal.execute({ ...call, arguments: { text: "ab", times: 0 } })).error?.code).toBe(
      "ARGUMENTS_INVALID",
    );
  });

  it("takes JSON Schema", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const parameters = {
      type: "object",
      properties: { text: { type: "string" }, times: { type: "integer", default: 1 } },
      required: ["text"],
    } as const;
    arsenal.register({ ...about, name: "repeat", parameters }, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ readonly text: string; readonly times?: number }>();
      return args.text.repeat(args.times ?? 0);
    });
    expect((await arsenal.execute({ ...call, arguments: { text: "ab" } })).result).toBe("ab");
  });

  it("refuses a Valibot schema that is not an object's, and says what to write", () => {
    const arsenal = new ToolArsenal(quiet);
    expect(() => arsenal.register({ ...about, name: "x", parameters: v.string() as never }, () => 1)).toThrow(
      expect.objectContaining({
        code: "TOOL_INVALID",
        message: expect.stringContaining("Use v.object({ … })") as string,
      }) as Error,
    );
  });

  it("names the tool after its function where no name is given", () => {
    const arsenal = new ToolArsenal(quiet);
    const tool = arsenal.register({ ...about, parameters: { type: "object" } }, function calculateSalesTax() {
      return 1;
    });
    expect(tool.id).toBe("default.calculate_sales_tax");
  });

  it("starts indexing at once with syncOnRegister", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, syncOnRegister: true, autoSync: false });
    const synced = new Promise<ArsenalEvent>((resolve) => {
      arsenal.subscribe((event) => event.name === "catalog-synced" && resolve(event));
    });
    arsenal.register({ ...look }, () => 1);
    expect((await synced).data).toMatchObject({ indexed: 1, total: 1 });
  });
});

describe("tools that change", () => {
  it("are indexed again only where something changed", async () => {
    const embedded: string[] = [];
    const embedder = createHashingEmbedder({ onEmbed: (texts) => embedded.push(...texts) });
    await using arsenal = new ToolArsenal(quiet, { embedder });
    await arsenal.addTools([{ tool: look }, { tool: { ...look, name: "walk_about" } }]);
    expect(await arsenal.sync()).toBe(2);
    expect(embedded).toHaveLength(2);
    await arsenal.addTools([{ tool: look }, { tool: { ...look, name: "walk_about", tags: ["feet"] } }]);
    expect(await arsenal.sync()).toBe(1);
    expect(embedded).toHaveLength(3);
    expect(embedded[2]).toContain("walk");
  });

  it("run their new handler, under their new version", async () => {
    await using arsenal = new ToolArsenal(quiet);
    arsenal.register({ ...look }, () => "old");
    expect((await arsenal.execute({ toolName: "look_around" })).result).toBe("old");
    arsenal.register({ ...look, version: "2.0.0" }, () => "new");
    expect((await arsenal.execute({ toolName: "default.look_around:2.0.0" })).result).toBe("new");
    const gone = await arsenal.execute({ toolName: "default.look_around:1.0.0" });
    expect(gone.error?.message).toContain('the registered version is "default.look_around:2.0.0"');
    expect(arsenal.toolCount).toBe(1);
  });

  it("are checked against their new parameters", async () => {
    await using arsenal = new ToolArsenal(quiet);
    arsenal.register({ ...look }, () => 1);
    await arsenal.execute({ toolName: "look_around" });
    arsenal.register({ ...look, parameters: { type: "object", required: ["where"] } }, () => 1);
    expect((await arsenal.execute({ toolName: "look_around" })).error?.code).toBe("ARGUMENTS_INVALID");
  });

  it("are not held to the failures of the tool they replace, or that was deleted", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, execution: { circuitBreakerThreshold: 1 } });
    const broken = (): never => {
      throw new Error("broken");
    };
    const status = async (): Promise<string> => (await arsenal.execute({ toolName: "look_around" })).status;
    arsenal.register({ ...look }, broken);
    expect([await status(), await status()]).toEqual(["failure", "circuit_open"]);
    arsenal.register({ ...look, version: "1.0.1" }, () => "fixed");
    expect(await status()).toBe("success");
    arsenal.register({ ...look, version: "1.0.2" }, broken);
    expect([await status(), await status()]).toEqual(["failure", "circuit_open"]);
    expect(arsenal.health("default.look_around").totalCalls).toBeGreaterThan(0);
    await arsenal.deleteTool("look_around");
    expect(arsenal.health("default.look_around")).toMatchObject({ totalCalls: 0, circuitOpen: false });
    arsenal.register({ ...look }, () => "back");
    expect(await status()).toBe("success");
  });
});

describe("addTools", () => {
  it("registers the others where one is bad, and says which and why", async () => {
    const events: ArsenalEvent[] = [];
    await using arsenal = new ToolArsenal(quiet);
    arsenal.subscribe((event) => events.push(event));
    const outcome = await arsenal.addTools([
      { tool: { ...look, name: "one" } },
      { tool: { ...look, name: "?!" } },
      { tool: { ...look, name: "three" } },
    ]);
    expect(outcome.registered.map(({ id }) => id)).toEqual(["default.one", "default.three"]);
    expect(outcome.rejected).toMatchObject([{ index: 1, name: "?!", error: { code: "TOOL_INVALID" } }]);
    expect(arsenal.toolCount).toBe(2);
    await arsenal.close();
    expect(events.map(({ name }) => name)).toContain("tool-rejected");
  });
});

describe("ensembles", () => {
  const offering = (...names: readonly string[]): Source => ({
    name: "garden",
    kind: "mcp",
    connect: async () => {},
    list: async () => names.map((name) => ({ draft: { name, description: null }, handler: () => name })),
    disconnect: async () => {},
  });

  it("bring their tools and take them away again", async () => {
    await using arsenal = new ToolArsenal(quiet);
    expect(await arsenal.addEnsemble(offering("Plant-Tree", "water"))).toBe(2);
    expect((await arsenal.execute({ toolName: "garden.plant_tree" })).result).toBe("Plant-Tree");
    expect(await arsenal.removeEnsemble("garden")).toBe(true);
    expect(await arsenal.removeEnsemble("garden")).toBe(false);
    expect([arsenal.toolCount, await arsenal.listTools()]).toEqual([0, []]);
  });

  it("are indexed at once with syncOnRegister", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, syncOnRegister: true, autoSync: false });
    await arsenal.addEnsemble(offering("water"));
    expect(await arsenal.listTools()).toHaveLength(1);
  });

  it("that cannot be reached are refused and leave nothing behind", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const broken = { ...offering("water"), connect: () => Promise.reject(new Error("no route")) };
    await expect(arsenal.addEnsemble(broken)).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });
    expect(await arsenal.addEnsemble(offering("water"))).toBe(1);
  });
});

describe("looking at the tools", () => {
  it("shows a principal what policy lets it see, and hides the rest from every question", async () => {
    const seenBy = {
      sees: (tool: { namespace: string }, { id }: { id: string }) => tool.namespace === id || id === "local",
    };
    const policy = { ...seenBy, decide: () => ({ effect: "allow" as const }) };
    await using arsenal = new ToolArsenal(quiet, { policy });
    await arsenal.addTools(
      ["red", "blue"].map((namespace) => ({ tool: { ...look, namespace }, handler: () => namespace })),
    );
    const principal = localOperator({ id: "red" });
    expect((await arsenal.listTools({ principal })).map(({ id }) => id)).toEqual(["red.look_around"]);
    const { tools } = await arsenal.retrieve({ context: { query: "look around" }, principal });
    expect(tools.map(({ tool }) => tool.id)).toEqual(["red.look_around"]);
    const hidden = await arsenal.execute({ toolName: "blue.look_around", principal });
    expect(hidden.error?.code).toBe("TOOL_NOT_FOUND");
    expect(await arsenal.listTools()).toHaveLength(2);
  });

  it("hides what nobody may see from getTool as from everything else", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, security: { deny: ["look_*"] } });
    await arsenal.addTool(look);
    expect([await arsenal.getTool("look_around"), await arsenal.listTools()]).toEqual([undefined, []]);
  });

  it("finds by exactly that name and namespace", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.addTool({ ...look, namespace: "red" });
    expect((await arsenal.getTool("look_around", "red"))?.id).toBe("red.look_around");
    expect(await arsenal.getTool("look_around")).toBeUndefined();
    expect(await arsenal.getTool("red.look_around")).toBeUndefined();
  });
});

describe("parts of one's own", () => {
  const tools = ["send_email", "send_letter"].map((name) => ({
    tool: { ...look, name, description: `${name.replace("_", " a ")} to somebody.` },
  }));

  it("an embedder ranks, and is named as what ranked", async () => {
    await using arsenal = new ToolArsenal(quiet, { embedder: createHashingEmbedder() });
    await arsenal.addTools(tools);
    const result = await arsenal.retrieve({ context: { query: "send a letter to somebody" }, scoreThreshold: 0 });
    expect([result.tier, result.tools[0]?.tool.name]).toEqual(["hashing-256", "send_letter"]);
    expect(await arsenal.healthCheck()).toEqual({ store: true, embedder: true, state: true });
  });

  const backwards: Reranker = {
    model: "backwards",
    rerank: async (_query, ranked) => ranked.map((_, index) => index / ranked.length),
  };
  const first = async (arsenal: ToolArsenal, enableReranking?: boolean): Promise<string | undefined> => {
    const query = { context: { query: "send email" }, scoreThreshold: 0 };
    const result = await arsenal.retrieve(enableReranking === undefined ? query : { ...query, enableReranking });
    return result.tools[0]?.tool.name;
  };

  it("a reranker orders again where the query, or the configuration, asks for it", async () => {
    await using asked = new ToolArsenal(quiet, { reranker: backwards });
    await asked.addTools(tools);
    expect([await first(asked), await first(asked, true)]).toEqual(["send_email", "send_letter"]);
    await using always = new ToolArsenal({ ...quiet, reranker: { enabled: true } }, { reranker: backwards });
    await always.addTools(tools);
    expect([await first(always), await first(always, false)]).toEqual(["send_letter", "send_email"]);
  });

  it("a dialect writes the definitions", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.addTool(look);
    const dialect = { name: "mine", fromCanonical: ({ id }: Tool) => ({ call: id }) };
    expect(await arsenal.retrieveTools("look around", { dialect })).toEqual([{ call: "default.look_around" }]);
  });

  it.each(["opnai", "toString", 5, null, {}])("a dialect that is none is refused: %j", async (dialect) => {
    await using arsenal = new ToolArsenal(quiet);
    await expect(arsenal.retrieveTools("look around", { dialect: dialect as "openai" })).rejects.toMatchObject({
      code: "QUERY_INVALID",
      details: { field: "dialect", value: dialect, fix: expect.stringContaining("openai") as string },
    });
  });
});

describe("failures", () => {
  it("are thrown with onFailure: throw, but for a call that waits for a person", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, execution: { onFailure: "throw" } });
    await arsenal.addTool(look, () => {
      throw new Error("blind");
    });
    await arsenal.addTool({ ...look, name: "delete_all" }, () => 1);
    await expect(arsenal.execute({ toolName: "look_around" })).rejects.toMatchObject({
      name: "ArsenalError",
      code: "EXECUTION_FAILED",
      message: expect.stringContaining("blind") as string,
      cause: { status: "failure" },
    });
    await expect(arsenal.execute({ toolName: "nowhere" })).rejects.toMatchObject({ code: "TOOL_NOT_FOUND" });
    expect((await arsenal.execute({ toolName: "delete_all" })).status).toBe("pending_confirmation");
  });
});

describe("close", () => {
  it("may be called twice, and leaves nothing to use", async () => {
    const arsenal = new ToolArsenal(quiet);
    await arsenal.addTool(look, () => 1);
    await Promise.all([arsenal.close(), arsenal.close()]);
    await arsenal.close();
    const source: Source = {
      name: "x",
      kind: "mcp",
      connect: async () => {},
      list: async () => [],
      disconnect: async () => {},
    };
    const uses: Record<string, () => unknown> = {
      register: () => arsenal.register({ ...look }, () => 1),
      addTool: () => arsenal.addTool(look),
      addTools: () => arsenal.addTools([]),
      addEnsemble: () => arsenal.addEnsemble(source),
      removeEnsemble: () => arsenal.removeEnsemble("x"),
      sync: () => arsenal.sync(),
      retrieve: () => arsenal.retrieve({ context: { query: "x" } }),
      retrieveTools: () => arsenal.retrieveTools("x"),
      execute: () => arsenal.execute({ toolName: "look_around" }),
      executeBatch: () => arsenal.executeBatch({ calls: [] }),
      getTool: () => arsenal.getTool("look_around"),
      listTools: () => arsenal.listTools(),
      deleteTool: () => arsenal.deleteTool("look_around"),
      healthCheck: () => arsenal.healthCheck(),
    };
    for (const [name, use] of Object.entries(uses)) {
      const outcome: unknown = await (async () => use())().catch((error: unknown) => error);
      expect([name, outcome]).toEqual([name, expect.objectContaining({ code: "CLOSED" })]);
    }
  });

  it("hands its last events to the listeners, also where the engine cannot be closed", async () => {
    const names: string[] = [];
    const { memoryEngine } = await import("./adapters/engines/memory.ts");
    const engine = { ...memoryEngine(), close: () => Promise.reject(new Error("stuck")) };
    const arsenal = new ToolArsenal(quiet, { engine });
    arsenal.subscribe(({ name }) => names.push(name));
    await arsenal.addTool(look);
    await expect(arsenal.close()).rejects.toThrow("stuck");
    expect(names).toEqual(["tool-registered"]);
  });
});

describe("subscribe", () => {
  it("calls back for every event until it is ended", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const names: string[] = [];
    const end = arsenal.subscribe(({ name }) => names.push(name));
    await arsenal.addTool(look, () => 1);
    await arsenal.execute({ toolName: "look_around" });
    await new Promise((resolve) => setImmediate(resolve));
    end();
    await arsenal.execute({ toolName: "look_around" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(names.filter((name) => name === "call-finished")).toHaveLength(1);
    expect(names).toContain("tool-registered");
  });
});
