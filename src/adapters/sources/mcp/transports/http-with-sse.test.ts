import { describe, expect, it } from "vitest";
import { type Received, scripted, stream } from "../../../../../test/mcp/scripted-server.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";
import { connect } from "../connection/connect.ts";

const identity = { info: { name: "test", version: "1.0.0" }, capabilities: {} };
const HELLO = { protocolVersion: "2024-11-05", capabilities: {}, serverInfo: { name: "old", version: "1" } };

/** Connects to an old server, up to the address that its stream names. */
async function begin(maxMessageBytes = 1000) {
  const { url, next } = await scripted();
  const connecting = connect({ name: "old", maxMessageBytes, transport: { kind: "sse", url } }, { identity });
  connecting.catch(() => {});
  return { url, next, connecting, events: stream(await next()) };
}

/** Connects to an old server, whose further answers the test writes itself. */
async function begun(maxMessageBytes?: number) {
  const { next, connecting, events } = await begin(maxMessageBytes);
  events.write("event: endpoint\ndata: /messages?session=1\n\n");
  const hello = await taken(next());
  events.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(hello.body).id, result: HELLO })}\n\n`);
  await taken(next());
  const connection: McpConnection = await connecting;
  return { next, events, connection, hello };
}

async function taken(arriving: Promise<Received>): Promise<Received> {
  const received = await arriving;
  received.response.writeHead(202).end();
  return received;
}

describe("the older HTTP+SSE", () => {
  it("posts to the address that the stream names, and takes answers from the stream", async () => {
    const { next, events, connection, hello } = await begun();
    expect(hello).toMatchObject({ method: "POST", url: "/messages?session=1" });
    const asked = connection.request("tools/list");
    const { body, headers } = await taken(next());
    expect(headers["mcp-protocol-version"]).toBe("2024-11-05");
    events.write(
      `event: message\r\ndata: {"jsonrpc":"2.0","id":"${JSON.parse(body).id}","result":{"tools":[]}}\r\n\r\n`,
    );
    expect(await asked).toEqual({ tools: [] });
    await connection.close();
  });

  it.each(["https://elsewhere.test/messages", "http://"])("refuses to post to %s", async (address) => {
    const { connecting, events } = await begin();
    events.write(`event: endpoint\ndata: ${address}\n\n`);
    await expect(connecting).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
  });

  it("follows a redirect within its origin, and none out of it", async () => {
    const { url, next } = await scripted();
    const connecting = connect({ name: "old", transport: { kind: "sse", url } }, { identity });
    connecting.catch(() => {});
    (await next()).response.writeHead(307, { location: "/sse/" }).end();
    const again = await next();
    expect(again.url).toBe("/sse/");
    again.response.writeHead(307, { location: "http://localhost:9/sse" }).end();
    await expect(connecting).rejects.toThrow("it answered HTTP 307");
  });

  it("says with which status a connection is refused", async () => {
    const { url, next } = await scripted();
    const connecting = connect({ name: "old", transport: { kind: "sse", url } }, { identity });
    connecting.catch(() => {});
    (await next()).response.writeHead(503).end();
    await expect(connecting).rejects.toThrow('The MCP server "old" cannot be connected: it answered HTTP 503.');
  });

  it.each([
    ["in one line", `data: ${"x".repeat(1200)}\n\n`],
    ["in many lines", "data: xxxxxxxxxxxx\n".repeat(100)],
  ])("ends with an event that is too long, %s", async (_how, event) => {
    const { next, events, connection } = await begun();
    const asked = connection.request("tools/call");
    await taken(next());
    events.write(event);
    await expect(asked).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN", cause: { code: "RESULT_TOO_LARGE" } });
    expect(connection.open).toBe(false);
  });

  it("ends where its stream breaks, with what is under way", async () => {
    const { next, events, connection } = await begun();
    const asked = connection.request("tools/call");
    await taken(next());
    events.destroy();
    await expect(asked).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(connection.open).toBe(false);
  });

  it("skips what is not a message", async () => {
    const { next, events, connection } = await begun();
    const asked = connection.request("tools/list");
    const { body } = await taken(next());
    events.write("data: hello\n\nevent: ping\ndata: 1\n\n");
    events.write(`data: {"jsonrpc":"2.0","id":"${JSON.parse(body).id}","result":{}}\n\n`);
    expect(await asked).toEqual({});
    await connection.close();
  });
});
