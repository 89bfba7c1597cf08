import { deprecate as warnOnce } from "node:util";

/** A part that will be removed in the next major version, and its replacement. */
export interface Deprecation {
  /** The deprecated part, in the notation of users: `arsenal.reloadPolicy()`. */
  readonly name: string;
  /** The replacement, in the notation of users. */
  readonly instead: string;
  /** Identifies the warning: `TOOLARSENAL_DEP0001`. Parts with the same code share one warning. */
  readonly code: `TOOLARSENAL_DEP${number}`;
}

/** Returns the function with one `DeprecationWarning` per process, which names the replacement. Calls work as before. */
export function deprecate<Run extends (...parameters: never[]) => unknown>(
  run: Run,
  { name, instead, code }: Deprecation,
): Run {
  return warnOnce(run, `${name} is deprecated. Use ${instead} instead.`, code);
}
