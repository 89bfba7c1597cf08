import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { TEST_SERVER_ONE } from "../../../../../test/test-certificates.ts";
import { startLegacyServer, startModernServer, type UpstreamServer } from "../../../../../test/mcp/upstream-server.ts";
import { ownIdentity } from "../../../../mcp/client-identity.ts";
import { connect, type ConnectOptions } from "./connect.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";
import type { RpcNotification } from "../../../../mcp/protocol.ts";
import type { McpServerSettings } from "../settings.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

const identity = ownIdentity();

async function started(start: () => Promise<UpstreamServer>): Promise<UpstreamServer> {
  const server = await start();
  cleanups.push(() => server.close());
  return server;
}

async function open(url: string, options: Partial<ConnectOptions> = {}): Promise<McpConnection> {
  const connection = await connect(settings(url), { identity, ...options });
  cleanups.push(() => connection.close());
  return connection;
}

function settings(url: string): McpServerSettings {
  return { name: "sample", transport: { kind: "http", url } };
}

/** A server that answers every request alike. */
async function answering(listener: RequestListener, server: Server = createServer(listener)): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const eras = [
  ["legacy", "2025-11-25", startLegacyServer],
  ["modern", "2026-07-28", startModernServer],
] as const;

describe.each(eras)("a connection to a %s server", (era, version, start) => {
  it("speaks the era that the server speaks [000-7.1-initialize] [004-mcp-json-rpc] [000-7.1-http]", async () => {
    const connection = await open((await started(start)).url);
    expect([connection.era, connection.protocolVersion]).toEqual([era, version]);
    expect(connection.server.info).toMatchObject({ name: era === "legacy" ? "old sample" : "new sample" });
    expect(connection.server.instructions).toBe(era === "legacy" ? "Be kind." : "Be brief.");
  });

  it("returns results whole, with members nobody has heard of", async () => {
    const connection = await open((await started(start)).url);
    const result = await connection.request("tools/call", { name: "echo", arguments: { text: "hi" } });
    expect(result).toMatchObject({ structuredContent: { text: "hi" }, unheardOf: { kept: [1, null] } });
  });

  it("rejects with the server's own error, unchanged", async () => {
    const connection = await open((await started(start)).url);
    await expect(connection.request("no/such/method")).rejects.toMatchObject({
      name: "RpcError",
      code: -32_601,
      message: "Method not found",
    });
  });

  it("tells each of two callers of its progress under the token both chose, and of its own log", async () => {
    const server = await started(start);
    const connection = await open(server.url);
    const calling = (text: string): Promise<readonly RpcNotification[]> => {
      const heard: RpcNotification[] = [];
      const _meta = { progressToken: 7, "io.modelcontextprotocol/logLevel": "debug" };
      return connection
        .request(
          "tools/call",
          { name: "report", arguments: { text, until: "both" }, _meta },
          {
            onNotification: (notification) => {
              heard.push(notification);
              if (notification.method === "notifications/message" && ++told === 2) server.events.emit("both");
            },
          },
        )
        .then(() => heard);
    };
    let told = 0;
    const [first, second] = await Promise.all([calling("one"), calling("two")]);
    const toldOf = (text: string): unknown => [
      { method: "notifications/progress", params: { progressToken: 7, progress: 1, total: 2, message: text } },
      { method: "notifications/message", params: { level: "info", data: text } },
    ];
    expect(first).toMatchObject(toldOf("one") as object);
    expect(second).toMatchObject(toldOf("two") as object);
  });

  it("cancels a request on the server when its signal fires", async () => {
    const server = await started(start);
    const connection = await open(server.url);
    const controller = new AbortController();
    const cancelled = once(server.events, "cancelled");
    server.events.once("called", () => controller.abort());
    const call = connection.request("tools/call", { name: "wait", arguments: {} }, { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    await cancelled;
    expect(connection.open).toBe(true);
  });

  it("does not know the outcome of a request whose server goes away", async () => {
    const server = await started(start);
    const connection = await open(server.url);
    const call = connection.request("tools/call", { name: "wait", arguments: {} });
    call.catch(() => {});
    await once(server.events, "called");
    cleanups.length = 0;
    await server.close();
    await expect(call).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    const next = connection.request("tools/list");
    await expect(next).rejects.toMatchObject({ code: "TRANSPORT_FAILED", details: { beforeSend: true } });
    expect(connection.open).toBe(false);
  });

  it("rejects what is asked of it after it was closed", async () => {
    const connection = await open((await started(start)).url);
    const endings: unknown[] = [];
    connection.onClosed((error) => endings.push(error));
    await connection.close();
    await expect(connection.request("tools/list")).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
    expect(endings).toEqual([undefined]);
  });
});

it("is opened without asking a server for its era that is known to be an old one", async () => {
  const server = await started(startLegacyServer);
  const connection = await open(server.url, { legacy: true });
  expect(connection.era).toBe("legacy");
  expect(server.requests.map(({ body }) => body["method"])).not.toContain("server/discover");
});

describe("an old server's questions", () => {
  it("are answered by whoever asked for them", async () => {
    const connection = await open((await started(startLegacyServer)).url);
    connection.setAsk(async (method, params) => ({
      action: "accept",
      content: { method, message: params?.["message"] },
    }));
    const result = await connection.request("tools/call", { name: "ask", arguments: { text: "Sure?" } });
    expect(result["content"]).toEqual([{ type: "text", text: '{"method":"elicitation/create","message":"Sure?"}' }]);
  });

  it("are refused as unknown where nobody answers", async () => {
    const connection = await open((await started(startLegacyServer)).url);
    const call = connection.request("tools/call", { name: "ask", arguments: { text: "Sure?" } });
    await expect(call).rejects.toThrow("-32601");
  });

  it("are withdrawn when the server cancels them", async () => {
    const connection = await open((await started(startLegacyServer)).url);
    const controller = new AbortController();
    const asked = Promise.withResolvers<AbortSignal>();
    connection.setAsk((_, __, { signal }) => {
      asked.resolve(signal);
      return new Promise(() => {});
    });
    const call = connection.request("tools/call", { name: "ask", arguments: {} }, { signal: controller.signal });
    call.catch(() => {});
    const signal = await asked.promise;
    connection.setAsk(undefined);
    expect(signal.aborted).toBe(true);
    await expect(call).rejects.toThrow("The request that led to this question has ended.");
  });
});

describe("an expired session", () => {
  it("ends the connection, and does not claim that the request was not carried out", async () => {
    const server = await started(startLegacyServer);
    const connection = await open(server.url);
    server.forgetSessions();
    await expect(connection.request("tools/list")).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN", details: {} });
    expect(connection.open).toBe(false);
  });

  it("is not made by closing: the server is told that the session is over", async () => {
    const server = await started(startLegacyServer);
    const connection = await open(server.url);
    expect(server.sessions).toBe(1);
    await connection.close();
    expect(server.sessions).toBe(0);
  });
});

describe("streamable HTTP gives way to the older HTTP+SSE", () => {
  const asked = async (status: number): Promise<readonly string[]> => {
    const requests: string[] = [];
    const url = await answering((request, response) => {
      requests.push(`${request.method} ${request.headers.accept}`);
      response.writeHead(status).end();
    });
    const message = `it answered HTTP ${status}`;
    await expect(connect(settings(url), { identity })).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message: expect.stringContaining(message),
    });
    return requests.filter((request) => request === "GET text/event-stream");
  };

  it.each([400, 404, 405])("where it is answered with %i", async (status) => {
    expect(await asked(status)).toHaveLength(1);
  });

  it.each([401, 403, 429, 500, 503])("but not where it is answered with %i", async (status) => {
    expect(await asked(status)).toHaveLength(0);
  });

  it("but not where the server cannot be reached", async () => {
    const { url, close } = await startLegacyServer();
    await close();
    await expect(connect(settings(url), { identity })).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
  });

  it("and then works with a server that knows nothing else [000-7.1-sse] [004-mcp-sse]", async () => {
    const main = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
    const port = await freePort();
    const child = spawn(process.execPath, [main, "sse"], {
      env: { PORT: String(port) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    cleanups.push(async () => {
      child.kill("SIGKILL");
      if (child.exitCode === null) await once(child, "exit");
    });
    await new Promise<void>((resolve) => {
      child.stderr.on("data", (text: Buffer) => void (String(text).includes(String(port)) && resolve()));
    });
    const connection = await open(`http://127.0.0.1:${port}/sse`);
    expect(connection.era).toBe("legacy");
    const result = await connection.request("tools/call", { name: "echo", arguments: { message: "hi" } });
    expect(result).toEqual({ content: [{ type: "text", text: "Echo: hi" }] });
  });
});

describe("a server on a pipe", () => {
  it("is called through its standard streams [000-7.1-stdio] [004-mcp-stdio]", async () => {
    const main = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
    const transport = { kind: "stdio", command: process.execPath, args: [main] } as const;
    const connection = await connect({ name: "everything", transport }, { identity });
    cleanups.push(() => connection.close());
    expect(connection.era).toBe("legacy");
    const result = await connection.request("tools/call", { name: "echo", arguments: { message: "hi" } });
    expect(result).toEqual({ content: [{ type: "text", text: "Echo: hi" }] });
  });

  it("that dies of being asked its era is started again without the question", async () => {
    const script = `
      let text = "";
      process.stdin.on("data", (chunk) => {
        text += chunk;
        for (let end; (end = text.indexOf("\\n")) >= 0; text = text.slice(end + 1)) {
          const { id, method } = JSON.parse(text.slice(0, end));
          if (method === "server/discover") process.exit(1);
          if (method !== "initialize") continue;
          const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "touchy", version: "1" } };
          process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
        }
      });`;
    const transport = { kind: "stdio", command: process.execPath, args: ["-e", script] } as const;
    const connection = await connect({ name: "touchy", transport }, { identity });
    cleanups.push(() => connection.close());
    expect([connection.era, connection.protocolVersion]).toEqual(["legacy", "2025-06-18"]);
  });
});

it("stops connecting when the signal fires", async () => {
  const reached = Promise.withResolvers<void>();
  const url = await answering(() => reached.resolve());
  const controller = new AbortController();
  const connecting = connect(settings(url), { identity, signal: controller.signal });
  connecting.catch(() => {});
  await reached.promise;
  controller.abort(new Error("enough"));
  await expect(connecting).rejects.toThrow("enough");
});

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

it("says how to trust a server whose certificate an unknown authority signed", async () => {
  const url = await answering(() => {}, createSecureServer(TEST_SERVER_ONE));
  await expect(open(url.replace("http:", "https:"))).rejects.toMatchObject({
    code: "TRANSPORT_FAILED",
    details: { field: "sample", fix: expect.stringContaining("egress.ca_file") as unknown },
  });
});
