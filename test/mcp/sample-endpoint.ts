import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../../src/mcp/protocol.ts";
import { localOperator, type Principal } from "../../src/guard/principal.ts";
import { readJson } from "../../src/serve/http/read-json.ts";
import type { HttpExchange } from "../../src/serve/surface.ts";
import { createMcpEndpoint, type McpEndpoint, type McpEndpointOptions } from "../../src/serve/mcp/http-endpoint.ts";
import type { Plane } from "../../src/serve/mcp/plane.ts";
import { createReplica, type Replica } from "../../src/serve/replica.ts";
import { createWork, type Work } from "../../src/serve/work.ts";
import { sharedMemory } from "./shared-memory.ts";

/** A plane served over HTTP on a free port. The headers `x-caller` and `x-scope` say who calls, and what for. */
export interface SampleEndpoint {
  readonly url: string;
  readonly endpoint: McpEndpoint;
  /** How many responses have ended or broken, as the server sees it. */
  closedResponses(): number;
  /** Sends a message with the headers that a client of its era would send; `headers` adds to them, or with undefined takes away. */
  post(
    message: unknown,
    headers?: Readonly<Record<string, string | undefined>>,
    signal?: AbortSignal,
  ): Promise<Response>;
  get(headers: Readonly<Record<string, string>>, method?: string, signal?: AbortSignal): Promise<Response>;
  /** Opens a legacy session and gives the headers of its requests. */
  initialize(capabilities?: JsonObject, headers?: Readonly<Record<string, string>>): Promise<Record<string, string>>;
  close(): Promise<void>;
}

/** The one process on a state in memory, and its work. */
export async function aloneOnMemory(): Promise<{ readonly replica: Replica; readonly work: Work }> {
  return { replica: await createReplica(sharedMemory()), work: createWork() };
}

/** Serves a plane for a test. */
export async function serveSample(plane: Plane, options?: Partial<McpEndpointOptions>): Promise<SampleEndpoint> {
  const endpoint = createMcpEndpoint(plane, { ...(await aloneOnMemory()), ...options });
  let closedResponses = 0;
  const server = createServer((request, response) => {
    response.on("close", () => (closedResponses += 1));
    const url = new URL(request.url ?? "/", "http://localhost");
    const json: HttpExchange["json"] = (limits) => readJson(request, limits);
    const principal = principalOf(request);
    void endpoint.handle({ request, response, url, address: url.origin, principal, trace: undefined, json });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;

  const post: SampleEndpoint["post"] = (message, headers = {}, signal) => {
    const all = { ...standardHeaders(message), ...headers };
    const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const body = typeof message === "string" ? message : JSON.stringify(message);
    return fetch(url, { method: "POST", headers: sent, body, ...(signal && { signal }) });
  };
  return {
    url,
    endpoint,
    closedResponses: () => closedResponses,
    post,
    get: (headers, method = "GET", signal) =>
      fetch(url, { method, headers: { accept: "text/event-stream", ...headers }, ...(signal && { signal }) }),
    async initialize(capabilities = {}, headers = {}) {
      const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "test", version: "1" } };
      const response = await post({ jsonrpc: "2.0", id: "init", method: "initialize", params }, headers);
      await response.json();
      const session = { ...headers, "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
      await post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);
      return session;
    },
    async close() {
      await endpoint.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function principalOf({ headers }: IncomingMessage): Principal {
  const { "x-caller": id = "local", "x-scope": scope = "*" } = headers;
  return localOperator({ id: String(id), scopes: [String(scope)] });
}

function standardHeaders(message: unknown): Record<string, string> {
  const { method, params } = (typeof message === "object" ? message : {}) as JsonObject;
  const { _meta, name, uri } = (params ?? {}) as JsonObject;
  const version = (_meta as JsonObject | undefined)?.["io.modelcontextprotocol/protocolVersion"];
  const named = name ?? uri;
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...(typeof version === "string"
      ? {
          "mcp-protocol-version": version,
          "mcp-method": String(method),
          ...(typeof named === "string" ? { "mcp-name": named } : {}),
        }
      : {}),
  };
}

/** One server-sent event as a client sees it. */
export interface SeenEvent {
  readonly id?: string;
  readonly retry?: string;
  readonly data: string;
}

/** The events of a response as they come; comments are left out. */
export async function* eventsOf(response: Response): AsyncGenerator<SeenEvent, void, undefined> {
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString("utf8");
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = Object.fromEntries(
        block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
      );
      if (fields["data"] !== undefined) yield fields as unknown as SeenEvent;
    }
  }
}

/** All events of a response, once it has ended. */
export async function allEvents(response: Response): Promise<readonly SeenEvent[]> {
  const events: SeenEvent[] = [];
  for await (const event of eventsOf(response)) events.push(event);
  return events;
}

/** The messages in a response's events, once it has ended. */
export async function messagesOf(response: Response): Promise<readonly unknown[]> {
  const events = await allEvents(response);
  return events.filter(({ data }) => data !== "").map(({ data }) => JSON.parse(data) as unknown);
}

/** A modern request. */
export function modern(
  id: number | string,
  method: string,
  params: JsonObject = {},
  meta: JsonObject = {},
): JsonObject {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    ...meta,
  };
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta } };
}

/** A legacy request. */
export function legacy(id: number | string, method: string, params: JsonObject = {}): JsonObject {
  return { jsonrpc: "2.0", id, method, params };
}
