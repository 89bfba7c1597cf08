import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

/** Tells whether a path belongs to the gateway itself, so that no tool may read or write it, whichever folders the tool may use. */
export type IsOwnFile = (target: string) => Promise<boolean>;

/** The folder in which state, audit log, keys and approvals are kept by default. */
const PRIVATE_FOLDER = ".toolarsenal";

/** Files that a gateway reads when it starts next, whether or not they are there now. */
const OWN_NAMES = /^(?:arsenal\.(?:ya?ml|json)|\.env(?:\..*)?)$/;

/** The characters that make a path a pattern. */
const WILDCARD = /[*?[{]/;

/**
 * Recognises the gateway's own files. `paths` are files with all that is kept next to them under the same name (`audit.jsonl.key`,
 * `state.sqlite-wal`), folders with everything below them, and patterns (`tools/*.py`). Letter case is ignored, as some file systems do.
 */
export function createOwnFiles(paths: readonly string[]): IsOwnFile {
  return async (target) => {
    const names = fold(target).split(sep);
    if (names.includes(PRIVATE_FOLDER) || OWN_NAMES.test(names.at(-1) ?? "")) return true;
    // Links may change while the gateway runs, so they are followed each time.
    for (const path of paths) if (covers(await followed(path), fold(target))) return true;
    return isLinkedToOne(target, paths);
  };
}

/** True if the file has another name, which is one of these. */
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

/** A pattern covers everything in its fixed folder, or below it, that ends as the pattern does. That may be more than it matches, never less. */
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

/** The path with links resolved as far as it exists. The rest is appended unchanged. */
async function resolveLinks(path: string): Promise<string> {
  const parent = dirname(path);
  return realpath(path).catch(async () => (parent === path ? path : join(await resolveLinks(parent), basename(path))));
}
