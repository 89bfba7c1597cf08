import { ToolArsenal } from "../../src/arsenal.ts";
import type { ToolArsenalConfig } from "../../src/config/config.ts";
import type { ToolArsenalParts } from "../../src/wire/parts.ts";
import type { JsonObject } from "../../src/mcp/protocol.ts";
import type { ToolFilter } from "../../src/tool/tool-filter.ts";
import type { Toolset } from "../../src/toolset/toolset.ts";
import { legacy, messagesOf } from "./sample-endpoint.ts";

/** A toolset of the tools that pass a filter. */
export function toolset(name: string, filter: ToolFilter, more: Partial<Toolset> = {}): Toolset {
  return { name, description: "", tags: [], filter, view: "live", policy: {}, createdAt: 0, updatedAt: 0, ...more };
}

/** An arsenal of tickets and payments. The toolset `helpers` has two of the four tools, `payers` has `pay`, `both` has what either has. */
export function ticketArsenal(config: ToolArsenalConfig = {}, parts: ToolArsenalParts = {}): ToolArsenal {
  const arsenal = new ToolArsenal({
    embedder: { tier: "lexical" },
    telemetry: { enabled: false },
    ...config,
    environment: {},
    ...parts,
  });
  for (const name of ["create_ticket", "find_ticket", "delete_ticket"]) addTool(arsenal, name);
  addTool(arsenal, "pay", "billing");
  const helpers: ToolFilter = { ids: ["support.create_ticket", "support.find_ticket"] };
  const payers: ToolFilter = { namespaces: ["billing"] };
  arsenal.toolsets.add(toolset("helpers", helpers, { description: "For the people at the desk." }));
  arsenal.toolsets.add(toolset("payers", payers));
  arsenal.toolsets.add(toolset("both", { any: [helpers, payers] }));
  return arsenal;
}

/** Registers a tool that returns its own name. */
export function addTool(arsenal: ToolArsenal, name: string, namespace = "support"): void {
  arsenal.register({ name, namespace, description: `Will ${name} for a customer.` }, () => name);
}

/** Sends one message to an MCP address, with the headers that a client of its era sends, and reads the last message of the answer. */
export async function post(
  url: string,
  message: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: JsonObject; readonly session: Readonly<Record<string, string>> }> {
  const { method, params } = message;
  const { _meta, name } = (params ?? {}) as JsonObject;
  const response = await fetch(url, {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...(_meta !== undefined && { "mcp-protocol-version": "2026-07-28", "mcp-method": String(method) }),
      ...(_meta !== undefined && typeof name === "string" && { "mcp-name": name }),
      ...headers,
    },
    body: JSON.stringify(message),
  });
  const id = response.headers.get("mcp-session-id");
  const session = { ...headers, ...(id !== null && { "mcp-session-id": id }) };
  if (response.headers.get("content-type") === "text/event-stream")
    return { status: response.status, body: (await messagesOf(response)).at(-1) as JsonObject, session };
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as JsonObject), session };
}

/** Opens a session of the older era and returns the headers of its requests. */
export async function initialize(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, string>>> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const { session } = await post(url, legacy("init", "initialize", params), headers);
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  return session;
}
