import { internalsOf } from "../../../../arsenal.ts";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { echoing } from "../../../../../test/mcp/echoing-source.ts";
import { serve, legacy, send, call, textOf, namesOf } from "../../../../../test/mcp/served-aggregate.ts";
import type { JsonObject } from "../../../../mcp/protocol.ts";
import type { ToolArsenal } from "../../../../arsenal.ts";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import type { JsonSchema } from "../../../../tool/json-schema.ts";

const add = (arsenal: ToolArsenal, id: string, description = `Does ${id} for you.`): Promise<unknown> => {
  const [, namespace = "", name = ""] = /^(.*)\.(.*)$/.exec(id) ?? [];
  const parameters: JsonSchema = { type: "object", properties: {} };
  return arsenal.addTool({ name, namespace, description, parameters }, () => id);
};

interface FoundTool {
  readonly name: string;
  readonly inputSchema: JsonObject;
}

/** What a model reads in the answer of `find_relevant_tools`. */
const foundIn = (result: JsonObject): { readonly tools: readonly FoundTool[] } => JSON.parse(textOf(result));

describe("dynamic mode", () => {
  it("lists the two meta-tools and nothing else, to everybody [000-7.2-dynamic]", async () => {
    const { arsenal, plane } = serve({}, { mode: "dynamic" });
    await add(arsenal, "a.first");
    const listed = await send(plane, "tools/list");
    expect(namesOf(listed)).toEqual(["find_relevant_tools", "execute_tool"]);
    expect(listed).toEqual(await send(plane, "tools/list", {}, { peer: legacy }));
    expect((listed["tools"] as JsonObject[])[1]).toEqual({
      name: "execute_tool",
      description:
        "Execute a tool by name. Use find_relevant_tools first to discover available tools and their schemas.",
      inputSchema: {
        type: "object",
        properties: { tool_name: { type: "string" }, arguments: { type: "object" } },
        required: ["tool_name", "arguments"],
      },
    });
    const { instructions } = await plane.shared.describe();
    expect(instructions).toContain("first call find_relevant_tools");
  });

  it("costs a client's list less than a tenth of the tokens that a hundred listed tools cost [000-1-dynamic-saving]", async () => {
    const tokensOf = async (mode: "dynamic" | "static"): Promise<number> => {
      const { arsenal, plane } = serve({}, { mode });
      for (let at = 0; at < 100; at++)
        await add(arsenal, `shop.action_${at}`, `Does the work of step ${at} on an order.`);
      return countTokens(JSON.stringify(await send(plane, "tools/list")));
    };
    expect(await tokensOf("dynamic")).toBeLessThan(0.1 * (await tokensOf("static")));
  });

  const weather = "Tells the weather forecast of a city for the next days.";

  it("finds tools by what they do, with their schemas and scores, and says it once [000-7.2-find]", async () => {
    const { arsenal, plane } = serve({}, { mode: "dynamic" });
    await add(arsenal, "sky.forecast", weather);
    await add(arsenal, "mail.send", "Sends an email message to a person.");
    await add(arsenal, "files.remove", "Removes a file from the disk.");
    const found = await call(plane, "find_relevant_tools", { query: "weather forecast for Paris", limit: 1 });
    expect(Object.keys(found)).toEqual(["content"]);
    expect(foundIn(found)).toEqual({
      match: "good",
      tools: [
        {
          name: "sky-forecast",
          description: weather,
          inputSchema: { type: "object", properties: {} },
          score: expect.any(Number),
        },
      ],
    });
    const [{ name } = { name: "" }] = foundIn(found).tools;
    expect(textOf(await call(plane, "execute_tool", { tool_name: name, arguments: {} }))).toBe("sky.forecast");
  });

  it.each([{}, { scoreThreshold: 1 }, { scoreThreshold: 0 }])(
    "gives the nearest tools with their schemas, and says that they fit badly, with routing %j",
    async (routing) => {
      const { arsenal, plane } = serve({ routing, embedder: { tier: "static" } }, { mode: "dynamic" });
      await add(arsenal, "sky.forecast", weather);
      await internalsOf(arsenal).settled({ tier: "static" });
      const found = await call(plane, "find_relevant_tools", { query: "peel a banana" });
      expect(foundIn(found)).toMatchObject({
        match: "weak",
        tools: [{ name: "sky-forecast", description: weather, inputSchema: { type: "object", properties: {} } }],
        hint: expect.stringContaining("Probably none of these tools fits."),
      });
    },
  );

  it("says when no tool was found at all", async () => {
    const { plane } = serve({}, { mode: "dynamic" });
    expect(foundIn(await call(plane, "find_relevant_tools", { query: "peel a banana" }))).toEqual({
      match: "none",
      tools: [],
      hint: "No tool was found. Search again in other words, or tell the user.",
    });
  });

  it("drops $schema from what it finds, and keeps it in the list that programs read", async () => {
    const { arsenal, plane } = serve({}, { mode: "hybrid", common: ["*"] });
    const $schema = "http://json-schema.org/draft-07/schema#";
    const schema: JsonSchema = { type: "object", properties: { city: { type: "string" } } };
    const parameters = { $schema, ...schema };
    await arsenal.addTool({ name: "forecast", namespace: "sky", description: weather, parameters });
    const { tools } = foundIn(await call(plane, "find_relevant_tools", { query: "weather forecast" }));
    expect(tools).toMatchObject([{ name: "sky-forecast", inputSchema: schema }]);
    expect(tools[0]?.inputSchema).not.toHaveProperty("$schema");
    const listed = (await send(plane, "tools/list"))["tools"] as readonly FoundTool[];
    expect(listed.at(-1)?.inputSchema).toEqual(parameters);
  });

  it.each<[string, unknown]>([
    ["lines of text", "user: tell me the weather forecast for Lyon\nassistant: It will rain.\nIn the evening too."],
    ["a list of strings", ["user: tell me the weather forecast for Lyon", "assistant: It will rain."]],
    ["messages", [{ role: "user", content: "tell me the weather forecast for Lyon" }]],
    [
      "messages of parts",
      [{ role: "user", content: [{ type: "text", text: "tell me the weather forecast for Lyon" }] }],
    ],
    ["more messages than count", [...Array(20).fill("hello there"), "tell me the weather forecast for Lyon"]],
    ["a long text", `${"hello there\n".repeat(100_000)}user: tell me the weather forecast for Lyon`],
  ])("reads a request in its conversation, given as %s", async (_form, context) => {
    const { arsenal, plane } = serve({}, { mode: "dynamic" });
    await add(arsenal, "sky.forecast", weather);
    for (const thing of ["email", "invoice", "photo", "song", "flight", "task"])
      await add(arsenal, `${thing}s.again`, `Does the last ${thing} over again.`);
    const query = "and again, please";
    const [alone] = foundIn(await call(plane, "find_relevant_tools", { query })).tools;
    expect(alone?.name).not.toBe("sky-forecast");
    const [first] = foundIn(await call(plane, "find_relevant_tools", { query, context })).tools;
    expect(first?.name).toBe("sky-forecast");
  });

  it.each<[unknown, number]>([
    [0, 1],
    [-3, 1],
    [2.7, 2],
    ["3", 3],
    [1e9, 6],
    [null, 5],
    [undefined, 5],
  ])("takes a limit of %j as %i", async (limit, most) => {
    const { arsenal, plane } = serve({ routing: { scoreThreshold: 0 } }, { mode: "dynamic" });
    for (const name of ["one", "two", "three", "four", "five", "six"])
      await add(arsenal, `sky.${name}`, `Tells the weather forecast of city ${name}.`);
    const found = await call(plane, "find_relevant_tools", JSON.stringify({ query: "weather forecast", limit }));
    expect(foundIn(found).tools).toHaveLength(most);
  });

  it.each([
    {},
    { query: "" },
    { query: 3 },
    { query: "x", limit: "many" },
    { query: "x", limit: {} },
    { query: "x", context: 3 },
    { query: "x", context: [3] },
    { query: "x", context: [{ role: "user" }] },
    "nonsense",
    null,
  ])("says what is wrong with %j", async (args) => {
    const { plane } = serve({}, { mode: "dynamic" });
    const refused = await call(plane, "find_relevant_tools", args);
    expect(refused["isError"]).toBe(true);
    expect(textOf(refused)).toMatch(/^(query|limit|context) is .*\. (Say|Give) /);
  });

  it("finds for a caller only what that caller may see", async () => {
    const { arsenal, plane } = serve({ security: { deny: ["secret.*"] } }, { mode: "dynamic" });
    await add(arsenal, "sky.forecast", weather);
    const alone = await call(plane, "find_relevant_tools", { query: "weather forecast" });
    await add(arsenal, "secret.forecast", weather);
    await new Promise(setImmediate);
    expect(await call(plane, "find_relevant_tools", { query: "weather forecast" })).toEqual(alone);
    await expect(call(plane, "secret-forecast")).rejects.toMatchObject({ message: "Unknown tool: secret-forecast" });
  });

  it("tells nobody that its list changed, which it never does", async () => {
    const clock = createManualClock();
    const { arsenal, plane } = serve({}, { mode: "dynamic", clock });
    const pushed: string[] = [];
    await plane.openSession(legacy, { push: ({ method }) => void pushed.push(method), ask: () => Promise.reject() });
    await add(arsenal, "sky.forecast", weather);
    await clock.advance(1_000);
    expect(pushed).toEqual([]);
  });
});

