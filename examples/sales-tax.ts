import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { ToolArsenal } from "toolarsenal";

// 1. Initialise from a configuration file.
const arsenal = await ToolArsenal.fromConfig(fileURLToPath(new URL("config.dev.yaml", import.meta.url)));

// 2. Register tools.
arsenal.register(
  {
    name: "calculate_tax",
    description: "Calculates US sales tax.",
    parameters: z.object({ amount: z.number() }),
    tags: ["finance"],
  },
  ({ amount }) => amount * 0.08,
);

// 3. Use them inside an agent loop: these are OpenAI-compatible schemas for function calling.
const tools = await arsenal.retrieveTools("What is the tax on $100?", { limit: 1 });
console.log(tools[0]?.function.name);
// prints: calculate_tax

// 4. Execute a tool directly.
const result = await arsenal.execute({ toolName: "calculate_tax", arguments: { amount: 100 } });
console.log(result.status, result.result);
// prints: success 8
assert.equal(result.result, 8);
await arsenal.close();
