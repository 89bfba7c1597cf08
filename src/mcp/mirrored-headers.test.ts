import { describe, expect, it } from "vitest";
import type { RpcRequest } from "./protocol.ts";
import { decodeHeader, headerMismatch } from "./headers.ts";

function request(method: string, params: Readonly<Record<string, unknown>>): RpcRequest {
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
  return { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } };
}

const call = request("tools/call", { name: "wetter_für" });
const good = {
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "=?base64?d2V0dGVyX2bDvHI=?=",
};

describe("headers that repeat the body", () => {
  it("agree where each says what the body says, an encoded name decoded", () => {
    expect(headerMismatch(call, good)).toBeUndefined();
  });

  it.each([
    ["mcp-protocol-version", "MCP-Protocol-Version"],
    ["mcp-method", "Mcp-Method"],
    ["mcp-name", "Mcp-Name"],
  ])("must have %s", (header, name) => {
    const { [header as "mcp-name"]: _, ...rest } = good;
    expect(headerMismatch(call, rest)).toContain(`the header ${name} is missing`);
  });

  it.each([
    ["mcp-protocol-version", "2025-11-25"],
    ["mcp-method", "TOOLS/CALL"],
    ["mcp-name", "other"],
    ["mcp-name", "=?base64?d2V0dGVyX2bDvHI?="],
    ["mcp-name", "wetter_f\u00fcr"],
  ])("refuse %s: %s", (header, value) => {
    expect(headerMismatch(call, { ...good, [header]: value })).toMatch(/^Header mismatch: /);
  });

  it("repeat the URI of a resource, and no name for a method without one", () => {
    const read = { ...good, "mcp-method": "resources/read" };
    expect(headerMismatch(request("resources/read", { uri: "file:///a" }), { ...read, "mcp-name": "file:///a" })).toBe(
      undefined,
    );
    expect(
      headerMismatch(request("resources/read", { uri: "file:///a" }), { ...read, "mcp-name": "file:///b" }),
    ).toContain('"file:///b"');
    expect(
      headerMismatch(request("tools/list", { name: "x" }), { ...good, "mcp-method": "tools/list" }),
    ).toBeUndefined();
  });

  it.each([
    ["plain", "plain"],
    ["=?base64?SGVsbG8=?=", "Hello"],
    ["=?base64?SGVsbG8?=", undefined],
    ["=?base64?SGVs!!!bG8=?=", undefined],
    ["=?base64?/w==?=", undefined],
    ["=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="],
    ["=?base64?SGVsbG8=", "=?base64?SGVsbG8="],
    ["=?base64?=", "=?base64?="],
    ["a\u0001b", undefined],
  ])("decodes %j as %j", (value, expected) => {
    expect(decodeHeader(value)).toBe(expected);
  });
});
