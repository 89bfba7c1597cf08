import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type ArsenalEvent, type Reranker, ToolArsenal, type ToolDraft } from "./index.ts";
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
    await using arsenal = new ToolArsenal({ ...quiet, embedder });
    await arsenal.add([{ tool: look }, { tool: { ...look, name: "walk_about" } }]);
    expect(await arsenal.sync()).toBe(2);
    expect(embedded).toHaveLength(2);
    await arsenal.add([{ tool: look }, { tool: { ...look, name: "walk_about", tags: ["feet"] } }]);
    expect(await arsenal.sync()).toBe(1);
    expect(embedded).toHaveLength(3);
    expect(embedded[2]).toContain("walk");
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

  it("are indexed at once with syncOnRegister", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, syncOnRegister: true, autoSync: false });
    await arsenal.add(offering("water"));
    expect(await arsenal.listTools()).toHaveLength(1);
  });

  it("that cannot be reached are refused and leave nothing behind", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const broken = { ...offering("water"), connect: () => Promise.reject(new Error("no route")) };
    await expect(arsenal.add(broken)).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });
    expect(await arsenal.add(offering("water"))).toBe(1);
  });
});

describe("parts of one's own", () => {
  const tools = ["send_email", "send_letter"].map((name) => ({
    tool: { ...look, name, description: `${name.replace("_", " a ")} to somebody.` },
  }));

  it("an embedder ranks, and is named as what ranked", async () => {
    await using arsenal = new ToolArsenal({ ...quiet, embedder: createHashingEmbedder() });
    await arsenal.add(tools);
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

  it("a reranker orders again if the query, or the configuration, asks for it", async () => {
    await using asked = new ToolArsenal({ ...quiet, reranker: backwards });
    await asked.add(tools);
    expect([await first(asked), await first(asked, true)]).toEqual(["send_email", "send_letter"]);
    await using always = new ToolArsenal({ ...quiet, reranker: { ...backwards, enabled: true } });
    await always.add(tools);
    expect([await first(always), await first(always, false)]).toEqual(["send_letter", "send_email"]);
  });

  it("parts that are objects of a class are not taken for settings", async () => {
    class Backwards implements Reranker {
      readonly model = "backwards";
      rerank = backwards.rerank;
    }
    await using arsenal = new ToolArsenal({ ...quiet, reranker: new Backwards() });
    await arsenal.add(tools);
    expect(await first(arsenal, true)).toBe("send_letter");
  });
});

it.each([5, null, {}])("a dialect that is none is refused with its value: %j", async (dialect) => {
  await using arsenal = new ToolArsenal(quiet);
  await expect(arsenal.retrieveTools("look around", { dialect: dialect as "openai" })).rejects.toMatchObject({
    code: "QUERY_INVALID",
    details: { field: "dialect", value: dialect, fix: expect.stringContaining("openai") as string },
  });
});

it("lists approvals and pins before anything else was asked of it, and refuses to once it is closed", async () => {
  const arsenal = new ToolArsenal(quiet);
  expect([await arsenal.approvals.list(), await arsenal.pins?.list()]).toEqual([[], []]);
  await arsenal.close();
  await expect(arsenal.approvals.list()).rejects.toMatchObject({ code: "CLOSED" });

  const unused = new ToolArsenal(quiet);
  await unused.close();
  await expect(unused.approvals.list()).rejects.toMatchObject({ code: "CLOSED" });
  expect(new ToolArsenal({ ...quiet, security: { pins: "off" } }).pins).toBeUndefined();
});

describe("close", () => {
  it("leaves nothing to register with", async () => {
    const arsenal = new ToolArsenal(quiet);
    await arsenal.close();
    const source: Source = {
      name: "x",
      kind: "mcp",
      connect: async () => {},
      list: async () => [],
      disconnect: async () => {},
    };
    const refused = expect.objectContaining({ code: "CLOSED" }) as Error;
    expect(() => arsenal.register({ ...look }, () => 1)).toThrow(refused);
    await expect(arsenal.add(source)).rejects.toEqual(refused);
  });

  it("hands its last events to the listeners, also where the engine cannot be closed", async () => {
    const names: string[] = [];
    const { memoryEngine } = await import("./adapters/engines/memory.ts");
    const engine = { ...memoryEngine(), close: () => Promise.reject(new Error("stuck")) };
    const arsenal = new ToolArsenal({ ...quiet, engine });
    arsenal.subscribe(({ name }) => names.push(name));
    await arsenal.addTool(look);
    await expect(arsenal.close()).rejects.toThrow("stuck");
    expect(names).toEqual(["tool-registered"]);
  });
});
