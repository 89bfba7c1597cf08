import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, type TaskEnabledSession } from "@modelcontextprotocol/ext-tasks/client";
import { EXTENSIONS } from "../../src/mcp/extensions.ts";
import { toMessageHeaders } from "../../src/mcp/headers.ts";
import type { RpcRequest } from "../../src/mcp/protocol.ts";

export type TaskClient = TaskEnabledSession<void>;

const INFO = { name: "task-client", version: "1.0.0" };

/** A client of the official tasks package, in one era, that answers every form with the name Ada. */
export async function taskClient(
  era: "legacy" | "modern",
  url: string,
  headers: Record<string, string> = {},
): Promise<{ readonly session: TaskClient; close(): Promise<void> }> {
  const capabilities = { elicitation: { form: {} }, extensions: { [EXTENSIONS.tasks]: {} } };
  const options = era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } as const } : {};
  const client = new Client(INFO, { capabilities, ...options });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const answer = async () => ({ action: "accept", content: { name: "Ada" } }) as const;
  const { tools } = await client.listTools();
  const session = createTaskSessionFromClient(client, {
    endpointId: url,
    onInputRequest: answer as never,
    tools: {
      currentTool: (name: string) => {
        const tool = tools.find((each) => each.name === name);
        const { taskSupport } = (tool?.execution ?? {}) as { taskSupport?: "optional" };
        return tool && { name, inputSchema: tool.inputSchema as never, ...(taskSupport && { taskSupport }) };
      },
    },
    ...(era === "modern" && {
      async rawDispatch(request: unknown) {
        const { result, error } = await post(url, { ...(request as RpcRequest), jsonrpc: "2.0", id: 1 }, headers);
        return error === undefined ? { kind: "result", result } : { kind: "error", error };
      },
      v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo: INFO, clientCapabilities: capabilities },
    }),
  } as never) as TaskClient;
  return {
    session,
    async close() {
      await session.close();
      await client.close();
    },
  };
}

/** Sends one request of 2026-07-28 and returns the whole answer. */
export async function post(
  url: string,
  request: RpcRequest,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<{ readonly result?: Record<string, unknown>; readonly error?: { readonly code: number } }> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      ...headers,
      ...toMessageHeaders(request),
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    },
    body: JSON.stringify(request),
    ...(signal && { signal }),
  });
  const text = await response.text();
  if (response.headers.get("content-type") !== "text/event-stream") return JSON.parse(text) as never;
  const data = text.split("\n").filter((line) => line.startsWith("data: {"));
  return JSON.parse(data.at(-1)?.slice(6) ?? "{}") as never;
}
