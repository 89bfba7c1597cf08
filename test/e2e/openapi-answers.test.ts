import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { createEgress } from "../../src/guard/egress/egress.ts";
import { ToolArsenal } from "../../src/index.ts";
import { openapiSource } from "../../src/adapters/sources/openapi/openapi.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";
import { callOperation, documentOf, type EchoServer, startEcho } from "./openapi-echo.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function started(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<EchoServer> {
  const server = await startEcho(answer);
  closing.push(server.close);
  return server;
}

/** Calls an operation whose server answers so. */
async function call(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { method = "get", ...options }: { readonly method?: string; readonly [option: string]: unknown } = {},
): Promise<unknown> {
  const { url } = await started(answer);
  const document = documentOf({ "/it": { [method]: { operationId: "it" } } });
  return callOperation({ document, server: url, ...options }, "it", {}, options);
}

describe("an answer", () => {
  const said = (type: string | undefined, body: string | Uint8Array, status = 200) =>
    call((_request, response) =>
      response.writeHead(status, type === undefined ? {} : { "content-type": type }).end(body),
    );

  it.each([
    ["application/json; charset=utf-8", '{"a":[1,null]}', { a: [1, null] }],
    ["application/problem+json", "[1]", [1]],
    ["application/json", "not json", "not json"],
    ["text/plain", "words", "words"],
    ["text/csv; charset=iso-8859-1", Buffer.from([0xe9]), "é"],
    ["application/xml", "<a/>", "<a/>"],
    [undefined, '{"a":1}', { a: 1 }],
    [undefined, "words", "words"],
  ])("of %s reading %s is a value or text", async (type, body, value) => {
    expect(await said(type, body)).toEqual(value);
  });

  it("that is a file comes as a block of content, without the query of its address", async () => {
    expect(await said("application/pdf", Buffer.from([1, 2]))).toEqual({
      content: [
        {
          type: "resource",
          resource: {
            uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/it$/) as string,
            mimeType: "application/pdf",
            blob: "AQI=",
          },
        },
      ],
    });
    expect(await said("image/png", Buffer.from([1]))).toEqual({
      content: [{ type: "image", data: "AQ==", mimeType: "image/png" }],
    });
    expect(await said(undefined, Buffer.from([0xff, 0xfe]))).toMatchObject({ content: [{ type: "resource" }] });
  });

  it("that is empty is null", async () => {
    expect(await call((_request, response) => response.writeHead(204).end())).toBe(null);
    expect(await said("application/json", "")).toBe(null);
  });

  it("asks for JSON where the document has it, and for what it has otherwise", async () => {
    const server = await started((_request, response) => response.end());
    const content = { "application/yaml": {}, "application/json": {} };
    const document = documentOf({
      "/json": { get: { responses: { 200: { content } } } },
      "/yaml": { get: { responses: { 200: { content: { "application/yaml": {} } } } } },
    });
    for (const path of ["/json", "/yaml"]) await callOperation({ document, server: server.url }, `GET ${path}`);
    expect(server.sent.map(({ headers }) => headers.accept)).toEqual([
      "application/json, */*;q=0.1",
      "application/yaml, */*;q=0.1",
    ]);
  });
});

describe("a failure", () => {
  it("that the API reports has the status and what it said, shortened", async () => {
    const calling = call((_request, response) =>
      response.writeHead(404, { "content-type": "text/plain" }).end("no such pet ".repeat(500)),
    );
    await expect(calling).rejects.toMatchObject({
      code: "EXECUTION_FAILED",
      message: expect.stringMatching(/^GET \/it answered 404 Not Found: no such pet .{1900,2000}…$/) as string,
      details: { answered: true, value: { status: 404 } },
    });
  });

  it.each([
    [429, "7", 7000],
    [503, "Thu, 01 Jan 1970 00:01:00 GMT", 60_000],
    [503, "soon", undefined],
    [500, "7", undefined],
  ])("with status %i and Retry-After %s says when to try again", async (status, header, retryAfterMs) => {
    const calling = call((_request, response) => response.writeHead(status, { "retry-after": header }).end(), {
      parts: { clock: createManualClock(0) },
    });
    await expect(calling).rejects.toMatchObject({ code: "EXECUTION_FAILED" });
    await calling.catch((error: { details: object }) =>
      expect(error.details).toEqual({
        answered: true,
        value: { status },
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      }),
    );
  });

  it("before anything was sent says so", async () => {
    const server = await startEcho();
    await server.close();
    const document = documentOf({ "/it": { post: {} } });
    await expect(callOperation({ document, server: server.url }, "POST /it")).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      details: { beforeSend: true },
    });
  });

  it.each([
    ["post", "OUTCOME_UNKNOWN"],
    ["patch", "OUTCOME_UNKNOWN"],
    ["get", "TRANSPORT_FAILED"],
    ["put", "TRANSPORT_FAILED"],
    ["delete", "TRANSPORT_FAILED"],
  ])("after a %s was sent is %s", async (method, code) => {
    await expect(call((request) => request.socket.destroy(), { method })).rejects.toMatchObject({ code });
  });

  it("in the middle of the answer is one of the answer", async () => {
    const half = (request: IncomingMessage, response: ServerResponse): void => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
      response.write('{"a":', () => request.socket.destroy());
    };
    await expect(call(half, { method: "post" })).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });

  it("is an answer that is too long", async () => {
    const calling = call((_request, response) => response.end("x".repeat(2000)), { maxAnswerBytes: 1000 });
    await expect(calling).rejects.toThrow(/longer than 1000 bytes/);
  });

  it("is a call that was cancelled, and the connection ends", async () => {
    const controller = new AbortController();
    const closed = Promise.withResolvers<void>();
    const server = await started((request) => {
      request.socket.once("close", () => closed.resolve());
      controller.abort();
    });
    const document = documentOf({ "/it": { post: {} } });
    const calling = callOperation({ document, server: server.url }, "POST /it", {}, { signal: controller.signal });
    await expect(calling).rejects.toMatchObject({ code: "CANCELLED" });
    await closed.promise;
  });
});

