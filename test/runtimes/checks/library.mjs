// A function is registered, found by meaning and run.
import assert from "node:assert/strict";
import { ToolArsenal } from "toolarsenal";

const arsenal = new ToolArsenal();
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
arsenal.register({ name: "get_weather", description: "Tells the weather in a city.", parameters }, ({ city }) => city);
arsenal.register({ name: "book_table", description: "Books a table in a restaurant.", parameters }, () => "booked");
const tools = await arsenal.retrieveTools("Will it rain in Oslo?", { limit: 1 });
assert.equal(tools[0].function.name, "get_weather");
const call = { toolName: "get_weather", arguments: { city: "Oslo" } };
assert.equal((await arsenal.execute(call)).result, "Oslo");
assert.equal((await arsenal.execute({ ...call, arguments: {} })).error.code, "ARGUMENTS_INVALID");
await arsenal.close();
