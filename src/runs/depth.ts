import { AsyncLocalStorage } from "node:async_hooks";
import { fixable } from "../errors/arsenal-error.ts";

const depths = new AsyncLocalStorage<number>();

/** The depth of a run that starts now: 1 for one that no other run calls. Throws if that is deeper than `most`. */
export function nextDepth(name: string, most: number): number {
  const depth = (depths.getStore() ?? 0) + 1;
  if (depth <= most) return depth;
  const problem = `${name} was not started: ${most} programs and workflows that call each other are running already, and programs.depth allows no more.`;
  const fix = "Let fewer of them call each other, or raise programs.depth.";
  throw fixable("CALL_INVALID", problem, fix, { field: "programs.depth", value: most, beforeSend: true });
}

/**
 * Makes a call of a run at this depth, so that the runs which it starts count as deeper. The depth is entered for each call, because a program's
 * calls arrive from a thread that an earlier run may have started.
 */
export function atDepth<Result>(depth: number, call: () => Promise<Result>): Promise<Result> {
  return depths.run(depth, call);
}
