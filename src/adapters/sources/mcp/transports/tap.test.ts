import type { Transport } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import type { RpcMessage } from "../../../../mcp/protocol.ts";
import { createTap, type TapListener } from "./tap.ts";

it("hands the client its own answers, and us everything else", async () => {
  const inner: Transport = { start: async () => {}, send: async () => {}, close: async () => {} };
  const tap = createTap(inner, { sharedChannel: true });
  const heard: unknown[] = [];
  const note =
    (who: string) =>
    (what: unknown): void =>
      void heard.push([who, (what as { id?: unknown; method?: unknown }).id ?? (what as { method: unknown }).method]);
  Object.assign(tap.transport, { onmessage: note("client") });
  const listener: TapListener = {
    answered: note("answered"),
    asked: note("asked"),
    told: note("told"),
    failed: () => {},
    closed: () => void heard.push(["closed"]),
  };
  tap.listen(listener);

  const come = (message: RpcMessage): void => inner.onmessage?.(message as never);
  come({ jsonrpc: "2.0", id: 0, result: { protocolVersion: "2025-11-25" } });
  come({ jsonrpc: "2.0", id: "server-discover-probe-1", error: { code: -32_601, message: "?" } });
  come({ jsonrpc: "2.0", id: "t1", result: {} });
  come({ jsonrpc: "2.0", id: "t1", error: { code: 1, message: "late" } });
  come({ jsonrpc: "2.0", id: 0, method: "ping" });
  come({ jsonrpc: "2.0", method: "notifications/progress" });
  inner.onclose?.();
  inner.onclose?.();

  expect(heard).toEqual([
    ["client", 0],
    ["client", "server-discover-probe-1"],
    ["answered", "t1"],
    ["answered", "t1"],
    ["asked", 0],
    ["told", "notifications/progress"],
    ["closed"],
  ]);
  expect(tap.handshake).toEqual({ protocolVersion: "2025-11-25" });
});
