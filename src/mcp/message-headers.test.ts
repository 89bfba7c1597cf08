import { expect, it } from "vitest";
import { toMessageHeaders } from "./headers.ts";

const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };

it("says what a request of the modern era is about", () => {
  const request = (method: string, params: object): unknown =>
    toMessageHeaders({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } });
  const common = { "mcp-protocol-version": "2026-07-28" };
  expect(request("tools/list", {})).toEqual({ ...common, "mcp-method": "tools/list" });
  expect(request("tools/call", { name: "add" })).toEqual({ ...common, "mcp-method": "tools/call", "mcp-name": "add" });
  expect(request("resources/read", { uri: "a://b", name: "c" })).toMatchObject({ "mcp-name": "a://b" });
});

it("writes names that no header can carry in base64", () => {
  const headers = toMessageHeaders({ jsonrpc: "2.0", id: 1, method: "prompts/get", params: { name: "für", _meta } });
  expect(headers?.["mcp-name"]).toBe("=?base64?ZsO8cg==?=");
});

it("says nothing of messages of the legacy era, notifications and answers", () => {
  expect(toMessageHeaders({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add" } })).toBeUndefined();
  expect(toMessageHeaders({ jsonrpc: "2.0", method: "notifications/cancelled", params: { _meta } })).toBeUndefined();
  expect(toMessageHeaders({ jsonrpc: "2.0", id: 1, result: { _meta } })).toBeUndefined();
});
