import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../../src/mcp/protocol.ts";
import { eventsOf, legacy, messagesOf, modern, type SeenEvent } from "../../mcp/sample-endpoint.ts";

/** What became of one call, as its caller sees it. */
export interface Called {
  /** The text of a result that is not an error. */
  readonly said?: string;
  /** Why not: the text of an error, or what happened to the connection. */
  readonly failed?: string;
  readonly result?: JsonObject;
}

/** A client that speaks one era. Each request may reach another replica. */
export interface McpClient {
  call(name: string, args: JsonObject, more?: JsonObject): Promise<Called>;
  tools(): Promise<readonly { readonly name: string; readonly description: string }[]>;
}

/** Who calls, and where. */
export interface Caller {
  readonly url: string;
  readonly key: string;
}

const ACCEPT = "application/json, text/event-stream";
const ABILITIES = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };

const headersOf = ({ key }: Caller): Record<string, string> => ({
  accept: ACCEPT,
  "content-type": "application/json",
  "x-api-key": key,
});

/** A client of 2026-07-28: every request stands for itself. */
export function modernClient(caller: Caller, { asks = false }: { readonly asks?: boolean } = {}): McpClient {
  async function post(method: string, params: JsonObject): Promise<unknown> {
    const { name } = params;
    const response = await fetch(`${caller.url}/mcp`, {
      method: "POST",
      headers: {
        ...headersOf(caller),
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(typeof name === "string" && { "mcp-name": name }),
      },
      body: JSON.stringify(modern(1, method, params, asks ? ABILITIES : {})),
    });
    return messageOf(response);
  }
  return {
    call: (name, args, more = {}) => outcomeOf(post("tools/call", { name, arguments: args, ...more })),
    tools: async () => toolsIn(await post("tools/list", {})),
  };
}

/** A client of 2025-11-25 with a session that it began. */
export interface LegacyClient extends McpClient {
  /** Sends one message of the session to a replica. */
  post(message: JsonObject, url?: string): Promise<Response>;
  /** Comes back for the answer of a call whose stream broke after an event. */
  resume(lastEventId: string, url?: string): Promise<Called>;
}

/** Begins a session of 2025-11-25. Rejects if that fails. */
export async function legacyClient(caller: Caller): Promise<LegacyClient> {
  let session: Record<string, string> = {};
  let count = 0;
  const post = (message: JsonObject, url = caller.url): Promise<Response> =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: { ...headersOf(caller), ...session },
      body: JSON.stringify(message),
    });
  const params = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo: { name: "old" } };
  const response = await post(legacy("init", "initialize", params));
  await response.text();
  if (!response.ok) throw new Error(`initialize was answered with ${response.status}`);
  session = { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
  await (await post({ jsonrpc: "2.0", method: "notifications/initialized" })).body?.cancel();
  const ask = async (method: string, more: JsonObject): Promise<unknown> =>
    messageOf(await post(legacy(++count, method, more)));
  async function goOn(lastEventId: string, url: string): Promise<unknown> {
    return messageOf(
      await fetch(`${url}/mcp`, { headers: { ...headersOf(caller), ...session, "last-event-id": lastEventId } }),
    );
  }
  return {
    post,
    resume: (lastEventId, url = caller.url) => outcomeOf(goOn(lastEventId, url)),
    call: (name, args) => outcomeOf(ask("tools/call", { name, arguments: args })),
    tools: async () => toolsIn(await ask("tools/list", {})),
  };
}

/** A client of the official SDK. It closes with the returned function. */
export async function sdkClient(
  { url, key }: Caller,
  mode: "legacy" | "auto",
): Promise<Pick<McpClient, "call"> & { close(): Promise<void> }> {
  const client = new Client({ name: "sdk", version: "1.0.0" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { "x-api-key": key } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return {
    call: (name, args) =>
      outcomeOf(client.callTool({ name, arguments: args }, { timeout: 30_000 }).then((result) => ({ result }))),
    close: () => client.close(),
  };
}

/** The answer in a response. Throws if there is none: the connection broke, or the status says no. */
async function messageOf(response: Response): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  const message = type.startsWith("application/json") ? await response.json() : (await messagesOf(response)).at(-1);
  if (!response.ok || message === undefined)
    throw new Error(`HTTP ${response.status}, ${message === undefined ? "no answer" : JSON.stringify(message)}`);
  return message;
}

async function outcomeOf(answering: Promise<unknown>): Promise<Called> {
  try {
    const { result, error } = (await answering) as { readonly result?: JsonObject; readonly error?: JsonObject };
    if (result === undefined) return { failed: error === undefined ? "no answer" : JSON.stringify(error) };
    const [first] = (result["content"] ?? []) as readonly { readonly text?: string }[];
    if (result["isError"] === true) return { failed: first?.text ?? "an error", result };
    return { ...(first?.text !== undefined && { said: first.text }), result };
  } catch (error) {
    const { message, cause } = error as Error;
    return { failed: cause instanceof Error ? `${message}: ${cause.message}` : message };
  }
}

function toolsIn(message: unknown): readonly { readonly name: string; readonly description: string }[] {
  const { result } = message as { readonly result?: { readonly tools?: never[] } };
  return result?.tools ?? [];
}

/** Accepts the question of a suspended call. */
export function accepted({ result }: Called, content: JsonObject): JsonObject {
  const { inputRequests = {}, requestState } = result ?? {};
  const [key = "nothing was asked"] = Object.keys(inputRequests as JsonObject);
  return { requestState, inputResponses: { [key]: { action: "accept", content } } };
}

/** The messages of a stream, one after the other. */
export async function* messagesIn(response: Response): AsyncGenerator<JsonObject, void, undefined> {
  for await (const { data } of eventsOf(response) as AsyncGenerator<SeenEvent, void, undefined>)
    if (data !== "") yield JSON.parse(data) as JsonObject;
}
