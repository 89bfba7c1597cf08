import { AsyncLocalStorage } from "node:async_hooks";
import { fixable } from "../errors/arsenal-error.ts";

const depths = new AsyncLocalStorage<number>();

/** Returns the depth of a run that starts now: 1 for a run that no other run calls. Throws if the depth exceeds `most`. */
export function nextDepth(name: string, most: number): number {
  const depth = (depths.getStore() ?? 0) + 1;
  if (depth <= most) return depth;
  const problem = `${name} was not started: ${most} programs and workflows that call each other are running already, and programs.depth allows no more.`;
  const fix = "Reduce the nesting, or raise programs.depth.";
  throw fixable("CALL_INVALID", problem, fix, { field: "programs.depth", value: most, beforeSend: true });
}

/**
 * Makes a call of a run at this depth, so that runs which the call starts count as deeper. The depth is set for each call, because a program's calls
 * may arrive from a thread that an earlier run started.
 */
export function atDepth<Result>(depth: number, call: () => Promise<Result>): Promise<Result> {
  return depths.run(depth, call);
}
