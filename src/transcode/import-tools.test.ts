import { tool as langchainTool } from "@langchain/core/tools";
import { dynamicTool, jsonSchema, tool as aiTool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openaiDialect } from "../adapters/dialects/index.ts";
import { DIALECT_NAMES } from "../adapters/dialects/built-in.ts";
import { ToolArsenal } from "../arsenal.ts";
import { localOperator } from "../guard/principal.ts";
import type { Dialect } from "./dialect.port.ts";

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Get current weather for a location.",
    parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
  },
};

function lexicalArsenal(): ToolArsenal {
  return new ToolArsenal({ embedder: { tier: "lexical" } });
}

describe("importTools", () => {
  it("registers definitions of another API, and search finds them [003-registry-import]", async () => {
    await using arsenal = lexicalArsenal();
    const { registered } = await arsenal.add([weather], {
      format: "openai",
      handlers: { get_weather: ({ location }) => `62 °F in ${String(location)}` },
    });
    expect(registered.map(({ id }) => id)).toEqual(["openai.get_weather"]);

    const found = await arsenal.retrieve({ context: { query: "what is the weather like" }, refuse: "never" });
    expect(found.tools[0]?.tool.id).toBe("openai.get_weather");
    expect(await arsenal.execute({ toolName: "openai.get_weather", arguments: { location: "SF" } })).toMatchObject({
      result: "62 °F in SF",
    });
  });

  it.each(DIALECT_NAMES)("reads back what %s exports", async (name) => {
    await using source = lexicalArsenal();
    source.register(
      { name: "add_numbers", description: "Adds two numbers.", parameters: z.object({ a: z.number(), b: z.number() }) },
      ({ a, b }) => a + b,
    );
    const { tools, missing } = await source.exportTools(name, ["default.add_numbers", "default.gone"]);
    expect(missing).toEqual(["default.gone"]);

    await using target = lexicalArsenal();
    const { registered, rejected } = await target.add(JSON.parse(JSON.stringify(tools)) as unknown[], {
      format: name,
      namespace: "imported",
    });
    expect(rejected).toEqual([]);
    expect(registered[0]).toMatchObject({ id: "imported.add_numbers", parameters: { required: ["a", "b"] } });
  });

  it("reports a tool that cannot be read, and imports the others", async () => {
    await using arsenal = lexicalArsenal();
    const { registered, rejected } = await arsenal.add([weather, { nonsense: true }, 7], { format: "openai" });
    expect(registered).toHaveLength(1);
    expect(rejected.map(({ index, error }) => [index, error.code])).toEqual([
      [1, "INPUT_INVALID"],
      [2, "INPUT_INVALID"],
    ]);
    expect((await arsenal.execute({ toolName: "openai.get_weather", arguments: { location: "SF" } })).error?.code).toBe(
      "HANDLER_MISSING",
    );
  });

  it("refuses an unknown format, and names the nearest", async () => {
    await using arsenal = lexicalArsenal();
    await expect(arsenal.add([], { format: "anthropc" })).rejects.toMatchObject({
      code: "QUERY_INVALID",
      message: expect.stringContaining("anthropic") as string,
    });
    await expect(arsenal.add("tools" as never, { format: "openai" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("exports nothing that the caller may not see", async () => {
    await using arsenal = lexicalArsenal();
    await arsenal.add([weather], { format: "openai" });
    arsenal.toolsets.add({ name: "empty", description: "", tags: [], view: "live", policy: {}, filter: { any: [] } });
    const exported = await arsenal.exportTools("mcp", ["openai.get_weather"], {
      toolset: "empty",
      principal: localOperator(),
    });
    expect(exported).toEqual({ tools: [], losses: [], missing: ["openai.get_weather"] });
  });

  it("takes a dialect of one's own by its name [003-adapter-registry]", async () => {
    const shouting: Dialect = { ...(openaiDialect() as unknown as Dialect), name: "shouting" };
    await using arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, dialects: [shouting] });
    const { registered } = await arsenal.add([weather], { format: "shouting" });
    expect(registered[0]?.id).toBe("shouting.get_weather");
    expect((await arsenal.exportTools("shouting", ["shouting.get_weather"])).tools).toHaveLength(1);
    expect(await arsenal.retrieveTools("weather", { dialect: "shouting" as "openai", refuse: "never" })).toHaveLength(
      1,
    );
  });
});

describe("a LangChain tool", () => {
  const multiply = langchainTool(({ a, b }: { a: number; b: number }) => `${a * b}`, {
    name: "multiply",
    description: "Multiplies two numbers.",
    schema: z.object({ a: z.number(), b: z.number().default(2) }),
  });

  it("is imported with its schema and its handler", async () => {
    await using arsenal = lexicalArsenal();
    const { registered } = await arsenal.add([multiply], { format: "langchain" });
    expect(registered[0]).toMatchObject({
      id: "langchain.multiply",
      description: "Multiplies two numbers.",
      parameters: { properties: { a: { type: "number" } } },
    });
    expect(await arsenal.execute({ toolName: "langchain.multiply", arguments: { a: 21 } })).toMatchObject({
      result: "42",
    });
  });

  it("is cancelled with its call", async () => {
    await using arsenal = lexicalArsenal();
    const begun = Promise.withResolvers<AbortSignal | undefined>();
    const slow = langchainTool(
      (_input: object, config: { signal?: AbortSignal }) => {
        begun.resolve(config.signal);
        return new Promise(() => {});
      },
      { name: "slow", description: "Never ends.", schema: z.object({}) },
    );
    await arsenal.add([slow], { format: "langchain" });
    const controller = new AbortController();
    const result = arsenal.execute({ toolName: "langchain.slow", signal: controller.signal });
    const signal = await begun.promise;
    controller.abort();
    expect((await result).status).toBe("cancelled");
    expect(signal?.aborted).toBe(true);
  });
});

describe("AI SDK tools", () => {
  it("are imported by name, with their schemas and handlers", async () => {
    await using arsenal = lexicalArsenal();
    const ids: string[] = [];
    const tools = {
      greet: aiTool({
        description: "Greets a person.",
        inputSchema: z.object({ name: z.string().transform((name) => name.toUpperCase()) }),
        execute: ({ name }, { toolCallId, abortSignal }) => {
          ids.push(toolCallId);
          return `Hello, ${name}!${abortSignal ? "" : " No signal."}`;
        },
      }),
      count: aiTool({
        description: "Counts in steps.",
        inputSchema: jsonSchema<{ to: number }>({ type: "object", properties: { to: { type: "number" } } }),
        async *execute({ to }) {
          for (let each = 1; each <= to; each++) yield each;
        },
      }),
      erase: dynamicTool({
        description: "Erases everything.",
        inputSchema: z.object({}),
        needsApproval: true,
        execute: async () => "erased",
      }),
    };
    const { registered, rejected } = await arsenal.add(tools, { format: "ai-sdk" });
    expect(rejected).toEqual([]);
    expect(registered.map(({ id }) => id)).toEqual(["ai-sdk.greet", "ai-sdk.count", "ai-sdk.erase"]);

    const greeted = await arsenal.execute({ toolName: "ai-sdk.greet", arguments: { name: "Ann" } });
    expect(greeted.result).toBe("Hello, ANN!");
    expect(ids).toEqual([greeted.spanId]);
    expect(await arsenal.execute({ toolName: "ai-sdk.count", arguments: { to: 3 } })).toMatchObject({ result: 3 });
    expect((await arsenal.execute({ toolName: "ai-sdk.erase" })).status).toBe("pending_confirmation");
  });
});
