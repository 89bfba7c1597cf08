import { describe, expect, it } from "vitest";
import { serve, modern, legacy, send, call, textOf, namesOf } from "../../../../../test/mcp/served-aggregate.ts";
import type { JsonObject, RpcNotification } from "../../../../mcp/protocol.ts";
import type { ToolArsenal } from "../../../../arsenal.ts";
import { localOperator } from "../../../../guard/principal.ts";
import type { Source } from "../../../../register/source.port.ts";
import type { Handler } from "../../../../tool/handler.ts";
import type { JsonSchema } from "../../../../tool/json-schema.ts";
import { toAlias } from "../../../../transcode/alias.ts";
import { PAGE_SIZE, pageOf } from "../listings.ts";

const add = (
  arsenal: ToolArsenal,
  id: string,
  more: JsonObject = {},
  handler: Handler = () => id,
): Promise<unknown> => {
  const [, namespace = "", name = ""] = /^(.*)\.(.*)$/.exec(id) ?? [];
  const parameters: JsonSchema = { type: "object", properties: {} };
  return arsenal.addTool({ name, namespace, description: `Does ${id} for you.`, parameters, ...more }, handler);
};

/** A server's tools, named as it likes; each returns the server's name, its own and those of its arguments. */
function source(name: string, tools: readonly string[]): Source {
  return {
    name,
    kind: "mcp",
    connect: async () => undefined,
    list: async () =>
      tools.map((tool) => ({
        draft: { name: tool, description: `Does ${tool} for you.`, parameters: { type: "object", properties: {} } },
        handler: (args) => [`${name}/${tool}`, ...Object.keys(args)].join(" "),
      })),
    disconnect: async () => undefined,
  };
}

describe("static mode", () => {
  it("lists every tool with all that is known of it, in an order that stays [000-7.2-static]", async () => {
    const { arsenal, plane } = serve({});
    await add(arsenal, "z.last");
    await add(arsenal, "a.first", {
      title: "First",
      extendedDescription: "And then some.",
      parameters: { type: "object", properties: { any: true, none: false, x: { type: "string" } }, required: ["x"] },
      returns: { type: "object", properties: {} },
      annotations: { readOnly: true, destructive: false },
    });
    const listed = await send(plane, "tools/list");
    expect(listed).toEqual({
      tools: [
        {
          name: "a-first",
          title: "First",
          description: "Does a.first for you.\n\nAnd then some.",
          inputSchema: {
            type: "object",
            properties: { any: {}, none: { not: {} }, x: { type: "string" } },
            required: ["x"],
          },
          outputSchema: { type: "object", properties: {} },
          annotations: { readOnlyHint: true, destructiveHint: false },
        },
        { name: "z-last", description: "Does z.last for you.", inputSchema: { type: "object", properties: {} } },
      ],
    });
    const again = await send(plane, "tools/list");
    expect((again["tools"] as unknown[])[0]).toBe((listed["tools"] as unknown[])[0]);
  });

  it("shows an output schema that is no object's to new clients alone, and gives them structured content for it", async () => {
    const { arsenal, plane } = serve({});
    await add(arsenal, "a.numbers", { returns: { type: "array" } }, () => [1, 2]);
    const [forNew] = (await send(plane, "tools/list"))["tools"] as JsonObject[];
    const [forOld] = (await send(plane, "tools/list", {}, { peer: legacy }))["tools"] as JsonObject[];
    expect([forNew?.["outputSchema"], forOld?.["outputSchema"]]).toEqual([{ type: "array" }, undefined]);
    expect(await call(plane, "a-numbers")).toEqual({
      content: [{ type: "text", text: "[1,2]" }],
      structuredContent: [1, 2],
    });
    expect(await call(plane, "a-numbers", {}, { peer: legacy })).toEqual({
      content: [{ type: "text", text: "[1,2]" }],
    });
  });

  it("gives large catalogs in pages and refuses a cursor it did not give", async () => {
    const { arsenal, plane } = serve({});
    const parameters: JsonSchema = { type: "object" };
    const named = (index: number) => ({ name: `tool_${index}`, description: "One of very many.", parameters });
    await arsenal.add(Array.from({ length: 1_003 }, (_, index) => ({ tool: named(index) })));
    const first = await send(plane, "tools/list");
    const second = await send(plane, "tools/list", { cursor: first["nextCursor"] });
    expect([namesOf(first).length, namesOf(second).length, second["nextCursor"]]).toEqual([1_000, 3, undefined]);
    expect(new Set([...namesOf(first), ...namesOf(second)]).size).toBe(1_003);
    expect(pageOf("tools", Array(PAGE_SIZE).fill(0), undefined)).not.toHaveProperty("nextCursor");
    for (const cursor of ["", "x", 3, {}, Buffer.from("from:-1").toString("base64url")])
      await expect(send(plane, "tools/list", { cursor })).rejects.toMatchObject({ code: -32602 });
  });

  it("has no meta-tools", async () => {
    const { arsenal, plane } = serve({});
    await add(arsenal, "default.execute_tool");
    expect(namesOf(await send(plane, "tools/list"))).toEqual(["default-execute_tool"]);
    await expect(call(plane, "find_relevant_tools", { query: "x" })).rejects.toMatchObject({ code: -32602 });
  });
});

