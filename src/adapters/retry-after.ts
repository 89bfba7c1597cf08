import type { Clock } from "../observe/clock.ts";

/** The pause that a server requests, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function askedPause(headers: Readonly<Record<string, string>>, clock: Clock): number | undefined {
  const { "retry-after-ms": milliseconds = "", "retry-after": header = "" } = headers;
  if (NUMBER.test(milliseconds)) return Number(milliseconds);
  if (NUMBER.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.round(at - clock.now()));
}

const NUMBER = /^\s*\d+(?:\.\d+)?\s*$/;
