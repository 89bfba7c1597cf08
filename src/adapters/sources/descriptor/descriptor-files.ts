import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ArsenalError } from "../../../errors/arsenal-error.ts";

/**
 * The TOML files of ensembles that a path means: the file itself, those directly in a folder, or those that match a `*` in the last part of
 * the path. In alphabetical order. Throws CONFIG_INVALID if there are none.
 */
export async function descriptorFiles(path: string): Promise<readonly string[]> {
  const isPattern = basename(path).includes("*");
  const folder = isPattern ? dirname(path) : path;
  if (!isPattern && !(await isFolder(path))) return [resolve(path)];
  const matches = toPattern(isPattern ? basename(path) : "*.toml");
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => matches.test(name)).sort();
  if (files.length > 0) return files.map((name) => resolve(join(folder, name)));
  const fix = "Name a .toml file, or a folder or pattern that has some.";
  throw new ArsenalError("CONFIG_INVALID", `${path} has no ensemble. ${fix}`, { field: "ensembles", value: path, fix });
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** `*` stands for any text without a slash; hidden files are not meant. */
function toPattern(pattern: string): RegExp {
  const text = pattern.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`));
  return new RegExp(`^(?!\\.)${text.join("[^/]*")}$`);
}
