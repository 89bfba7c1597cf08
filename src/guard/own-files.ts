import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

/** Returns whether a path belongs to the gateway itself. No tool may read or write such a file, whatever its folders are. */
export type IsOwnFile = (target: string) => Promise<boolean>;

/** The default folder of state, audit log, keys and approvals. */
const PRIVATE_FOLDER = ".toolarsenal";

/** Files that a gateway reads on its next start, whether or not they exist now. */
const OWN_NAMES = /^(?:arsenal\.(?:ya?ml|json)|\.env(?:\..*)?)$/;

/** The characters that make a path a pattern. */
const WILDCARD = /[*?[{]/;

/**
 * Creates a check for the gateway's own files. Each of `paths` is a file, including files with the same prefix (`audit.jsonl.key`,
 * `state.sqlite-wal`), a folder with its contents, or a pattern (`tools/*.py`). Ignores letter case, because some file systems do.
 */
export function createOwnFiles(paths: readonly string[]): IsOwnFile {
  return async (target) => {
    const names = fold(target).split(sep);
    if (names.includes(PRIVATE_FOLDER) || OWN_NAMES.test(names.at(-1) ?? "")) return true;
    // Links may change while the gateway runs, so they are resolved each time.
    for (const path of paths) if (covers(await followed(path), fold(target))) return true;
    return isLinkedToOne(target, paths);
  };
}

/** Returns true if the file is a hard link to one of these. */
async function isLinkedToOne(target: string, paths: readonly string[]): Promise<boolean> {
  const found = await stat(target).catch(() => undefined);
  if (found === undefined || found.nlink < 2 || found.isDirectory()) return false;
  for (const path of paths) {
    const own = await stat(path).catch(() => undefined);
    if (own?.ino === found.ino && own.dev === found.dev) return true;
  }
  return false;
}

function covers({ path, ending }: { readonly path: string; readonly ending?: string }, target: string): boolean {
  if (ending !== undefined) return target.startsWith(path + sep) && target.endsWith(ending);
  return target === path || [sep, ".", "-"].some((next) => target.startsWith(path + next));
}

/** Resolves a path. A pattern is resolved to its fixed folder and its ending: this covers everything that the pattern matches, and possibly more. */
async function followed(path: string): Promise<{ readonly path: string; readonly ending?: string }> {
  const names = path.split(sep);
  const wild = names.findIndex((name) => WILDCARD.test(name));
  if (wild < 0) return { path: fold(await resolveLinks(path)) };
  const folder = names.slice(0, wild).join(sep) || sep;
  return { path: fold(await resolveLinks(folder)), ending: fold(path.slice(path.search(/[^*?\]}]*$/))) };
}

function fold(path: string): string {
  return path.toLowerCase();
}

/** Returns the real path of the existing part, and appends the missing part unchanged. */
async function resolveLinks(path: string): Promise<string> {
  const parent = dirname(path);
  return realpath(path).catch(async () => (parent === path ? path : join(await resolveLinks(parent), basename(path))));
}
