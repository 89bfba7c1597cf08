import { describe, expect, it, onTestFinished } from "vitest";
import { ToolArsenal } from "../../arsenal.ts";
import { localOperator } from "../../guard/principal.ts";
import { STARTED, type Startup } from "../startup.ts";
import { createMetaTools, type MetaTools } from "./meta-tools.ts";

const caller = { principal: localOperator(), signal: new AbortController().signal };

async function serve(startup: Startup = STARTED): Promise<{ arsenal: ToolArsenal; metaTools: MetaTools }> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, security: { deny: ["secret.*"] } });
  onTestFinished(() => arsenal.close());
  const parameters = { type: "object", properties: { city: { type: "string" } } } as const;
  const forecast = {
    name: "forecast",
    namespace: "sky",
    description: "Tells the weather forecast of a city.",
    parameters,
  };
  await arsenal.addTool(forecast, ({ city }) => `Sun in ${String(city)}`);
  await arsenal.addTool({ ...forecast, namespace: "secret" }, () => "Nobody may know");
  const metaTools = createMetaTools({ arsenal, startup });
  onTestFinished(() => metaTools.close());
  return { arsenal, metaTools };
}

describe("the meta-tools, on any surface", () => {
  it("find tools as data: name, description, schema and score, of what the caller may see", async () => {
    const { metaTools } = await serve();
    const answer = await metaTools.answer("find_relevant_tools", { query: "weather forecast for Lyon" }, caller);
    expect(answer).toEqual({
      kind: "found",
      found: {
        match: "good",
        tools: [
          {
            name: "sky-forecast",
            description: "Tells the weather forecast of a city.",
            inputSchema: { type: "object", properties: { city: { type: "string" } } },
            score: expect.any(Number) as number,
          },
        ],
      },
    });
  });

  it.each([
    ["as it should be", { tool_name: "sky-forecast", arguments: { city: "Lyon" } }],
    ["as JSON in JSON", { tool_name: "sky-forecast", arguments: '{"city":"Lyon"}' }],
    ["with other words", { tool: "functions.sky.forecast", params: { city: "Lyon" } }],
  ])("read a call %s, and leave running it to the surface", async (_how, given) => {
    const { arsenal, metaTools } = await serve();
    const answer = await metaTools.answer("execute_tool", given, caller);
    expect(answer).toEqual({ kind: "call", toolName: "sky.forecast", arguments: { city: "Lyon" } });
    const { toolName, arguments: args } = answer as { toolName: string; arguments: Record<string, unknown> };
    expect((await arsenal.execute({ toolName, arguments: args, ...caller })).result).toBe("Sun in Lyon");
  });

  it("read a search that was sent to the other tool", async () => {
    const { metaTools } = await serve();
    const given = { tool_name: "find_relevant_tools", arguments: { query: "weather forecast" } };
    expect(await metaTools.answer("execute_tool", given, caller)).toMatchObject({ kind: "found" });
  });

  it.each([
    ["find_relevant_tools", {}, "query is undefined. Say in words"],
    ["find_relevant_tools", { query: "weather", limit: "many" }, 'limit is "many"'],
    ["execute_tool", { arguments: {} }, "tool_name is missing"],
    ["execute_tool", { tool_name: "execute_tool" }, "tool_name is missing"],
  ])("say what a model must change: %s %j", async (name, given, said) => {
    const { metaTools } = await serve();
    expect(await metaTools.answer(name, given, caller)).toEqual({
      kind: "invalid",
      message: expect.stringContaining(said) as string,
    });
  });

  it("wait for servers that are still connecting, unless the tool is there already", async () => {
    let waits = 0;
    const names = (): readonly string[] => ["slow"];
    const connecting: Startup = { ...STARTED, connecting: names, shown: names, wait: async () => void waits++ };
    const { metaTools } = await serve(connecting);
    await metaTools.waitFor("sky-forecast", caller);
    expect(waits).toBe(0);
    await metaTools.waitFor("slow-other", caller);
    expect(waits).toBe(1);
    const answer = await metaTools.answer("find_relevant_tools", { query: "weather forecast" }, caller);
    expect([waits, answer]).toMatchObject([2, { kind: "found", found: { connecting: ["slow"] } }]);
  });
});
