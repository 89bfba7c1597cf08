// Node 20 has no glob. A named import of it would fail before the version of Node is checked.
import fs, { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { fixable } from "../../../errors/arsenal-error.ts";

/**
 * Returns the TOML files of ensembles at a path, in alphabetical order. The path is a file, a folder (not its subfolders), or a pattern with `*` in
 * its last segment. Throws CONFIG_INVALID if no file matches.
 */
export async function descriptorFiles(path: string): Promise<readonly string[]> {
  const isPattern = basename(path).includes("*");
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() === true;
  if (!isPattern && !isFolder) return [resolve(path)];
  const [folder, pattern] = isPattern ? [dirname(path), basename(path)] : [path, "*.toml"];
  const files: string[] = [];
  for await (const name of fs.glob(pattern, { cwd: folder })) files.push(resolve(folder, name));
  if (files.length > 0) return files.sort();
  const fix = "Name a .toml file, or a folder or pattern that has some.";
  throw fixable("CONFIG_INVALID", `${path} has no ensemble.`, fix, { field: "ensembles", value: path });
}
