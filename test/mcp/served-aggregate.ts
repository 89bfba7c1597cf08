import type { JsonObject } from "../../src/mcp/protocol.ts";
import { ToolArsenal } from "../../src/arsenal.ts";
import type { ToolArsenalConfig } from "../../src/config/config.ts";
import { localOperator } from "../../src/guard/principal.ts";
import { type AggregateParts, aggregatePlane } from "../../src/serve/mcp/aggregate/aggregate-plane.ts";
import type { Exchange, Peer, Plane } from "../../src/serve/mcp/plane.ts";
import { createSeal } from "../../src/serve/mcp/modern/seal.ts";

/** An arsenal that says nothing. */
export const quiet: ToolArsenalConfig = { telemetry: { enabled: false } };

/** An arsenal and the plane that serves it. */
export function serve(
  config: ToolArsenalConfig,
  parts: Partial<AggregateParts> = {},
): { arsenal: ToolArsenal; plane: Plane } {
  const arsenal = new ToolArsenal({ ...quiet, ...config });
  const plane = aggregatePlane({ arsenal, upstreams: () => [], mode: "static", seal: createSeal(), ...parts });
  return { arsenal, plane };
}

/** A client of the modern era, and one of the era before. */
export const modern: Peer = {
  era: "modern",
  protocolVersion: "2026-07-28",
  capabilities: {},
  principal: localOperator(),
};
export const legacy: Peer = { ...modern, era: "legacy", protocolVersion: "2025-11-25" };

/** One request as a plane gets it. */
export function exchange(method: string, params: JsonObject = {}, more: Partial<Exchange> = {}): Exchange {
  return {
    id: 1,
    method,
    params,
    peer: modern,
    signal: new AbortController().signal,
    notify: () => undefined,
    ask: () => Promise.reject(new Error("nobody asks")),
    headers: {},
    ...more,
  };
}

/** Sends one request. */
export function send(plane: Plane, method: string, params?: JsonObject, more?: Partial<Exchange>): Promise<JsonObject> {
  return plane.shared.handle(exchange(method, params, more));
}

/** Calls a tool by the name that clients see. */
export const call = (
  plane: Plane,
  name: string,
  args: unknown = {},
  more: Partial<Exchange> = {},
): Promise<JsonObject> => send(plane, "tools/call", { name, arguments: args }, more);
/** The text of a result. */
export const textOf = (result: JsonObject): string =>
  (result["content"] as { text: string }[]).map(({ text }) => text).join();
/** The names in a list of tools. */
export const namesOf = (result: JsonObject): readonly string[] =>
  (result["tools"] as { name: string }[]).map(({ name }) => name);
