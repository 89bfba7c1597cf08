import { ArsenalError } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";

/** The whole number of an option, within bounds. Defaults to the fallback. */
export function readNumber(
  value: string | boolean | undefined,
  option: string,
  bounds: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  if (value === undefined) return bounds.fallback;
  const number = Number(value);
  if (typeof value === "string" && Number.isInteger(number) && number >= bounds.min && number <= bounds.max)
    return number;
  throw new ArsenalError(
    "INPUT_INVALID",
    `${option} must be a whole number from ${bounds.min} to ${bounds.max}, not ${showValue(value)}.`,
    {
      field: option,
      value,
      fix: `Write ${option} ${bounds.fallback}.`,
    },
  );
}
