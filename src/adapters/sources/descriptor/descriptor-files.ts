// Node 20 has no glob: a named import of it would fail before the version of Node is checked.
import fs, { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { fixable } from "../../../errors/arsenal-error.ts";

/**
 * The TOML files of ensembles that a path names: the file itself, those directly in a folder, or those that match a `*` in the last part of
 * the path. In alphabetical order. Throws CONFIG_INVALID if there are none.
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
