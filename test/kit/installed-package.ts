import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { copyAssets } from "../../scripts/copy-assets.ts";
import { read, ROOT } from "../repo/project.ts";
import { IS_BUILT } from "./program.ts";

/**
 * Puts the package into `folder/node_modules`, as npm installs it, beside every package of this repository but those of `@types`.
 * Returns the folder of the package.
 */
export function installPackage(folder: string): string {
  const modules = join(folder, "node_modules");
  const installed = join(modules, "toolarsenal");
  mkdirSync(installed, { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (name.startsWith(".") || name === "@types" || name === "toolarsenal") continue;
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  const { files } = JSON.parse(read("package.json")) as { readonly files: readonly string[] };
  for (const path of ["package.json", "examples", ...files.filter((name) => name.endsWith(".json"))])
    cpSync(join(ROOT, path), join(installed, path), { recursive: true });
  symlinkSync(join(ROOT, "models"), join(installed, "models"));
  if (IS_BUILT) cpSync(join(ROOT, "dist"), join(installed, "dist"), { recursive: true });
  else build(join(installed, "dist"));
  return installed;
}

/** Compiles the sources without looking for errors, which `npm run check` does. */
function build(outDir: string): void {
  const parameters = ["-p", "tsconfig.build.json", "--noCheck", "--outDir", outDir];
  const { status, stdout } = spawnSync(join(ROOT, "node_modules/.bin/tsc"), parameters, {
    cwd: ROOT,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The sources do not compile:\n${stdout}`);
  copyAssets(pathToFileURL(`${outDir}/`));
}
