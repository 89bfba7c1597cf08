import { existsSync, readFileSync } from "node:fs";

/** The folder whose node_modules has the frameworks. */
export const FRAMEWORKS: URL = new URL("./", import.meta.url);

/** The reason why a suite that needs the frameworks does not run. */
export const FRAMEWORKS_ABSENT =
  "test/frameworks is not installed as its lock file says. Run: node test/frameworks/install.ts";

/** True if test/frameworks is installed as its lock file says. Otherwise prints why its suites are skipped, and throws in CI. */
export function frameworksInstalled(): boolean {
  const installed = new URL("node_modules/.installed-from", FRAMEWORKS);
  const lock = readFileSync(new URL("package-lock.json", FRAMEWORKS));
  if (existsSync(installed) && readFileSync(installed).equals(lock)) return true;
  if (process.env["CI"] !== undefined) throw new Error(FRAMEWORKS_ABSENT);
  process.stderr.write(`Skipped: ${FRAMEWORKS_ABSENT}\n`);
  return false;
}
