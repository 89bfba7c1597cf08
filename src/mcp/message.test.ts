import { describe, expect, it } from "vitest";
import { readMessage } from "./message.ts";

describe("readMessage", () => {
  it.each([
    ["request", { jsonrpc: "2.0", id: 1, method: "ping" }],
    ["request", { jsonrpc: "2.0", id: "", method: "tools/call", params: {} }],
    ["notification", { jsonrpc: "2.0", method: "notifications/initialized" }],
    ["response", { jsonrpc: "2.0", id: 1, result: {} }],
    ["response", { jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } }],
    ["response", { jsonrpc: "2.0", id: null, error: { code: 1, message: "no" } }],
  ])("tells a %s: %j", (kind, message) => {
    expect(readMessage(message)).toEqual({ kind, message });
  });

  it.each([
    [[], null],
    [[{ jsonrpc: "2.0", id: 1, method: "ping" }], null],
    ["ping", null],
    [null, null],
    [{ id: 4, method: "ping" }, 4],
    [{ jsonrpc: "1.0", id: 4, method: "ping" }, 4],
    [{ jsonrpc: "2.0", id: null, method: "ping" }, null],
    [{ jsonrpc: "2.0", id: 1.5, method: "ping" }, null],
    [{ jsonrpc: "2.0", id: {}, method: "ping" }, null],
    [{ jsonrpc: "2.0", id: 4, method: 7 }, 4],
    [{ jsonrpc: "2.0", id: 4, method: "ping", params: [] }, 4],
    [{ jsonrpc: "2.0", id: 4 }, 4],
    [{ jsonrpc: "2.0", id: 4, result: 1 }, 4],
    [{ jsonrpc: "2.0", id: 4, error: "no" }, 4],
  ])("refuses %j, and keeps the id where there is one", (message, id) => {
    expect(readMessage(message)).toMatchObject({ kind: "invalid", id, error: { code: -32600 } });
  });
});
