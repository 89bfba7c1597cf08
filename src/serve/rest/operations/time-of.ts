import { fixable } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";

/** Returns the time in a query parameter, in milliseconds since the epoch. Throws INPUT_INVALID if it is not a time. */
export function timeOf(field: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const time = Date.parse(value);
  if (!Number.isNaN(time)) return time;
  const fix = "Write it as 2026-05-04T12:00:00Z.";
  throw fixable("INPUT_INVALID", `${field} is not a time: ${showValue(value)}.`, fix, { field, value });
}
