import { redactValue } from "./redact-value.ts";

/** Takes secrets out of an error in place, so that it stays the error it is: message, stack, its own members, and what caused it. */
export function redactError<Thrown>(error: Thrown, redact: (text: string) => string): Thrown {
  visit(error, redact, new Set());
  return error;
}

const SHOWN = { configurable: true, writable: true };

function visit(error: unknown, redact: (text: string) => string, seen: Set<unknown>): void {
  if (!(error instanceof Error) || seen.has(error)) return;
  seen.add(error);
  for (const name of new Set(["message", "stack", ...Object.keys(error)])) {
    const value: unknown = Reflect.get(error, name);
    const shown = redactValue(value, redact);
    // An error that lets nothing be changed stays as it is.
    if (shown !== value)
      Reflect.defineProperty(error, name, { ...SHOWN, value: shown, enumerable: name in { ...error } });
  }
  visit(error.cause, redact, seen);
  if (error instanceof AggregateError) for (const each of error.errors) visit(each, redact, seen);
}
