/**
 * `npm run sbom`: the software bill of materials of the package in CycloneDX, on stdout. It lists what `npm install toolarsenal` installs. `npm sbom --omit
 * dev` leaves out packages that our development tools also use, so npm reads a lock file without development here.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./packed-files.ts";

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
}

const NOT_INSTALLED = ["devDependencies", "peerDependencies", "peerDependenciesMeta", "overrides", "allowScripts"];

function without(members: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

function read(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(ROOT + name, "utf8")) as Record<string, unknown>;
}

const base = mkdtempSync(join(tmpdir(), "sbom-"));
try {
  // npm names the product after its folder.
  const folder = join(base, "toolarsenal");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify(without(read("package.json"), NOT_INSTALLED)));
  const { packages, ...lock } = read("package-lock.json") as { packages: Readonly<Record<string, LockedPackage>> };
  const installed = Object.entries(packages)
    .filter(([, { dev, devOptional, peer }]) => !(dev ?? devOptional ?? peer ?? false))
    .map(([path, each]) => [path, path === "" ? without({ ...each }, NOT_INSTALLED) : each]);
  writeFileSync(
    join(folder, "package-lock.json"),
    JSON.stringify({ ...lock, packages: Object.fromEntries(installed) as object }),
  );
  const parameters = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  const shell = process.platform === "win32";
  process.stdout.write(execFileSync("npm", parameters, { cwd: folder, stdio: ["ignore", "pipe", "inherit"], shell }));
} finally {
  rmSync(base, { recursive: true, force: true });
}
