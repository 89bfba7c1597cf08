// Node 20 has no glob: a named import of it would fail before the version of Node is checked.
import fs, { readdir, stat } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";

/** A path that cannot be used. */
export interface PathProblem {
  readonly file: string;
  readonly reason: string;
}

/**
 * The files that paths name: a file, the files directly in a folder, or those that match a pattern such as `tools/*.py`. Only files with one of the
 * `endings` count.
 */
export async function findFiles(paths: readonly string[], endings: readonly string[]) {
  const files = new Set<string>();
  const folders = new Set<string>();
  const problems: PathProblem[] = [];
  const add = (path: string, named: boolean): void => {
    const fits = endings.includes(extname(path).toLowerCase());
    folders.add(dirname(path));
    if (fits && (named || !LEFT_OUT.test(path))) files.add(path);
    else if (named) problems.push({ file: path, reason: `It has to end in ${endings.join(", ")}.` });
  };
  for (const given of paths) {
    const path = resolve(given);
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) {
      folders.add(path);
      for (const name of (await readdir(path)).toSorted()) add(join(path, name), false);
    } else if (found !== undefined) add(path, true);
    else if (/[*?[{]/.test(given)) {
      folders.add(fixedFolder(path));
      const names: string[] = [];
      for await (const name of fs.glob(path)) names.push(name);
      for (const name of names.toSorted()) add(name, false);
    } else {
      folders.add(dirname(path));
      problems.push({ file: path, reason: "There is no such file or folder." });
    }
  }
  // Changes in these folders may change the files.
  return { files: [...files], folders: [...folders], problems };
}

/** Hidden and private files, tests and declaration files count only if they are named. */
const LEFT_OUT = /(?:^|[/\\])[._][^/\\]*$|\.(?:test|spec|d)\.[cm]?[jt]s$/;

/** The part of a pattern before its first wildcard. */
function fixedFolder(pattern: string): string {
  const parts = pattern.split("/");
  const wild = parts.findIndex((part) => /[*?[{]/.test(part));
  return parts.slice(0, wild).join("/") || "/";
}
