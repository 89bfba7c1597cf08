import { describe, expect, it } from "vitest";
import { answerJson, httpAnswers } from "../../test/doubles/http-answers.ts";
import { localOperator } from "../index.ts";
import { ArsenalError, type ArsenalClient, createClient, type ClientOptions } from "./index.ts";

/** The headers that a request with these options has. */
async function headersOf(options: ClientOptions): Promise<Readonly<Record<string, unknown>>> {
  await using server = await httpAnswers(({ headers }, response) => answerJson(response, 200, headers));
  return await createClient({ url: server.url, ...options }).healthCheck();
}

describe("createClient", () => {
  it("sends its credentials and headers with every request", async () => {
    expect(await headersOf({ apiKey: "ta_me_1" })).toMatchObject({ "x-api-key": "ta_me_1" });
    expect(await headersOf({ token: "one" })).toMatchObject({ authorization: "Bearer one" });
    expect(await headersOf({ token: async () => "two", headers: { "x-team": "red" } })).toMatchObject({
      authorization: "Bearer two",
      "x-team": "red",
    });
    const rejected = headersOf({ token: () => Promise.reject(new Error("no token")) });
    await expect(rejected).rejects.toThrow("no token");
  });

  it("takes the address of the gateway with and without a path, and refuses what is none", async () => {
    await using server = await httpAnswers((_request, response) => answerJson(response, 200, {}));
    for (const path of ["", "/", "/api/v1", "/api/v1/"]) await createClient({ url: server.url + path }).healthCheck();
    await createClient({ url: `${server.url}/behind/` }).healthCheck();
    expect(new Set(server.seen)).toEqual(new Set(["GET /api/v1/health", "GET /behind/api/v1/health"]));
    for (const options of [
      {},
      { url: "tools.example.com" },
      { url: "https://" },
      { url: "file:///x" },
      { url: "https://x/tools?a=1" },
    ])
      expect(() => createClient(options)).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: expect.stringContaining('createClient({ url: "https://tools.example.com" })') as string,
        }) as Error,
      );
  });

  it("calls the page's own origin where a page gives no address", async () => {
    await using server = await httpAnswers((_request, response) => answerJson(response, 200, {}));
    Object.assign(globalThis, { location: { origin: server.url } });
    try {
      await createClient().healthCheck();
    } finally {
      Reflect.deleteProperty(globalThis, "location");
    }
    expect(server.seen).toEqual(["GET /api/v1/health"]);
  });
});

describe("a client", () => {
  it("reads the list of tools page by page, and all of it", async () => {
    await using server = await httpAnswers(({ url = "" }, response) => {
      const cursor = new URL(url, "http://x").searchParams.get("cursor");
      answerJson(response, 200, cursor === null ? { tools: [{ id: "a" }], next: "2" } : { tools: [{ id: "b" }] });
    });
    const client = createClient({ url: server.url });
    const pages: unknown[] = [];
    for await (const page of client.pages({ namespace: "red", limit: 1 })) pages.push(page);
    expect(pages).toEqual([[{ id: "a" }], [{ id: "b" }]]);
    expect(server.seen).toEqual([
      "GET /api/v1/tools?namespace=red&limit=1",
      "GET /api/v1/tools?namespace=red&limit=1&cursor=2",
    ]);
    expect(await client.listTools()).toEqual([{ id: "a" }, { id: "b" }]);
  });

  it("throws the error that the gateway answered", async () => {
    const issues = [{ field: "name", message: "is missing" }];
    const problem = { type: "about:blank", title: "T", status: 400, detail: "Wrong.", code: "TOOL_INVALID" };
    const details = { field: "name", value: 5, fix: "Fix it.", issues };
    await using server = await httpAnswers((_request, response) =>
      answerJson(response, 400, { ...problem, ...details, requestId: "r" }),
    );
    const refused: unknown = await createClient({ url: server.url })
      .addTool({ name: "x", description: "y" })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ArsenalError);
    expect(refused).toMatchObject({ code: "TOOL_INVALID", message: "Wrong." });
    expect((refused as ArsenalError).details).toEqual(details);
  });

  it.each([
    [401, '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Who are you?"}}', "UNAUTHENTICATED", "Who are you?"],
    [403, "<html>", "PERMISSION_DENIED", "The gateway answered 403."],
    [404, "<html>", "PROTOCOL_ERROR", "The gateway answered 404."],
    [413, "", "INPUT_INVALID", "The gateway answered 413."],
    [
      200,
      "<html>",
      "PROTOCOL_ERROR",
      "The answer is not JSON. Check that url is the address of a ToolArsenal gateway.",
    ],
  ] as const)("makes sense of what stands before a gateway: %i %s", async (status, body, code, message) => {
    await using server = await httpAnswers((_request, response) => response.writeHead(status).end(body));
    const client = createClient({ url: server.url });
    await expect(client.healthCheck()).rejects.toMatchObject({ code, message });
    await expect(client.execute({ toolName: "x" }))
      .rejects.toBeInstanceOf(ArsenalError)
      .catch(() => {});
    expect(server.seen).toHaveLength(2);
  });

  const local: Readonly<Record<string, (client: ArsenalClient) => unknown>> = {
    register: (client) => (client as unknown as { register(): void }).register(),
    serveMcp: (client) => (client as unknown as { serveMcp(): void }).serveMcp(),
    serve: (client) => (client as unknown as { serve(): void }).serve(),
    "addTool with a handler": (client) => (client.addTool as (...given: unknown[]) => unknown)({}, () => 1),
    "add with a handler": (client) => client.add([{ tool: {}, handler: () => 1 } as never]),
    "add of tools that run": (client) => client.add([{ execute: () => 1 }], { format: "ai-sdk" }),
    "arguments that JSON cannot say": (client) => client.execute({ toolName: "x", arguments: { count: 5n } }),
    "execute as another caller": (client) => client.execute({ toolName: "x", principal: localOperator() } as never),
    "a batch as another caller": (client) =>
      client.executeBatch({ calls: [{ toolName: "x", principal: localOperator() } as never] }),
    "a batch with a call's own signal": (client) =>
      client.executeBatch({ calls: [{ toolName: "x", signal: AbortSignal.abort() } as never] }),
    "retrieve as another caller": (client) =>
      client.retrieve({ context: { query: "x" }, principal: localOperator() } as never),
    "listTools with a filter": (client) => client.listTools({ filter: { tags: ["x"] } } as never),
    "getTool as another caller": (client) => client.getTool("x", "y", { principal: localOperator() } as never),
  };

  it.each(Object.entries(local))("says what to do instead of %s, and sends nothing", async (_name, use) => {
    await using server = await httpAnswers((_request, response) => answerJson(response, 200, {}));
    const client = createClient({ url: server.url });
    const refused: unknown = await (async () => use(client))().catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "INPUT_INVALID", details: { fix: expect.any(String) as string } });
    expect((refused as ArsenalError).message).toContain((refused as ArsenalError).details.fix);
    expect(server.seen).toEqual([]);
  });
});
