import { createTraceIds } from "../../execute/trace-ids.ts";
import { type JsonObject, RpcError } from "../../mcp/protocol.ts";
import { systemClock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import { readTraceContext, spanBelow } from "../../observe/trace-context.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Exchange } from "./plane.ts";

/** Answers MCP requests and reports them. Each has a span below `_meta.traceparent`, else below its HTTP request, else in a new trace. */
export function createTracing(emit: Emit = () => {}) {
  const ids = createTraceIds();
  return async (exchange: Exchange, answer: (exchange: Exchange) => Promise<JsonObject>): Promise<JsonObject> => {
    const { params, headers, method, peer, id } = exchange;
    const meta = params["_meta"];
    const caller = readTraceContext(isPlainObject(meta) ? meta : undefined) ?? readTraceContext(headers);
    const { span, below } = spanBelow(caller, ids);
    const startedAt = systemClock.now();
    const finish = (failed: { readonly error?: string }): void => {
      const target = params["name"] ?? params["uri"];
      const sessionId = headers["mcp-session-id"];
      emit("request-finished", {
        ...span,
        startedAt,
        durationMs: systemClock.now() - startedAt,
        kind: "mcp",
        method,
        ...(typeof target === "string" && { target }),
        protocolVersion: peer.protocolVersion,
        ...(sessionId !== undefined && { sessionId }),
        requestId: String(id),
        ...failed,
      });
    };
    try {
      const result = await answer({ ...exchange, trace: below });
      finish(result["isError"] === true ? { error: "tool_error" } : {});
      return result;
    } catch (error) {
      finish({ error: error instanceof RpcError ? String(error.code) : "_OTHER" });
      throw error;
    }
  };
}
