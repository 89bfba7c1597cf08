import { expect, it } from "vitest";
import { ToolArsenal } from "../../../src/index.ts";
import { httpClient } from "./clients.ts";
import { REMOTE_CALLS } from "./remote.ts";

it.each([
  ["static", "__proto__"],
  ["static", "Not a name"],
  ["static", "find_relevant_tools"],
  ["dynamic", "__proto__"],
  ["dynamic", "ends-with-dashes--"],
] as const)("leaves one record in the mode %s of a call of %s, which can be no tool's name", async (mode, name) => {
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const ended: unknown[] = [];
  arsenal.subscribe((event) => {
    if (event.name === "call-finished") ended.push([event.data.toolId, event.data.code]);
  });
  const served = await arsenal.serve({ port: 0, mode });
  const client = await httpClient("legacy", `${served.url}/mcp`);
  await expect(client.callTool({ name, arguments: {} })).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringContaining(`Unknown tool: ${name}`) as string,
  });
  await client.close();
  await served.close();
  await expect.poll(() => ended).toEqual([["(unknown)", "TOOL_NOT_FOUND"]]);
});

it.each(REMOTE_CALLS)("leaves one record by %s of each call of a name that can be no tool's", async (_way, call) => {
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const ended: unknown[] = [];
  arsenal.subscribe((event) => {
    if (event.name === "call-finished") ended.push([event.data.toolId, event.data.code]);
  });
  const served = await arsenal.serve({ port: 0 });
  const names = ["__proto__", "Not a name", "find_relevant_tools", "ends-with-dashes--"];
  for (const toolName of names) {
    const result = await call({ url: served.url ?? "" }, { toolName, arguments: {} });
    expect([toolName, result.status, result.error?.code]).toEqual([toolName, "failure", "TOOL_NOT_FOUND"]);
  }
  await served.close();
  await expect.poll(() => ended).toEqual(names.map(() => ["(unknown)", "TOOL_NOT_FOUND"]));
});
