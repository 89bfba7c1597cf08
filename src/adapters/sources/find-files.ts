// Node 20 has no glob. A named import of it would fail before the version of Node is checked.
import fs, { readdir, stat } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";

export interface PathProblem {
  readonly file: string;
  readonly reason: string;
}

/**
 * Returns the files at some paths: a file, the files directly in a folder, or the files that match a pattern such as `tools/*.py`. Ignores files
 * without one of the `endings`.
 */
export async function findFiles(paths: readonly string[], endings: readonly string[]) {
  const files = new Set<string>();
  const given = new Set<string>();
  const folders = new Set<string>();
  const problems: PathProblem[] = [];
  const add = (path: string, named: boolean): void => {
    const fits = endings.includes(extname(path).toLowerCase());
    folders.add(dirname(path));
    if (fits && (named || !LEFT_OUT.test(path))) files.add(path);
    else if (named) problems.push({ file: path, reason: `It has to end in ${endings.join(", ")}.` });
  };
  for (const each of paths) {
    const path = resolve(each);
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) {
      folders.add(path);
      for (const name of (await readdir(path)).toSorted()) add(join(path, name), false);
    } else if (found !== undefined) {
      given.add(path);
      add(path, true);
    } else if (/[*?[{]/.test(each)) {
      folders.add(fixedFolder(path));
      const names: string[] = [];
      for await (const name of fs.glob(path)) names.push(name);
      for (const name of names.toSorted()) add(name, false);
    } else {
      folders.add(dirname(path));
      problems.push({ file: path, reason: "There is no such file or folder." });
    }
  }
  // A change in one of these folders may change the list of files. `given` has the files that a path names.
  return { files: [...files], given, folders: [...folders], problems };
}

/** Files that are used only if a path names them: hidden ones, those that start with `_`, tests, declarations, and settings of other programs. */
const LEFT_OUT =
  /(?:^|[/\\])(?:[._][^/\\]*|node_modules[/\\].*|package(?:-lock)?\.json|[^/\\]+\.(?:test|spec|d|config)\.[cm]?[jt]s)$/;

/** Returns the folder of a pattern, up to its first wildcard. */
function fixedFolder(pattern: string): string {
  const parts = pattern.split("/");
  const wild = parts.findIndex((part) => /[*?[{]/.test(part));
  return parts.slice(0, wild).join("/") || "/";
}