describe("hybrid mode", () => {
  it("lists the configured tools beside the meta-tools [000-7.2-hybrid]", async () => {
    const common = ["a.first", "b-third", "sky.*"];
    const { arsenal, plane } = serve({}, { mode: "hybrid", common });
    for (const id of ["a.first", "a.second", "b.third", "sky.one", "sky.two"]) await add(arsenal, id);
    expect(namesOf(await send(plane, "tools/list")).slice(2)).toEqual(["a-first", "b-third", "sky-one", "sky-two"]);
    expect(textOf(await call(plane, "a-second"))).toBe("a.second");
  });

  it("learns which tools are used most, and changes its list seldom", async () => {
    const clock = createManualClock();
    const { arsenal, plane } = serve({}, { mode: "hybrid", clock });
    const pushed: string[] = [];
    await plane.openSession(legacy, { push: ({ method }) => void pushed.push(method), ask: () => Promise.reject() });
    for (let index = 0; index < 10; index++) await add(arsenal, `a.t${index}`);
    await clock.advance(200);
    pushed.length = 0;
    const use = async (name: string, times: number): Promise<void> => {
      for (let time = 0; time < times; time++) await call(plane, name);
      await clock.advance(1);
    };
    const common = async (): Promise<readonly string[]> => namesOf(await send(plane, "tools/list")).slice(2);
    for (let index = 0; index < 7; index++) await use(`a-t${index}`, 3);
    await use("a-t8", 2);
    expect(await common()).toEqual([]);
    await clock.advance(600_000);
    expect(await common()).toEqual([0, 1, 2, 3, 4, 5, 6].map((index) => `a-t${index}`));
    await clock.advance(100);
    expect(pushed).toEqual(["notifications/tools/list_changed"]);
    await use("a-t7", 4);
    await clock.advance(600_100);
    expect([(await common()).length, pushed.length]).toEqual([8, 2]);
    await use("a-t8", 3);
    await clock.advance(600_100);
    expect([(await common()).includes("a-t8"), pushed.length]).toEqual([false, 2]);
    await use("a-t8", 1);
    await clock.advance(600_100);
    expect([(await common()).includes("a-t8"), (await common()).length, pushed.length]).toEqual([true, 8, 3]);
  });

  it("does not learn requests that are no tools, which would take the tools' places", async () => {
    const clock = createManualClock();
    const { arsenal, plane } = serve({}, { mode: "hybrid", clock });
    const upstreams = Array.from({ length: 8 }, (_, index) => echoing(`s${index}`));
    for (const upstream of upstreams) await arsenal.add(upstream);
    await add(arsenal, "a.tool");
    for (const { name } of upstreams)
      for (let time = 0; time < 4; time++)
        await arsenal.execute({ toolName: `${name}.resources/read`, arguments: { uri: "a:b" } });
    for (let time = 0; time < 3; time++) await call(plane, "a-tool");
    await clock.advance(600_100);
    expect(namesOf(await send(plane, "tools/list")).slice(2)).toEqual(["a-tool"]);
  });
});
