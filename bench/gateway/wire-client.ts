import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request as send } from "node:http";
import { text } from "node:stream/consumers";

/** The protocol of a client: with a session, without one, or over HTTP+SSE as before 2025-03-26. */
export type ClientKind = "legacy" | "modern" | "sse";

/** A minimal client that can call a tool: no SDK, so that the load costs little. */
export interface WireClient {
  /** Sends a request and resolves with its answer as text. */
  request(method: string, params: object, name?: string): Promise<string>;
}

const VERSION: Readonly<Record<ClientKind, string>> = { legacy: "2025-11-25", modern: "2026-07-28", sse: "2024-11-05" };
const CLIENT_INFO = { name: "load", version: "1.0.0" };
const META = {
  "io.modelcontextprotocol/protocolVersion": VERSION.modern,
  "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Opens a client of the given kind. */
export async function openWireClient(kind: ClientKind, url: string, agent: Agent): Promise<WireClient> {
  switch (kind) {
    case "modern":
      return openModern(url, agent);
    case "legacy":
      return openLegacy(url, agent);
    case "sse":
      return openSse(url, agent);
  }
}

function openModern(url: string, agent: Agent): WireClient {
  const nextId = counter();
  return {
    async request(method, params, name) {
      const body = { jsonrpc: "2.0", id: nextId(), method, params: { ...params, _meta: META } };
      const named = name === undefined ? {} : { "mcp-name": name };
      const headers = { "mcp-protocol-version": VERSION.modern, "mcp-method": method, ...named };
      return (await post(url, agent, body, headers)).body;
    },
  };
}

async function openLegacy(url: string, agent: Agent): Promise<WireClient> {
  const nextId = counter();
  const opened = await post(url, agent, initialize(nextId(), VERSION.legacy), {});
  const headers = {
    "mcp-protocol-version": VERSION.legacy,
    "mcp-session-id": String(opened.headers["mcp-session-id"]),
  };
  await post(url, agent, { jsonrpc: "2.0", method: "notifications/initialized" }, headers);
  return {
    async request(method, params) {
      return (await post(url, agent, { jsonrpc: "2.0", id: nextId(), method, params }, headers)).body;
    },
  };
}

async function openSse(url: string, agent: Agent): Promise<WireClient> {
  const nextId = counter();
  const waiting = new Map<number, (answer: string) => void>();
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    send(url, { headers: { accept: "text/event-stream" } }, resolve)
      .once("error", reject)
      .end();
  });
  const endpoint = await new Promise<string>((resolve) => {
    let rest = "";
    stream.setEncoding("utf8").on("data", (part: string) => {
      const events = (rest + part).split(/\r?\n\r?\n/);
      rest = events.pop() ?? "";
      for (const event of events) {
        const data = /^data: ?(.*)$/m.exec(event)?.[1] ?? "";
        if (event.includes("event: endpoint")) resolve(new URL(data, url).href);
        else waiting.get(Number(/"id":(\d+)/.exec(data)?.[1]))?.(data);
      }
    });
  });
  async function request(id: number, message: object): Promise<string> {
    const answer = new Promise<string>((resolve) => {
      waiting.set(id, resolve);
    });
    await post(endpoint, agent, message, {});
    const body = await answer;
    waiting.delete(id);
    return body;
  }
  const opening = nextId();
  await request(opening, initialize(opening, VERSION.sse));
  await post(endpoint, agent, { jsonrpc: "2.0", method: "notifications/initialized" }, {});
  return {
    request(method, params) {
      const id = nextId();
      return request(id, { jsonrpc: "2.0", id, method, params });
    },
  };
}

function initialize(id: number, protocolVersion: string): object {
  const params = { protocolVersion, capabilities: {}, clientInfo: CLIENT_INFO };
  return { jsonrpc: "2.0", id, method: "initialize", params };
}

function counter(): () => number {
  let last = 0;
  return () => (last += 1);
}

async function post(
  url: string,
  agent: Agent,
  message: object,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly headers: IncomingHttpHeaders; readonly body: string }> {
  const sent = JSON.stringify(message);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = {
      method: "POST",
      agent,
      headers: {
        ...headers,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "content-length": Buffer.byteLength(sent),
      },
    };
    send(url, options, resolve).once("error", reject).end(sent);
  });
  const body = await text(response);
  const { statusCode: status = 0 } = response;
  if (status !== 200 && status !== 202) throw new Error(`${sent.slice(0, 200)} was answered with ${status}: ${body}`);
  return { headers: response.headers, body };
}
