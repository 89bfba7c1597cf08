import { afterAll, expect, it } from "vitest";
import { ToolArsenal } from "../arsenal.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { createPrincipal } from "../guard/principal.ts";
import { createAutogenExecutor, toAutogenFunctions } from "./autogen.ts";
import { createCrewaiExecutor, toCrewaiTools } from "./crewai.ts";

const arsenal = new ToolArsenal();
const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
arsenal.register(
  { name: "get_weather", description: "Returns the weather in a city.", parameters: city },
  ({ city: name }) => ({ city: name, sky: "clear" }),
);
arsenal.register({ name: "delete_city", description: "Deletes a city.", parameters: city }, () => "gone");
arsenal.register({ name: "find_city", description: "Finds a city.", parameters: city }, () => {
  throw new ArsenalError("EXECUTION_FAILED", "The map is lost.");
});
arsenal.register(
  { name: "buy_city", description: "Buys a city.", parameters: city, capabilities: ["financial"] },
  () => "yours",
);
arsenal.register({ name: "slow_city", description: "Waits for a city.", parameters: city }, (_args, { signal }) => {
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
});
afterAll(() => arsenal.close());

const options = { principal: createPrincipal({ id: "crew" }), limit: 2 };
const execute = createAutogenExecutor(arsenal, options);
const run = createCrewaiExecutor(arsenal, options);

it("writes functions for AutoGen and tools for CrewAI, at most as many as the limit [000-10.2-autogen] [000-10.2-crewai]", async () => {
  const parameters = expect.objectContaining({ type: "object", required: ["city"] }) as unknown;
  const [weather, search, ...others] = await toAutogenFunctions(arsenal, "weather in Paris", options);
  expect(weather).toEqual({ name: "get_weather", description: "Returns the weather in a city.", parameters });
  expect([search?.name, others]).toEqual(["find_tools", []]);
  const [tool] = await toCrewaiTools(arsenal, "weather in Paris", options);
  expect(tool).toEqual({ name: "get_weather", description: "Returns the weather in a city.", args_schema: parameters });
});

it.each([
  ["JSON text", '{"city":"Paris"}'],
  ["an object", { city: "Paris" }],
])("runs a call of AutoGen with arguments as %s", async (_form, args) => {
  expect(await execute({ id: "call_1", name: "get_weather", arguments: args })).toEqual({
    name: "get_weather",
    call_id: "call_1",
    content: '{"city":"Paris","sky":"clear"}',
    is_error: false,
  });
});

it("answers find_tools like any other function", async () => {
  const found = await execute({ id: "1", name: "find_tools", arguments: '{"query":"weather"}' });
  expect(found).toMatchObject({ is_error: false, content: expect.stringContaining("get_weather") as unknown });
});

it.each([
  ["a tool that fails", "find_city", '{"city":"Paris"}', "The map is lost."],
  ["a call that the caller may not make", "buy_city", '{"city":"Paris"}', "There is no function buy_city."],
  ["a call that waits for a person", "delete_city", '{"city":"Paris"}', "A person must approve"],
  ["arguments that are not JSON", "get_weather", "{city", "The arguments of get_weather are not JSON."],
  ["arguments that do not fit", "get_weather", "{}", "city"],
  ["an unknown function", "get_wether", "{}", "There is no function get_wether."],
])("reports %s as an error with the reason", async (_case, name, args, reason) => {
  const result = await execute({ id: "1", name, arguments: args });
  expect(result).toMatchObject({ is_error: true, content: expect.stringContaining(reason) as unknown });
  if (!args.endsWith("}")) return;
  const text = await run(name, JSON.parse(args) as Record<string, unknown>);
  expect(text).toMatch(/^Error: /);
});

it("cancels the call with the signal", async () => {
  const stop = new AbortController();
  const running = run("slow_city", { city: "Paris" }, { signal: stop.signal });
  stop.abort();
  expect(await running).toMatch(/^Error: [^]*cancelled/i);
});

it("runs a call of CrewAI", async () => {
  expect(await run("get_weather", { city: "Paris" })).toBe('{"city":"Paris","sky":"clear"}');
});
