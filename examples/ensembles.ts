import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createEnsemble, createInvoker, prepareEnsembles } from "toolarsenal/ensembles";
import { isArsenalError, ToolArsenal } from "toolarsenal";

const folder = await mkdtemp(join(tmpdir(), "ensembles-"));
const ensemblesFolder = fileURLToPath(new URL("ensembles", import.meta.url));

// Example 1: a tool is a function (context, arguments) and the schema of its arguments.
const getWeather = createInvoker({
  name: "get_weather",
  description: "Get current weather for location",
  argumentsSchema: {
    type: "object",
    properties: { location: { type: "string", description: "City and state" } },
    required: ["location"],
  },
  invocable: async (_context, { location }) => ({ location, temperature: 62, conditions: "Partly cloudy" }),
});
const weather = createEnsemble({ name: "weather", invokers: { get_weather: getWeather } });
await weather.connect();
const report = await weather.accessInvoker("get_weather").invoke({ location: "San Francisco, CA" });
console.log(JSON.stringify(report.result)); // prints: {"location":"San Francisco, CA","temperature":62,"conditions":"Partly cloudy"}
await weather.disconnect();

// Example 2: an ensemble with several tools, from TOML files. It is connected for a conversation and disconnected after it.
{
  const handlers = {
    list_files: async (_context: unknown, { path }: Readonly<Record<string, unknown>>) => readdir(String(path)),
  };
  await using ensembles = await prepareEnsembles(
    { ensembles: [{ file: "io.toml" }] },
    { folder: ensemblesFolder, handlers },
  );
  const [io] = ensembles;
  assert(io);
  console.log(io.name, [...io.invokers.keys()].join(" ")); // prints: io read_file write_file list_directory
  console.log(JSON.stringify(io.configuration)); // prints: {"timeout":30,"maxRetries":3}

  const path = join(folder, "notes.txt");
  const written = await io.accessInvoker("write_file").invoke({ path, text: "Buy milk." });
  assert.deepEqual(written.result, { path, written: 1 });
  const read = await io.accessInvoker("read_file").invoke({ path });
  console.log(read.result); // prints: Buy milk.
  const listed = await io.accessInvoker("list_directory").invoke({ path: folder });
  console.log(JSON.stringify(listed.result)); // prints: ["notes.txt"]

  // Example 3: a failed call is a result with an error …
  const unreadable = await io.accessInvoker("read_file").invoke({ path: join(folder, "none.txt") });
  console.log(unreadable.status, unreadable.error?.code); // prints: failure EXECUTION_FAILED
  const incomplete = await io.accessInvoker("read_file").invoke({ encoding: "utf-8" });
  console.log(incomplete.status, incomplete.error?.code); // prints: failure ARGUMENTS_INVALID
}

// … or, fail-fast, an exception.
{
  await using arsenal = new ToolArsenal({ execution: { onFailure: "throw" } });
  await using ensembles = await prepareEnsembles({ ensembles: [ensemblesFolder] }, { arsenal });
  try {
    await ensembles[0]?.accessInvoker("read_file").invoke({ path: join(folder, "none.txt") });
    assert.fail("not reached");
  } catch (error) {
    assert(isArsenalError(error));
    console.log("Tool failed:", error.code); // prints: Tool failed: EXECUTION_FAILED
  }
}

await rm(folder, { recursive: true });
