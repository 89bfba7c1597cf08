import { describe, expect, it } from "vitest";
import { echoing } from "../../../../../test/mcp/echoing-source.ts";
import { ToolArsenal } from "../../../../arsenal.ts";
import type { McpRequest } from "../../../../mcp/connection.ts";
import type { McpSource } from "../mcp.ts";
import type { JsonObject } from "../../../../mcp/protocol.ts";
import { createRequestTools, isKnown, requestToolId } from "./request-tools.ts";

async function arsenalOf(...sources: McpSource[]): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  for (const source of sources) await arsenal.add(source);
  return arsenal;
}

describe("the request tools of a server", () => {
  it("are the server's own, also where servers share a namespace or are named alike", () => {
    const transport = { kind: "stdio", command: "none" } as const;
    const disk = echoing("disk", { settings: { name: "disk", namespace: "files", transport } });
    const servers = [echoing("files"), disk, echoing("My Files"), echoing("My-Files")].map(({ upstream }) => upstream);
    const ids = servers.flatMap((server) => [...createRequestTools(server).keys()]);
    expect(ids.slice(0, 6)).toEqual([
      "files.resources/read",
      "files.prompts/get",
      "files.mcp/request",
      "files.disk/resources/read",
      "files.disk/prompts/get",
      "files.disk/mcp/request",
    ]);
    expect(new Set(ids).size).toBe(12);
    expect(ids).toEqual(
      servers.flatMap(({ settings }) =>
        (["resources/read", "prompts/get", "mcp/request"] as const).map((tool) => requestToolId(settings, tool)),
      ),
    );
  });

  it("cannot be taken over by a tool that the server names like one", async () => {
    await using arsenal = await arsenalOf(echoing("files"));
    arsenal.register(
      { name: "resources_read", namespace: "files", description: "Is no resource.", parameters: { type: "object" } },
      () => "taken over",
    );
    const { result } = await arsenal.execute({ toolName: "files.resources/read", arguments: { uri: "a:b" } });
    expect(result).toMatchObject({ asked: { method: "resources/read", params: { uri: "a:b" } } });
  });

  it("go with their server", async () => {
    await using arsenal = await arsenalOf(echoing("files"));
    expect(await arsenal.getTool("resources/read", "files")).toMatchObject({ source: "mcp", ensemble: "files" });
    await arsenal.remove("files");
    expect(await arsenal.getTool("resources/read", "files")).toBeUndefined();
  });

  it.each([
    ["resources/read", { uri: "a:b" }, "resources/read", { uri: "a:b" }],
    ["prompts/get", { name: "hi", arguments: { x: "1" } }, "prompts/get", { name: "hi", arguments: { x: "1" } }],
    [
      "resources/read",
      { uri: "a:{b}", argument: { name: "b", value: "" } },
      "completion/complete",
      { ref: { type: "ref/resource", uri: "a:{b}" }, argument: { name: "b", value: "" } },
    ],
    [
      "prompts/get",
      { name: "hi", argument: { name: "x", value: "" }, context: { arguments: {} } },
      "completion/complete",
      { ref: { type: "ref/prompt", name: "hi" }, argument: { name: "x", value: "" }, context: { arguments: {} } },
    ],
    ["mcp/request", { method: "reports/get", params: { report: "7" } }, "reports/get", { report: "7" }],
    ["mcp/request", { method: "reports/get" }, "reports/get", {}],
  ])("%s with %o asks for what its arguments say and nothing else", async (tool, args, method, params) => {
    await using arsenal = await arsenalOf(echoing("files"));
    // What a client sends beside must not change what the policy saw.
    const extra: JsonObject = {
      uri: "other:uri",
      name: "other",
      ref: { type: "ref/prompt", name: "other", uri: "o:u" },
      taskId: "8",
      cursor: "2",
      _meta: { trace: "1" },
    };
    const { result } = await arsenal.execute({
      toolName: `files.${tool}`,
      arguments: args,
      request: { source: "mcp", extra } as McpRequest,
    });
    const { asked } = result as { asked: { method: string; params: JsonObject } };
    expect(asked.method).toBe(method);
    const traceparent = expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(asked.params).toEqual({ ...params, _meta: { progressToken: "progress", trace: "1", traceparent } });
  });

  it("subscribe only for somebody who can be told", async () => {
    await using arsenal = await arsenalOf(echoing("files"));
    const subscribe = { toolName: "files.resources/read", arguments: { uri: "a:b", subscribe: true } };
    expect((await arsenal.execute(subscribe)).error).toMatchObject({ code: "ARGUMENTS_INVALID", field: "subscribe" });
  });

  it("show their raw answer to the request they stand for alone", async () => {
    await using arsenal = await arsenalOf(echoing("files"));
    const read = (request?: McpRequest) =>
      arsenal.execute({
        toolName: "files.resources/read",
        arguments: { uri: "a:b" },
        ...(request !== undefined && { request }),
      });
    expect(await read()).not.toHaveProperty("answer");
    expect(await read({ source: "mcp", method: "tools/call" })).not.toHaveProperty("answer");
    const { result, answer } = await read({ source: "mcp", method: "resources/read" });
    expect(answer).toEqual({ result });
  });
});

describe("a method that this program knows", () => {
  it.each([
    "tools/call",
    "tools/anything",
    "resources/read",
    "prompts/get",
    "completion/complete",
    "initialize",
    "ping",
    "Tools/Call",
    " tools/call",
    "PING ",
  ])("is never an unknown one: %s", async (method) => {
    expect(isKnown(method)).toBe(true);
    await using arsenal = await arsenalOf(echoing("files"));
    const { error } = await arsenal.execute({ toolName: "files.mcp/request", arguments: { method } });
    expect(error).toMatchObject({ code: "ARGUMENTS_INVALID", field: "method" });
  });

  it("is not one that only begins like it", () => {
    expect(["reports/get", "toolsets/list", "initialized", "x/tools/call"].filter(isKnown)).toEqual([]);
  });
});
