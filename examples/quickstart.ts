import { ToolArsenal } from "toolarsenal";

const arsenal = new ToolArsenal();
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;

arsenal.register({ name: "get_weather", description: "Tells the weather in a city.", parameters }, ({ city }) => {
  return `Sunny in ${city}`;
});
arsenal.register({ name: "book_table", description: "Books a table in a restaurant.", parameters }, ({ city }) => {
  return `Booked in ${city}`;
});

const tools = await arsenal.retrieveTools("What is the weather like in Oslo?", { limit: 1 });
console.log(JSON.stringify(tools)); // the one tool that matters, in the shape the model's API accepts

const call = { toolName: "get_weather", arguments: { city: "Oslo" } }; // what the model answered
const { status, result } = await arsenal.execute(call);
console.log(status, result); // prints: success Sunny in Oslo
await arsenal.close();
