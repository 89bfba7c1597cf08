import { expect, it } from "vitest";
import type { ToolArsenalConfig } from "../config.ts";
import { type ConfiguredState, configChanges } from "./config-changes.ts";
import { configuredSources } from "./configured-sources.ts";
import { resolveConfig } from "./resolve-config.ts";

async function state(config: ToolArsenalConfig): Promise<ConfiguredState> {
  const resolved = resolveConfig(config);
  return { config: resolved, sources: (await configuredSources(resolved)).sources };
}

it("touches only the servers that changed", async () => {
  const before = await state({
    mcp: {
      servers: [
        { name: "same", command: "a", env: { A: "1" } },
        { name: "changed", command: "b" },
        { name: "gone", command: "c" },
      ],
    },
  });
  const after = await state({
    mcp: {
      servers: [
        { name: "new", url: "http://d" },
        { name: "changed", command: "b", args: ["-v"] },
        { name: "same", command: "a", env: { A: "1" } },
      ],
    },
  });
  const { leaving, coming, needRestart } = configChanges(before, after);
  expect(leaving).toEqual(["changed", "gone"]);
  expect(coming.map(({ name }) => name)).toEqual(["new", "changed"]);
  expect(needRestart).toEqual([]);
});

it("names the sections that hold from the next start", async () => {
  const after = await state({
    execution: { maxRetries: 1 },
    vectorStore: { snapshot: "x" },
    mcp: { mcpMode: "static" },
  });
  expect(configChanges(await state({}), after)).toEqual({
    leaving: [],
    coming: [],
    needRestart: ["vector_store", "execution", "mcp"],
  });
});