describe("names", () => {
  it("stay apart whatever servers call their tools, and each is called by its own", async () => {
    const { arsenal, plane } = serve({});
    const long = "x".repeat(200);
    await arsenal.add(source("a__b", ["c", "Read", "read", "re\u0430d", long, `${long}y`]));
    await arsenal.add(source("a", ["b__c", "read", "a.read"]));
    await arsenal.add(source("evil", ["find_relevant_tools", "execute_tool", "a-read", "a.read", "A__b"]));
    const listed = namesOf(await send(plane, "tools/list"));
    expect(listed).toHaveLength(14);
    expect(new Set(listed.map((name) => name.toLowerCase())).size).toBe(14);
    for (const name of listed) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
    const answers = await Promise.all(listed.map(async (name) => textOf(await call(plane, name))));
    expect(new Set(answers).size).toBe(14);
    expect(textOf(await call(plane, "a-read"))).toBe("a/read");
  });

  it("of a tool that went away are not taken over by a server that has the same one", async () => {
    const { arsenal, plane } = serve({});
    await add(arsenal, "default.read");
    expect(textOf(await call(plane, "read"))).toBe("default.read");
    await arsenal.deleteTool("read");
    await arsenal.add(source("evil", ["read"]));
    await expect(call(plane, "read")).rejects.toMatchObject({ code: -32602, message: "Unknown tool: read" });
  });

  it.each([["default.find_relevant_tools", "default.execute_tool"], []])(
    "of the meta-tools are never another tool's",
    async (...own) => {
      const { arsenal, plane } = serve({}, { mode: "dynamic" });
      for (const id of own) await add(arsenal, id);
      await arsenal.add(source("evil", ["find_relevant_tools", "execute_tool"]));
      const query = "does find relevant tools for you";
      const found = { content: [{ type: "text", text: expect.stringMatching(/^\{"match":/) }] };
      expect(await call(plane, "find_relevant_tools", { query })).toMatchObject(found);
      for (const tool_name of ["find_relevant_tools", "functions.find_relevant_tools"])
        expect(await call(plane, "execute_tool", { tool_name, arguments: { query } })).toMatchObject(found);
      const itself = await call(plane, "execute_tool", { tool_name: "execute_tool", arguments: {} });
      expect(textOf(itself)).toContain("tool_name is missing");
      for (const id of own) expect(textOf(await call(plane, id.replace(".", "-")))).toBe(id);
      expect(textOf(await call(plane, "execute_tool", { tool_name: "evil-execute_tool" }))).toBe("evil/execute_tool");
    },
  );

  it("are read loosely by execute_tool, where only one tool can be meant", async () => {
    const { arsenal, plane } = serve({}, { mode: "dynamic" });
    const long = "x".repeat(200);
    await arsenal.add(source("one", ["read", "Get-It", long]));
    await arsenal.add(source("two", ["read"]));
    const run = async (tool_name: string): Promise<string> => textOf(await call(plane, "execute_tool", { tool_name }));
    expect(await run("Get-It")).toBe("one/Get-It");
    expect(await run("get_it")).toBe("one/Get-It");
    expect(await run("functions.two.read:1.0.0")).toBe("two/read");
    expect(await run("read")).toContain('Call it by its id: "one.read", "two.read"');
    const [cut = ""] = (await arsenal.listTools())
      .filter(({ sourceName }) => sourceName === long)
      .map(({ id }) => toAlias(id));
    const nested = { tool_name: cut, arguments: { arguments: {} } };
    expect([cut.length, textOf(await call(plane, "execute_tool", nested))]).toEqual([64, `one/${long}`]);
  });
});

describe("a call", () => {
  it("is the same call, under the same policy, by name and by execute_tool [000-7.2-call] [000-7.2-execute]", async () => {
    const { arsenal, plane } = serve({}, { mode: "hybrid" });
    await add(arsenal, "files.wipe", { capabilities: ["delete_data"], requiresConfirmation: true });
    const guest = { ...modern, principal: { ...localOperator(), id: "guest", capabilities: [], local: false } };
    for (const peer of [modern, guest]) {
      const byName = await call(plane, "files-wipe", {}, { peer });
      const byMeta = await call(plane, "execute_tool", { tool_name: "files.wipe", arguments: "{}" }, { peer });
      const errorOf = (result: JsonObject): JsonObject =>
        (result["_meta"] as JsonObject)["toolarsenal/error"] as JsonObject;
      const { traceId: _, ...refused } = errorOf(byName);
      expect(errorOf(byMeta)).toMatchObject(refused);
      expect(byName["isError"]).toBe(true);
      expect(refused["code"]).toBe(peer === guest ? "PERMISSION_DENIED" : "CONFIRMATION_REQUIRED");
    }
  });

  it("that is refused or fails says why in words and in data", async () => {
    const { arsenal, plane } = serve({}, { mode: "dynamic" });
    const parameters: JsonSchema = { type: "object", properties: { x: { type: "integer" } }, required: ["x"] };
    await add(arsenal, "a.fail", { parameters }, () => {
      throw new Error("the disk is full");
    });
    const failed = await call(plane, "a-fail", { x: 1 });
    expect(textOf(failed)).toContain("the disk is full");
    expect(failed["_meta"]).toMatchObject({ "toolarsenal/error": { status: "failure", code: "EXECUTION_FAILED" } });
    const wrong = await call(plane, "execute_tool", { tool_name: "a-fail", x: "no" });
    expect(wrong["_meta"]).toMatchObject({ "toolarsenal/error": { code: "ARGUMENTS_INVALID" } });
    const missing = await call(plane, "execute_tool", { tool_name: "a.fial", arguments: {} });
    expect(textOf(missing)).toContain('Did you mean "a.fail"?');
    const unnamed = await call(plane, "execute_tool", { arguments: {} });
    expect([unnamed["isError"], textOf(unnamed)]).toEqual([true, expect.stringContaining("tool_name is missing")]);
    await expect(call(plane, "a-fail", "text")).rejects.toMatchObject({ code: -32602 });
    await expect(send(plane, "tools/call", {})).rejects.toMatchObject({ code: -32602 });
  });

  it("fails alike where the arsenal throws what failed", async () => {
    const { arsenal, plane } = serve({ execution: { onFailure: "throw" } });
    await add(arsenal, "a.fail", {}, () => {
      throw new Error("the disk is full");
    });
    expect(textOf(await call(plane, "a-fail"))).toContain("the disk is full");
  });

  it.each<[string, unknown, JsonObject]>([
    ["a text", "hello", { content: [{ type: "text", text: "hello" }] }],
    ["a text like JSON", "{}", { content: [{ type: "text", text: "{}" }] }],
    ["an object", { a: 1 }, { content: [{ type: "text", text: '{"a":1}' }], structuredContent: { a: 1 } }],
    ["a date", new Date(0), { content: [{ type: "text", text: '"1970-01-01T00:00:00.000Z"' }] }],
    ["a list", [1], { content: [{ type: "text", text: "[1]" }] }],
    ["nothing", undefined, { content: [{ type: "text", text: "(nothing)" }] }],
    ["a bigint", 3n, { content: [{ type: "text", text: "3" }] }],
    [
      "data with a bigint",
      { n: 3n },
      { content: [{ type: "text", text: '{"n":"3"}' }], structuredContent: { n: "3" } },
    ],
    [
      "a result of its own",
      { content: [{ type: "image", data: "", mimeType: "image/png" }], isError: true },
      { content: [{ type: "image", data: "", mimeType: "image/png" }], isError: true },
    ],
    [
      "what only looks like one",
      { content: ["x"] },
      expect.objectContaining({ structuredContent: { content: ["x"] } }),
    ],
  ])("returns %s", async (_what, value, result) => {
    const { arsenal, plane } = serve({});
    await add(arsenal, "a.give", {}, () => value);
    expect(await call(plane, "a-give")).toEqual(result);
  });

  it("tells its progress under the caller's token, and is cancelled with the request", async () => {
    const { arsenal, plane } = serve({});
    const told: RpcNotification[] = [];
    const controller = new AbortController();
    let cancelled = false;
    await add(arsenal, "a.slow", {}, (_args, { progress, signal }) => {
      signal.addEventListener("abort", () => (cancelled = true));
      progress({ progress: 1, total: 2 });
      controller.abort();
      return new Promise(() => undefined);
    });
    const params = { name: "a-slow", _meta: { progressToken: "mine" } };
    await send(plane, "tools/call", params, { signal: controller.signal, notify: (one) => void told.push(one) });
    expect(cancelled).toBe(true);
    expect(told).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: "mine", progress: 1, total: 2 },
      },
    ]);
  });

  it("tells no progress to a caller who asked for none", async () => {
    const { arsenal, plane } = serve({});
    const told: RpcNotification[] = [];
    await add(arsenal, "a.quick", {}, (_args, { progress }) => progress({ progress: 1 }));
    await call(plane, "a-quick", {}, { notify: (one) => void told.push(one) });
    expect(told).toEqual([]);
  });
});
