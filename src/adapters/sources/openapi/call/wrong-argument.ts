import { ArsenalError } from "../../../../errors/arsenal-error.ts";

/** An argument that cannot be written into a request. Nothing was sent. */
export function wrongArgument(argument: string, problem: string): ArsenalError {
  const fix = `Call again with another value for ${argument}.`;
  return new ArsenalError("ARGUMENTS_INVALID", `${argument} ${problem}. ${fix}`, {
    field: argument,
    fix,
    beforeSend: true,
  });
}
