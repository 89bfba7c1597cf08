import { deprecate as warnOnce } from "node:util";

/** A deprecated part, which the next major version will remove, and its replacement. */
export interface Deprecation {
  /** The deprecated part as users write it: `arsenal.reloadPolicy()`. */
  readonly name: string;
  /** The replacement as users write it. */
  readonly instead: string;
  /** Identifies the warning: `TOOLARSENAL_DEP0001`. Parts with the same code share one warning. */
  readonly code: `TOOLARSENAL_DEP${number}`;
}

/** Wraps a function to emit one `DeprecationWarning` per process, which names the replacement. Calls work as before. */
export function deprecate<Run extends (...parameters: never[]) => unknown>(
  run: Run,
  { name, instead, code }: Deprecation,
): Run {
  return warnOnce(run, `${name} is deprecated. Use ${instead} instead.`, code);
}
