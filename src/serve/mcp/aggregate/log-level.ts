import { RPC, RpcError } from "../../../mcp/protocol.ts";
import { showValue } from "../../../errors/show-value.ts";

/** How grave a log message can be, least first. */
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** The gravity of a log message. */
export type LogLevel = (typeof LEVELS)[number];

/** The level that a client names. Throws the protocol's error where it is none. */
export function toLogLevel(given: unknown): LogLevel {
  const level = LEVELS.find((known) => known === given);
  if (level !== undefined) return level;
  const message = `${showValue(given)} is no log level. Use one of ${LEVELS.join(", ")}.`;
  throw new RpcError({ code: RPC.invalidParams, message });
}

/** True for a level that is at least as grave as another. */
export function isAtLeast(given: unknown, least: LogLevel): boolean {
  return LEVELS.findIndex((known) => known === given) >= LEVELS.indexOf(least);
}