describe("where requests go", () => {
  it("is where the operation, its path or the document says, with its variables", async () => {
    const server = await started((_request, response) => response.end());
    const { port } = new URL(server.url);
    const document = documentOf(
      {
        "/root": { get: {} },
        "/path": { servers: [{ url: `${server.url}/of-path/` }], get: {} },
        "/operation": {
          servers: [{ url: "http://nowhere.test" }],
          get: { servers: [{ url: `${server.url}/of-operation` }] },
        },
      },
      {
        servers: [
          {
            url: "http://{host}:{port}/{version}",
            variables: {
              host: { default: "127.0.0.1" },
              port: { default: port },
              version: { default: "v1", enum: ["v1", "v2"] },
            },
          },
        ],
      },
    );
    const egress = createEgress({ allowPrivate: true });
    closing.push(async () => egress.close());
    for (const path of ["/root", "/path", "/operation"])
      await callOperation({ document, serverVariables: { version: "v2" } }, `GET ${path}`, {}, { parts: { egress } });
    expect(server.sent.map(({ target }) => target)).toEqual(["/v2/root", "/of-path/path", "/of-operation/operation"]);
    await callOperation({ document, server: `${server.url}/mine/?x=1` }, "GET /root");
    expect(server.sent.at(-1)?.target).toBe("/mine/root");
    await expect(callOperation({ document, serverVariables: { version: "v3" } }, "GET /root")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { field: "serverVariables.version" },
    });
  });

  it("is the document's own host where its address is relative, also a private one", async () => {
    const document = documentOf(
      { "/it": { get: {} } },
      { servers: [{ url: "/api/v{major}", variables: { major: { default: "1" } } }] },
    );
    const server = await started((_request, response) => response.end(JSON.stringify(document)));
    await callOperation({ document: `${server.url}/openapi.json`, serverVariables: { major: "2" } }, "GET /it");
    expect(server.sent.map(({ target }) => target)).toEqual(["/openapi.json", "/api/v2/it"]);
  });

  it("is no private address that only the document names", async () => {
    const server = await started((_request, response) => response.end());
    const document = documentOf({ "/it": { get: {} } }, { servers: [{ url: server.url }] });
    const documents = await started((_request, response) => response.end(JSON.stringify(document)));
    for (const from of [document, documents.url])
      await expect(callOperation({ document: from }, "GET /it")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(server.sent).toEqual([]);
  });

  it("is asked for where nobody says it", async () => {
    await expect(callOperation({ document: documentOf({ "/it": { get: {} } }) }, "GET /it")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { field: "server" },
    });
  });

  it("is not inside where a redirect leads there from the operator's own server", async () => {
    const inside = await started((_request, response) => response.end("secret"));
    const calling = call((_request, response) => response.writeHead(302, { location: inside.url }).end());
    await expect(calling).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(inside.sent).toEqual([]);
  });
});

describe("through the arsenal", () => {
  it("an operation is found, checked and run [000-5.4-http]", async () => {
    const server = await started((_request, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"name":"Rex"}'),
    );
    const parameters = [{ name: "petId", in: "path", required: true, schema: { type: "integer" } }];
    const document = documentOf({
      "/pets/{petId}": { get: { operationId: "getPet", summary: "Get one pet.", parameters } },
    });
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    expect(await arsenal.add(openapiSource({ name: "pets", document, server: server.url }))).toBe(1);
    const { status, result } = await arsenal.execute({ toolName: "pets.get_pet", arguments: { petId: 7 } });
    expect([status, result, server.sent[0]?.target]).toEqual(["success", { name: "Rex" }, "/pets/7"]);
    const refused = await arsenal.execute({ toolName: "pets.get_pet", arguments: { petId: "x", other: 1 } });
    expect([refused.error?.code, server.sent.length]).toEqual(["ARGUMENTS_INVALID", 1]);
  });

  it("a lost answer of a POST is not asked for again", async () => {
    let count = 0;
    const server = createServer((socket) => socket.once("data", () => (count++, socket.destroy())));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => void server.close(resolve)));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    await arsenal.add(openapiSource({ name: "x", document: documentOf({ "/it": { post: {} } }), server: url }));
    const { error } = await arsenal.execute({ toolName: "x.post_it", arguments: {} });
    expect([error?.code, count]).toEqual(["OUTCOME_UNKNOWN", 1]);
  });
});
