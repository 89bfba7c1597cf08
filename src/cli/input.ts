import { ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { messageOf, showValue } from "../errors/show-value.ts";
import type { Input } from "./command.ts";

export function wrongInput(field: string, value: unknown, problem: string, fix: string): ArsenalError {
  return fixable("INPUT_INVALID", problem, fix, { field, value });
}

/** Parses the user's JSON. `refuse` must throw; it receives the parser's reason. */
export function parseJson(text: string, refuse: (reason: string) => never): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return refuse(messageOf(error));
  }
}

/** Returns the value of an option that accepts only a few values; undefined if omitted. */
export function readChoice<Value extends string>(
  { options }: Input,
  name: string,
  known: readonly Value[],
): Value | undefined {
  const value = options[name];
  const found = known.find((each) => each === value);
  if (value === undefined || found !== undefined) return found;
  throw wrongInput(`--${name}`, value, `--${name} cannot be ${showValue(value)}.`, `Use one of ${known.join(", ")}.`);
}

/** Returns the integer value of an option, within bounds. Defaults to `fallback`. */
export function readNumber(
  { options }: Input,
  name: string,
  { min, max, fallback }: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const value = options[name] ?? String(fallback);
  const number = Number(value);
  if (options[name] === undefined || (Number.isInteger(number) && number >= min && number <= max)) return number;
  const message = `--${name} must be a whole number from ${min} to ${max}, not ${showValue(value)}.`;
  throw new ArsenalError("INPUT_INVALID", message, { field: `--${name}`, value, fix: `Write --${name} ${fallback}.` });
}
