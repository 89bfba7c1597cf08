/** One import of a module, wherever it is written. */
export interface Import {
  readonly specifier: string;
  /** True where nothing is left of it at run time. */
  readonly typeOnly: boolean;
}

const FROM = /^(?:import|export)\s+(?<type>type\s+)?(?<what>[\w$*{][^;"']*?)\s*from\s*["'](?<specifier>[^"']+)["']/gm;
const BARE = /^import\s*["'](?<specifier>[^"']+)["']/gm;
const DYNAMIC = /\bimport\(\s*["'](?<specifier>[^"']+)["']\s*\)/g;

/** Every import and re-export in the text of a module. */
export function importsOf(text: string): readonly Import[] {
  const found: Import[] = [];
  for (const { groups = {} } of text.matchAll(FROM)) {
    const { type, what = "", specifier = "" } = groups;
    found.push({ specifier, typeOnly: type !== undefined || namesTypesOnly(what) });
  }
  for (const pattern of [BARE, DYNAMIC]) {
    for (const { groups = {} } of text.matchAll(pattern))
      found.push({ specifier: groups["specifier"] ?? "", typeOnly: false });
  }
  return found;
}

function namesTypesOnly(what: string): boolean {
  const inner = /^\{(?<names>[^}]*)\}$/.exec(what.trim())?.groups?.["names"];
  if (inner === undefined) return false;
  const names = inner.split(",").map((name) => name.trim());
  return names.filter((name) => name !== "").every((name) => name.startsWith("type "));
}
