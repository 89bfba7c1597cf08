import { expect, it } from "vitest";
import type { ToolArsenalConfig } from "../config.ts";
import { type ConfiguredState, configChanges } from "./config-changes.ts";
import { toMcpServers } from "../clients/mcp-servers.ts";
import { toOpenApis } from "../api-config.ts";
import { resolveConfig } from "./resolve-config.ts";

function state(config: ToolArsenalConfig): ConfiguredState {
  const resolved = resolveConfig(config);
  return { config: resolved, servers: toMcpServers(resolved).servers, documents: toOpenApis(resolved).documents };
}

it("touches only the servers that changed", () => {
  const before = state({
    mcp: {
      servers: [
        { name: "same", command: "a", env: { A: "1" } },
        { name: "changed", command: "b" },
        { name: "gone", command: "c" },
      ],
    },
  });
  const after = state({
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

it("names the sections that hold from the next start", () => {
  const after = state({ execution: { maxRetries: 1 }, vectorStore: { snapshot: "x" }, mcp: { mcpMode: "static" } });
  expect(configChanges(state({}), after)).toEqual({
    leaving: [],
    coming: [],
    comingAgents: [],
    comingDocuments: [],
    needRestart: ["vector_store", "execution", "mcp"],
  });
});
