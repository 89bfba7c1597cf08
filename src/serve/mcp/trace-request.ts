import { createTraceIds } from "../../execute/trace-ids.ts";
import { type JsonObject, RpcError } from "../../mcp/protocol.ts";
import { systemClock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import { readTraceContext, spanBelow, type TraceContext } from "../../observe/trace-context.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Exchange } from "./plane.ts";

type ExchangeHandler = (exchange: Exchange) => Promise<JsonObject>;

/**
 * Answers MCP requests and reports them. The span of a request is below `_meta.traceparent`, or else below its HTTP request, or else in a new trace.
 * Without a listener, requests have no spans.
 */
export function createTracing(emit: Emit = () => {}) {
  const ids = createTraceIds();

  /** Reports how an answer ended, as a span below the caller's span. */
  async function reported(
    exchange: Exchange,
    caller: TraceContext | undefined,
    answer: ExchangeHandler,
  ): Promise<JsonObject> {
    const { params, headers, method, peer, id } = exchange;
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
  }

  return (exchange: Exchange, answer: ExchangeHandler): Promise<JsonObject> => {
    const { _meta: meta } = exchange.params;
    const named = isPlainObject(meta) ? readTraceContext(meta) : undefined;
    const caller = named ?? exchange.trace ?? readTraceContext(exchange.headers);
    if (caller === undefined || emit.wants?.("request-finished") !== false) return reported(exchange, caller, answer);
    return answer(caller === exchange.trace ? exchange : { ...exchange, trace: caller });
  };
}
