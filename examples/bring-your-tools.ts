import assert from "node:assert/strict";
import { tool as langchainTool } from "@langchain/core/tools";
import { tool as aiTool } from "ai";
import { z } from "zod";
import { ToolArsenal } from "toolarsenal";

const arsenal = new ToolArsenal({ telemetry: { level: "error" } });

// A LangChain tool and an AI SDK tool bring their schema and what runs them.
const multiply = langchainTool(({ a, b }: { a: number; b: number }) => String(a * b), {
  name: "multiply",
  description: "Multiplies two numbers.",
  schema: z.object({ a: z.number(), b: z.number() }),
});
await arsenal.add([multiply], { format: "langchain" });
await arsenal.add(
  {
    greet: aiTool({
      description: "Greets a person by name.",
      inputSchema: z.object({ name: z.string() }),
      execute: ({ name }) => `Hello, ${name}!`,
    }),
  },
  { format: "ai-sdk" },
);

// An OpenAI definition is data: give it a handler by name.
const { registered, rejected } = await arsenal.add(
  [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "Get current weather for location",
        parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
      },
    },
    { type: "function" },
  ],
  { format: "openai", handlers: { get_weather: () => ({ temperature: 62, conditions: "Partly cloudy" }) } },
);
console.log(`${registered.length} imported, ${rejected.length} rejected`);
// prints: 1 imported, 1 rejected

// All of them are found and run the same way.
const [best] = (await arsenal.retrieve({ context: { query: "multiply 12 by 8" } })).tools;
const product = await arsenal.execute({ toolName: best?.tool.id ?? "", arguments: { a: 12, b: 8 } });
console.log(product.toolId, product.result);
// prints: langchain.multiply 96

const ids = ["langchain.multiply", "ai-sdk.greet", "openai.get_weather", "openai.gone"];
const { tools, missing } = await arsenal.exportTools("anthropic", ids);
console.log(tools.map((tool) => ("name" in tool ? tool.name : "")).join(" "));
// prints: langchain-multiply ai-sdk-greet openai-get_weather
assert.deepEqual(missing, ["openai.gone"]);
assert.deepEqual((await arsenal.execute({ toolName: "openai-get_weather", arguments: { location: "SF" } })).result, {
  temperature: 62,
  conditions: "Partly cloudy",
});
await arsenal.close();
