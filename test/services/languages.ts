import { spawnSync } from "node:child_process";

/** Why Python or bash files cannot be tested, which is printed; undefined if they can. Continuous integration must have both. */
export function languagesMissing(): string | undefined {
  const missing = ["python3", "bash"].filter((program) => spawnSync(program, ["--version"]).status !== 0);
  if (missing.length === 0) return undefined;
  const why = `${missing.join(" and ")} is not installed`;
  if (process.env["CI"] === "true") throw new Error(why);
  process.stderr.write(`Nothing is tested with Python and bash files: ${why}\n`);
  return why;
}
