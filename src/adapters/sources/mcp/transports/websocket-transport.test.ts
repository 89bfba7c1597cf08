import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { withinDomains } from "../../../../guard/egress/domain-bound.ts";
import { createEgress } from "../../../../guard/egress/egress.ts";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import { type WebSocketOptions, webSocketTransport } from "./websocket-transport.ts";

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING_FRAME = 9;
const PONG_FRAME = 10;

/** The server's side of one WebSocket. */
interface Peer {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** The next frame from the client: its kind and what it holds. */
  next(): Promise<readonly [opcode: number, payload: Buffer]>;
  write(opcode: number, payload: string | Buffer): void;
}

/** Where nobody listens. */
const TWO_ADDRESSES = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));

const cleanUp: (() => unknown)[] = [];

afterEach(async () => {
  for (const undo of cleanUp.splice(0).toReversed()) await undo();
});

interface ListenOptions {
  readonly handshake?: boolean;
  /** Where everybody who is refused is sent. */
  readonly location?: string;
  /** What the handshake says instead of the right thing. */
  readonly change?: { readonly accept?: string; readonly protocol?: string; readonly extensions?: string };
}

/** A WebSocket server on loopback that does what the test tells it. `handshake` false refuses everybody. */
async function listen({ handshake = true, location, change = {} }: ListenOptions = {}): Promise<{
  readonly url: string;
  readonly peer: Promise<Peer>;
}> {
  const server = createServer((_, response) => response.writeHead(404).end());
  const peer = new Promise<Peer>((resolve) => {
    server.on("upgrade", (request, socket: Socket) => {
      cleanUp.push(() => socket.destroy());
      socket.on("error", () => {});
      const refusal = location === undefined ? "401 Unauthorized" : `302 Found\r\nLocation: ${location}`;
      if (!handshake) return void socket.end(`HTTP/1.1 ${refusal}\r\nContent-Length: 0\r\n\r\n`);
      const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash("sha1").update(key).digest("base64");
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
          `Sec-WebSocket-Protocol: ${change.protocol ?? "mcp"}\r\nSec-WebSocket-Accept: ${change.accept ?? accept}\r\n` +
          (change.extensions === undefined ? "\r\n" : `Sec-WebSocket-Extensions: ${change.extensions}\r\n\r\n`),
      );
      resolve(createPeer(request, socket));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp.push(() => new Promise((resolve) => void server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  return { url: `ws://127.0.0.1:${port}/mcp?token=secret`, peer };
}

function createPeer(request: IncomingMessage, socket: Socket): Peer {
  let received = Buffer.alloc(0);
  let wake = (): void => {};
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });

  /** One masked frame of the client, or undefined while it is not complete. */
  function takeFrame(): readonly [number, Buffer] | undefined {
    if (received.length < 2) return undefined;
    const short = received.readUInt8(1) & 0x7f;
    const head = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (received.length < head + 4) return undefined;
    const length =
      short === 127 ? Number(received.readBigUInt64BE(2)) : short === 126 ? received.readUInt16BE(2) : short;
    if (received.length < head + 4 + length) return undefined;
    const mask = received.subarray(head, head + 4);
    const payload = Buffer.from(received.subarray(head + 4, head + 4 + length));
    for (const [index, byte] of payload.entries()) payload[index] = byte ^ (mask[index % 4] ?? 0);
    const opcode = received.readUInt8(0) & 0x0f;
    received = received.subarray(head + 4 + length);
    return [opcode, payload];
  }

  return {
    request,
    socket,
    async next() {
      for (;;) {
        const frame = takeFrame();
        if (frame !== undefined) return frame;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    write(opcode, payload) {
      const body = Buffer.from(payload);
      const head = Buffer.alloc(10);
      head.writeUInt8(0x80 | opcode, 0);
      head.writeUInt8(127, 1);
      head.writeBigUInt64BE(BigInt(body.length), 2);
      socket.write(Buffer.concat(body.length < 126 ? [Buffer.from([0x80 | opcode, body.length]), body] : [head, body]));
    },
  };
}

/** Connects a transport; errors and messages are kept in the order they came. */
function observe(
  url: string,
  { headers, ...options }: WebSocketOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
): {
  readonly transport: Transport;
  readonly seen: unknown[];
  readonly closed: Promise<void>;
  readonly message: Promise<void>;
} {
  const transport = webSocketTransport(
    { kind: "websocket", url, ...(headers === undefined ? {} : { headers }) },
    options,
  );
  const seen: unknown[] = [];
  const closed = Promise.withResolvers<void>();
  const message = Promise.withResolvers<void>();
  Object.assign(transport, {
    onmessage(received: JSONRPCMessage) {
      seen.push(received);
      message.resolve();
    },
    onerror: (error: Error) => void seen.push(error.message),
    onclose() {
      seen.push("closed");
      closed.resolve();
    },
  });
  return { transport, seen, closed: closed.promise, message: message.promise };
}

function closeFrame(code: number, reason: string): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(code, 0);
  payload.write(reason, 2);
  return payload;
}

const PING: JSONRPCMessage = { jsonrpc: "2.0", id: 1, method: "ping", params: { text: "é 😀" } };
const PONG: JSONRPCMessage = { jsonrpc: "2.0", id: 1, result: { text: "x".repeat(70_000) } };

describe("a WebSocket server", () => {
  it("gets one message a text frame, and answers likewise [000-7.1-websocket]", async () => {
    const { url, peer } = await listen();
    const { transport, seen, message } = observe(url, { headers: { Authorization: "Bearer t" } });
    await transport.start();
    const { request, next, write } = await peer;
    expect(request.headers).toMatchObject({ authorization: "Bearer t", "sec-websocket-protocol": "mcp" });
    expect(request.headers).not.toHaveProperty("sec-websocket-extensions");
    await transport.send(PING);
    const [opcode, payload] = await next();
    expect([opcode, JSON.parse(payload.toString())]).toEqual([TEXT, PING]);
    write(TEXT, JSON.stringify(PONG));
    await message;
    expect(seen).toEqual([PONG]);
  });

  it("may send what is no message: it is reported and skipped", async () => {
    const { url, peer } = await listen();
    const { transport, seen, message } = observe(url, { maxMessageBytes: 100 });
    await transport.start();
    const { write } = await peer;
    write(BINARY, Buffer.from([1, 2]));
    write(TEXT, "hello");
    write(TEXT, "[]");
    write(TEXT, JSON.stringify({ jsonrpc: "2.0", method: "€".repeat(40) }));
    write(TEXT, JSON.stringify({ jsonrpc: "2.0", method: "x".repeat(100) }));
    write(TEXT, JSON.stringify(PING));
    await message;
    const server = `The MCP server at ${url.split("?")[0]}`;
    expect(seen).toEqual([
      `${server} sent something that is not a JSON-RPC message; it was skipped: "(a binary frame)".`,
      `${server} sent something that is not a JSON-RPC message; it was skipped: "hello".`,
      `${server} sent something that is not a JSON-RPC message; it was skipped: "[]".`,
      expect.stringContaining(`${server} sent a message of more than 100 bytes; it was thrown away.`),
      expect.stringContaining(`${server} sent a message of more than 100 bytes; it was thrown away.`),
      PING,
    ]);
  });

  it("that sends a message of twice the length allowed is left", async () => {
    const { url, peer } = await listen();
    const { transport, seen, closed } = observe(url, { maxMessageBytes: 100 });
    await transport.start();
    const { write, next } = await peer;
    write(TEXT, "x".repeat(201));
    expect(await next()).toEqual([CLOSE, closeFrame(1009, "")]);
    await closed;
    expect(seen).toEqual([
      `The MCP server at ${url.split("?")[0]} sent an unreadable message (Max payload size exceeded), so the connection was closed.`,
      "closed",
    ]);
    await expect(transport.send(PING)).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
  });

  it("is answered when it asks whether we are there", async () => {
    const { url, peer } = await listen();
    const { transport } = observe(url);
    await transport.start();
    const { write, next } = await peer;
    write(PING_FRAME, "still?");
    expect(await next()).toEqual([PONG_FRAME, Buffer.from("still?")]);
    await transport.send(PING);
    expect((await next())[0]).toBe(TEXT);
  });

  it("that breaks the protocol is left, with the reason told", async () => {
    const { url, peer } = await listen();
    const { transport, seen, closed } = observe(url);
    await transport.start();
    const { write, next } = await peer;
    write(TEXT, Buffer.from([0xff, 0xfe]));
    expect(await next()).toEqual([CLOSE, closeFrame(1007, "")]);
    await closed;
    expect(seen).toEqual([
      `The MCP server at ${url.split("?")[0]} sent an unreadable message (Invalid WebSocket frame: invalid UTF-8 sequence), so the connection was closed.`,
      "closed",
    ]);
  });

  it("gets nothing of a call that may not reach it", async () => {
    const { url, peer } = await listen();
    const { transport } = observe(url);
    await transport.start();
    const { next } = await peer;
    await expect(withinDomains(["example.com"], () => transport.send(PONG))).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
    await withinDomains(["127.0.0.1"], () => transport.send(PING));
    expect(JSON.parse((await next())[1].toString())).toEqual(PING);
  });

  it("that closes ends the connection, and its code and reason are told", async () => {
    const { url, peer } = await listen();
    const { transport, seen, closed } = observe(url);
    await transport.start();
    const { write, next, socket } = await peer;
    write(CLOSE, closeFrame(1011, "out of memory"));
    await next();
    socket.end();
    await closed;
    expect(seen).toEqual([
      `The MCP server at ${url.split("?")[0]} closed the connection with code 1011 (out of memory).`,
      "closed",
    ]);
    await expect(transport.send(PING)).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      details: { beforeSend: true },
    });
  });

  it("that vanishes ends the connection", async () => {
    const { url, peer } = await listen();
    const { transport, seen, closed } = observe(url);
    await transport.start();
    (await peer).socket.destroy();
    await closed;
    expect(seen).toEqual([`The MCP server at ${url.split("?")[0]} closed the connection with code 1006.`, "closed"]);
  });
});

describe("leaving a WebSocket server", () => {
  it("says goodbye with code 1000 and waits for the answer", async () => {
    const { url, peer } = await listen();
    const { transport, seen } = observe(url);
    await transport.start();
    const { write, next, socket } = await peer;
    const closing = transport.close();
    expect(await next()).toEqual([CLOSE, closeFrame(1000, "")]);
    expect(seen).toEqual([]);
    write(CLOSE, closeFrame(1000, ""));
    socket.end();
    await closing;
    await transport.close();
    expect(seen).toEqual(["closed"]);
  });

  it("does not wait for ever", async () => {
    const { url, peer } = await listen();
    const clock = createManualClock();
    const { transport, seen } = observe(url, { clock });
    await transport.start();
    const closing = transport.close();
    await (await peer).next();
    await clock.advance(1999);
    expect(seen).toEqual([]);
    await clock.advance(1);
    await closing;
    expect(seen).toEqual(["closed"]);
  });

  it("at once opens no connection", async () => {
    const { transport } = observe((await listen()).url);
    const starting = expect(transport.start()).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
    await transport.close();
    await starting;
  });

  it("while connecting gives up the attempt", async () => {
    const server = createServer();
    server.on("upgrade", (_, socket) => cleanUp.push(() => socket.destroy()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp.push(() => new Promise((resolve) => void server.close(resolve)));
    const { transport } = observe(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const starting = expect(transport.start()).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
    await once(server, "upgrade");
    await transport.close();
    await starting;
  });
});

describe("a WebSocket server that cannot be reached", () => {
  it("is named, without the secrets of its address", async () => {
    const { url } = await listen({ handshake: false });
    const { transport, seen } = observe(url);
    await expect(transport.start()).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message: expect.stringContaining(`No WebSocket connection to ${url.split("?")[0]} could be opened`),
      details: {
        beforeSend: true,
        fix: 'Check that the server runs there, accepts these headers, and supports the subprotocol "mcp".',
      },
    });
    await transport.close();
    expect(seen).toEqual([]);
  });

  it("is refused where its handshake is another's, or it speaks another subprotocol", async () => {
    for (const change of [{ accept: "x" }, { protocol: "graphql-ws" }, { extensions: "permessage-deflate" }]) {
      const { url } = await listen({ change });
      const { transport } = observe(url);
      await expect(transport.start()).rejects.toMatchObject({
        code: "TRANSPORT_FAILED",
        details: { beforeSend: true },
      });
    }
  });

  it("is not looked for where it redirects to", async () => {
    const elsewhere = await listen();
    const reached: string[] = [];
    void elsewhere.peer.then(({ request }) => reached.push(request.url ?? ""));
    const { url } = await listen({ handshake: false, location: elsewhere.url });
    await expect(observe(url).transport.start()).rejects.toThrow(/\(Unexpected server response: 302\)/);
    expect(reached).toEqual([]);
  });

  it("is refused as any address is, with what to do about it", async () => {
    const { url } = await listen();
    const withPassword = observe(url.replace("ws://", "ws://me:secret@")).transport;
    await expect(withPassword.start()).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: expect.not.stringContaining("secret"),
      details: { fix: "Send credentials in a header." },
    });
    const { transport } = observe(url);
    await expect(withinDomains(["a.test"], () => transport.start())).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
  });

  it("is named with the reason also where each of its addresses fails", async () => {
    const egress = createEgress({}, { resolve: (_host, answer) => answer(null, TWO_ADDRESSES) });
    const { transport } = observe("ws://nobody.test:1/", { egress });
    await expect(transport.start()).rejects.toThrow(
      "No WebSocket connection to ws://nobody.test:1/ could be opened (ECONNREFUSED).",
    );
  });

  it("is named also where its address is none", async () => {
    const { transport } = observe("nonsense");
    await expect(transport.start()).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message: expect.stringMatching(/^No WebSocket connection to nonsense could be opened \(.*Invalid URL\)\.$/),
    });
  });
});
