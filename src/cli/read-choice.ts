import { ArsenalError } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";

/** The value of an option that takes one of a few names; undefined if it was not given. */
export function readChoice<Value extends string>(
  value: string | boolean | undefined,
  option: string,
  known: readonly Value[],
): Value | undefined {
  if (value === undefined) return undefined;
  const found = known.find((name) => name === value);
  if (found !== undefined) return found;
  const fix = `Use one of ${known.join(", ")}.`;
  throw new ArsenalError("INPUT_INVALID", `${option} cannot be ${showValue(value)}. ${fix}`, {
    field: option,
    value,
    fix,
  });
}
