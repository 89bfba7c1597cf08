import { showValue } from "../../../errors/show-value.ts";
import { type JsonObject, RPC, RpcError, type RpcNotification } from "../../../mcp/protocol.ts";
import type { Progress } from "../../../tool/handler.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Exchange } from "../plane.ts";

/** Changes of an upstream's lists and resources are announced separately, with the names that clients see. */
const TOLD_ELSEWHERE = /^notifications\/(?:.*\/list_changed|resources\/updated)$/;

/** Passes on log messages of the session's level, and progress. If both arsenal and upstream report progress, it is sent once. */
export function createRelay(exchange: Pick<Exchange, "params" | "notify">, level: LogLevel | undefined) {
  const { _meta } = exchange.params;
  const token = isPlainObject(_meta) ? _meta["progressToken"] : undefined;
  let last = "";

  function tellProgress(update: JsonObject): void {
    if (typeof token !== "string" && typeof token !== "number") return;
    const { progress, total, message } = update;
    const told = JSON.stringify([progress, total, message]);
    if (told === last) return;
    last = told;
    const params = { ...update, progressToken: token };
    exchange.notify({ jsonrpc: "2.0", method: "notifications/progress", params });
  }

  return {
    /** Passes on progress that the arsenal reports, for any tool. */
    onProgress: (update: Progress): void => tellProgress({ ...update }),
    onNotification(notification: RpcNotification): void {
      const { method, params = {} } = notification;
      if (TOLD_ELSEWHERE.test(method)) return;
      if (method === "notifications/progress") return tellProgress(params);
      const severity = LEVELS.findIndex((known) => known === params["level"]);
      if (method === "notifications/message" && level !== undefined && severity < LEVELS.indexOf(level)) return;
      exchange.notify(notification);
    },
  };
}

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export type LogLevel = (typeof LEVELS)[number];

/** Returns the level that a client names. Throws the protocol's error if the level is invalid. */
export function toLogLevel(given: unknown): LogLevel {
  const level = LEVELS.find((known) => known === given);
  if (level !== undefined) return level;
  const message = `${showValue(given)} is not a log level. Use one of ${LEVELS.join(", ")}.`;
  throw new RpcError({ code: RPC.invalidParams, message });
}
