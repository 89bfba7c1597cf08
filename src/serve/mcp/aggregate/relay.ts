import type { JsonObject, RpcNotification } from "../../../mcp/protocol.ts";
import type { Progress } from "../../../tool/handler.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Exchange } from "../plane.ts";
import { isAtLeast, type LogLevel } from "./log-level.ts";

/** Hands on what is said about a request while it runs. */
export interface Relay {
  /** From the arsenal, about any tool. */
  onProgress(update: Progress): void;
  /** From an upstream. */
  onNotification(notification: RpcNotification): void;
}

/** Changes of an upstream's own lists and resources are told apart from any request, with the names that clients know. */
const TOLD_ELSEWHERE = /^notifications\/(?:.*\/list_changed|resources\/updated)$/;

/**
 * Hands on progress, under the token of the client's request, and log messages of the session's level. An update that the arsenal and the
 * upstream both tell is told once.
 */
export function createRelay(exchange: Pick<Exchange, "params" | "notify">, level: LogLevel | undefined): Relay {
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
    onProgress: (update) => tellProgress({ ...update }),
    onNotification(notification) {
      const { method, params = {} } = notification;
      if (TOLD_ELSEWHERE.test(method)) return;
      if (method === "notifications/progress") return tellProgress(params);
      const isQuiet = method === "notifications/message" && level !== undefined && !isAtLeast(params["level"], level);
      if (!isQuiet) exchange.notify(notification);
    },
  };
}
