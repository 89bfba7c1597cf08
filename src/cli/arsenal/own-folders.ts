import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { defaultCache } from "../../adapters/embedders/cache-folder.ts";
import { stateType } from "../../config/load/chosen-adapters.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import type { Terminal } from "../command.ts";
import { approvalsFolder } from "./local-approvals.ts";

/** Warns once if folders in the user's home are not writable. Then vectors are not cached, and approvals are lost with the process. */
export function warnOfOwnFolders(
  { embedder, state }: { readonly embedder: Pick<ResolvedConfig["embedder"], "cache"> } & Pick<ResolvedConfig, "state">,
  { err, environment }: Pick<Terminal, "err" | "environment">,
): void {
  const cache = embedder.cache === undefined ? defaultCache(environment) : false;
  const home = environment["HOME"] || environment["USERPROFILE"];
  const losesApprovals = home && stateType(state) === "memory" && approvalsFolder(environment) === undefined;
  const losesCache = cache !== false && !canWriteIn(cache);
  if (!losesCache && !losesApprovals) return;
  const lost = [
    ...(losesCache ? ["tools are embedded again in every run"] : []),
    ...(losesApprovals ? ["approvals end with this process"] : []),
  ];
  const fix = losesCache ? ", or TOOLARSENAL_CACHE to a folder for the cache, or to off" : "";
  err.write(
    `Cannot write to ${losesApprovals ? home : cache}: ${lost.join(", and ")}. Set HOME to a folder that you may write to${fix}.\n`,
  );
}

/** Returns whether a folder is writable, or can be created in its nearest existing parent. */
function canWriteIn(folder: string): boolean {
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK);
    return statSync(nearest).isDirectory();
  } catch {
    return false;
  }
}
