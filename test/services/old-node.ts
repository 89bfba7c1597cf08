import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { MINIMUM_NODE, nodeProblem } from "../../src/system/node-version.ts";

/** A Node in PATH that is too old. Undefined, with a printed reason, if there is none; with CI=true that is an error. */
export function oldNode(): { readonly path: string; readonly version: string } | undefined {
  const candidates = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"));
  for (const path of new Set(candidates)) {
    if (!existsSync(path)) continue;
    const version = spawnSync(path, ["--version"], { encoding: "utf8" }).stdout.trim().slice(1);
    if (version !== "" && nodeProblem(version) !== undefined) return { path, version };
  }
  const why = `PATH has no Node below ${MINIMUM_NODE}`;
  if (process.env["CI"] === "true") throw new Error(why);
  process.stderr.write(`Nothing is tested with an old Node: ${why}\n`);
  return undefined;
}
