import assert from "node:assert/strict";
import { type Arsenal, createClient } from "toolarsenal/client";
import { ToolArsenal } from "toolarsenal";

// What your agent does with its tools, wherever they are.
async function answer(arsenal: Arsenal): Promise<string> {
  const [tool] = await arsenal.retrieveTools("What is the weather like in Oslo?", { limit: 1 });
  assert(tool, "no tool fits");
  const call = { toolName: tool.function.name, arguments: { city: "Oslo" } }; // what the model answered
  const { status, result } = await arsenal.execute(call);
  return `${status}, ${String(result)} (${await arsenal.toolCount} tools)`;
}

// Embedded: the tools run in this process.
const embedded = new ToolArsenal({ telemetry: { level: "error" } });
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
embedded.register({ name: "get_weather", description: "Tells the weather in a city.", parameters }, ({ city }) => {
  return `Sunny in ${city}`;
});
embedded.register({ name: "book_table", description: "Books a table in a restaurant.", parameters }, ({ city }) => {
  return `Booked in ${city}`;
});
console.log("embedded:", await answer(embedded)); // prints: embedded: success, Sunny in Oslo (2 tools)

// Remote: the tools run behind a gateway. Only the line that makes the arsenal is another one.
const { url = "", close } = await embedded.serve({ port: 0 });
const remote = createClient({ url });
console.log("remote:", await answer(remote)); // prints: remote: success, Sunny in Oslo (2 tools)

// A failing call is data here too.
const missing = await remote.execute({ toolName: "get_wether", arguments: { city: "Oslo" } });
console.log(missing.status, missing.error?.code); // prints: failure TOOL_NOT_FOUND

await remote.close();
await close();
await embedded.close();
