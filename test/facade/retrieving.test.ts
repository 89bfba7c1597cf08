import { describe, expect, it } from "vitest";
import { localOperator, type Tool } from "../../src/index.ts";
import { ARSENALS, add, look } from "./opened.ts";

/** What is found, how it is written, and who sees it. */
describe.each(ARSENALS)("an arsenal, %s:", (_where, open) => {
  describe("retrieving", () => {
    it("hands the model five of many tools by default [000-1-few-tools]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      await host.add(Array.from({ length: 40 }, (_, n) => ({ tool: { ...add, name: `add_numbers_${n}` } })));
      expect(await arsenal.retrieveTools("add two numbers")).toHaveLength(5);
      expect(await arsenal.retrieveTools("add two numbers", { limit: 7 })).toHaveLength(7);
    });

    it("takes a request in words with options, or the whole query as one object", async () => {
      await using opened = await open();
      const { arsenal } = opened;
      await arsenal.add([{ tool: { ...add, namespace: "sums" } }, { tool: { ...add, namespace: "other" } }]);
      const options = { namespaces: ["sums"], limit: 3 };
      const context = { toolsFailed: ["sums.look"] };
      const inWords = await arsenal.retrieve("add two numbers", { ...options, context });
      const asOne = await arsenal.retrieve({ ...options, context: { ...context, query: "add two numbers" } });
      const ids = ({ tools }: typeof asOne) => tools.map(({ tool }) => tool.id);
      expect([ids(inWords), ids(asOne)]).toEqual([[`sums.${add.name}`], [`sums.${add.name}`]]);
    });

    it("writes tools in the shape of each provider, OpenAI's by default [000-4.1-openai] [000-4.1-anthropic] [000-4.1-gemini] [000-4.2-shapes] [000-14-retrieve-tools] [002-registry-schema-shape]", async () => {
      await using opened = await open();
      const { arsenal } = opened;
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

    it("takes a dialect of one's own", async () => {
      await using opened = await open();
      const { arsenal } = opened;
      await arsenal.addTool(look);
      const dialect = { name: "mine", fromCanonical: ({ id }: Tool) => ({ call: id }) };
      expect(await arsenal.retrieveTools("look around", { dialect })).toEqual([{ call: "default.look_around" }]);
    });

    it.each(["opnai", "toString", 5, null, {}])("refuses a dialect that is none: %j", async (dialect) => {
      await using opened = await open();
      await expect(opened.arsenal.retrieveTools("look around", { dialect: dialect as "openai" })).rejects.toMatchObject(
        {
          code: "QUERY_INVALID",
          details: {
            field: "dialect",
            fix: expect.any(String) as string,
            ...(typeof dialect === "string" && {
              value: dialect,
              fix: expect.stringContaining("openai") as string,
            }),
          },
        },
      );
    });

    it("takes calls by the name it showed the model, and by id, qualified name and bare name [000-4.1-alias] [000-4.1-qualified-name] [001-flow-by-name]", async () => {
      await using opened = await open();
      const { arsenal, host } = opened;
      await host.addTool({ ...add, namespace: "maths.basic" }, ({ a, b }) => Number(a) + Number(b));
      const [shown] = await arsenal.retrieveTools("add two numbers", { dialect: "anthropic" });
      const alias = String(shown?.["name"]);
      expect(alias).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      for (const toolName of [alias, "maths.basic.add_numbers", "maths.basic.add_numbers:1.0.0", "add_numbers"]) {
        const { result } = await arsenal.execute({ toolName, arguments: { a: 20, b: 22 } });
        expect([toolName, result]).toEqual([toolName, 42]);
      }
      const other = await arsenal.execute({ toolName: "maths.basic.add_numbers:2.0.0", arguments: { a: 1, b: 1 } });
      expect(other.error?.code).toBe("TOOL_NOT_FOUND");
    });

    it("reports its times [000-4.2-times] [000-14-retrieve]", async () => {
      await using opened = await open();
      const { arsenal } = opened;
      await arsenal.addTool(add);
      const result = await arsenal.retrieve({ context: { query: "add two numbers" } });
      expect(result.tools.map(({ tool }) => tool.name)).toEqual(["add_numbers"]);
      expect(result.searchTimeMs).toBeGreaterThan(0);
      expect(result.totalTimeMs).toBeGreaterThanOrEqual(result.queryEmbeddingTimeMs + result.searchTimeMs);
      expect(result.rerankTimeMs).toBeUndefined();
    });

    it("explains each score: the signals weigh as documented, or as configured [000-6.1-weights] [000-6.1-weights-configured]", async () => {
      const weights = async (routing: object): Promise<Record<string, number>> => {
        await using opened = await open({ routing });
        await opened.arsenal.addTool(add);
        const { explanation } = await opened.arsenal.retrieve({ context: { query: "add two numbers" }, explain: true });
        return Object.fromEntries(explanation?.chosen[0]?.signals.map(({ name, weight }) => [name, weight]) ?? []);
      };
      const usual = { semantic: 0.6, intent: 0.15, conversation: 0.1, health: 0.1, cost: 0.05 };
      expect(await weights({})).toMatchObject(usual);
      expect(await weights({ weights: { semantic: 0.5, cost: 0.15 } })).toMatchObject({ semantic: 0.5, cost: 0.15 });
    });

    it("reads the conversation: what failed in it ranks below what did not", async () => {
      await using opened = await open();
      const { arsenal } = opened;
      await arsenal.add(["one", "two"].map((name) => ({ tool: { ...look, name: `look_${name}` } })));
      const first = async (toolsFailed: readonly string[]): Promise<string | undefined> => {
        const recentMessages = [{ role: "user", content: "what is around me?" }];
        const context = { query: "look around", toolsFailed, recentMessages };
        return (await arsenal.retrieve({ context })).tools[0]?.tool.name;
      };
      const best = (await first([])) ?? "";
      expect(await first([`default.${best}`])).not.toBe(best);
    });

    it("refuses a malformed query, and stops when the signal has fired", async () => {
      await using opened = await open();
      const { arsenal } = opened;
      await expect(arsenal.retrieve({ context: { query: "x" }, limit: 900 })).rejects.toMatchObject({
        code: "QUERY_INVALID",
        details: { field: "limit", value: 900 },
      });
      const signal = AbortSignal.abort();
      await expect(arsenal.retrieve({ context: { query: "x" }, signal })).rejects.toMatchObject({ code: "CANCELLED" });
    });
  });

  describe("looking at the tools", () => {
    it("shows a caller what policy lets it see, and hides the rest from every question", async () => {
      const sees = (tool: { namespace: string }, { id }: { id: string }) => tool.namespace === id || id === "local";
      const policy = { sees, decide: () => ({ effect: "allow" as const }) };
      await using opened = await open({}, { policy });
      const { arsenal, host } = opened;
      await host.add(["red", "blue"].map((namespace) => ({ tool: { ...look, namespace }, handler: () => namespace })));
      const red = opened.as(localOperator({ id: "red" }));
      expect((await red.listTools()).map(({ id }) => id)).toEqual(["red.look_around"]);
      expect(await red.getTool("look_around", "blue")).toBeUndefined();
      const { tools } = await red.retrieve({ context: { query: "look around" } });
      expect(tools.map(({ tool }) => tool.id)).toEqual(["red.look_around"]);
      expect((await red.execute({ toolName: "blue.look_around" })).error?.code).toBe("TOOL_NOT_FOUND");
      expect(await arsenal.listTools()).toHaveLength(2);
    });

    it("hides what nobody may see from getTool as from everything else", async () => {
      await using opened = await open({ security: { deny: ["look_*"] } });
      const { arsenal } = opened;
      await arsenal.addTool(look);
      expect([await arsenal.getTool("look_around"), await arsenal.listTools()]).toEqual([undefined, []]);
    });

    it("looks through a toolset: the rest of the catalog does not exist there", async () => {
      const toolsets = [{ name: "sums", include: { namespaces: ["maths"] } }];
      await using opened = await open({ toolsets });
      const { arsenal, host } = opened;
      await host.addTool(add, () => 2);
      await host.addTool(look, () => 1);
      expect((await opened.toolsets()).map(({ name }) => name)).toEqual(["sums"]);
      const toolset = "sums";
      expect((await arsenal.listTools({ toolset })).map(({ id }) => id)).toEqual(["maths.add_numbers"]);
      expect(await arsenal.getTool("look_around", "default", { toolset })).toBeUndefined();
      expect(await arsenal.retrieveTools("look around", { toolset })).toEqual([]);
      expect(await arsenal.retrieveTools("add two numbers", { toolset })).toHaveLength(1);
      expect((await arsenal.exportTools("openai", ["default.look_around"], { toolset })).missing).toHaveLength(1);
      const [inside, outside] = [
        await arsenal.execute({ toolName: "add_numbers", arguments: { a: 1, b: 1 }, toolset }),
        await arsenal.execute({ toolName: "look_around", toolset }),
      ];
      expect([inside.result, outside.error?.code]).toEqual([2, "TOOL_NOT_FOUND"]);
      await expect(arsenal.listTools({ toolset: "none" })).rejects.toMatchObject({ code: "TOOLSET_NOT_FOUND" });
    });
  });
});
