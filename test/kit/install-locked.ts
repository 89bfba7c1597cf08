import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Installs the packages of a folder as its lock file says, unless that is done already. */
export function installLocked(folder: URL, name: string): void {
  const lock = new URL("package-lock.json", folder);
  const installed = new URL("node_modules/.installed-from", folder);
  if (existsSync(installed) && readFileSync(installed).equals(readFileSync(lock))) {
    process.stdout.write(`${name}: already installed\n`);
    return;
  }
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: fileURLToPath(folder),
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status === 0) copyFileSync(lock, installed);
  else process.stderr.write(`${name} could not be installed. See the messages of npm above.\n`);
  process.exitCode = status ?? 1;
}
