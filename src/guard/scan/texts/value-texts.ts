import { isPlainObject } from "../../../tool/json-schema.ts";

/** What becomes of one text of some data. `name` is true for the name of a member, whose value follows under that path. */
export type TextVisit = (text: string, path: string, name: boolean) => string;

/** Deeper, or in more parts, than any real data: it counts as something that cannot be read. */
const MAX_DEPTH = 200;
const MAX_PARTS = 200_000;

/**
 * The same data with every text replaced, names of members included: a model reads those too. Only plain JSON is looked into; pictures, sounds
 * and files in Base64 stay as they are. Data in which nothing was replaced is returned itself. Throws on data that is too large to read.
 */
export function mapTexts(value: unknown, visit: TextVisit): unknown {
  let parts = 0;

  function map(inner: unknown, path: string, depth: number): unknown {
    if (depth > MAX_DEPTH) throw new Error(`The data is nested more than ${MAX_DEPTH} deep.`);
    if (++parts > MAX_PARTS) throw new Error(`The data has more than ${MAX_PARTS} parts.`);
    if (typeof inner === "string") return visit(inner, path, false);
    if (Array.isArray(inner)) return mapList(inner, path, depth);
    return isPlainObject(inner) ? mapMembers(inner, path, depth) : inner;
  }

  function mapList(list: readonly unknown[], path: string, depth: number): readonly unknown[] {
    let changed = false;
    const mapped = list.map((item, index) => {
      const next = map(item, join(path, String(index)), depth + 1);
      if (next !== item) changed = true;
      return next;
    });
    return changed ? mapped : list;
  }

  function mapMembers(object: Readonly<Record<string, unknown>>, path: string, depth: number): object {
    let changed = false;
    const mapped = new Map<string, unknown>();
    for (const [name, inner] of Object.entries(object)) {
      const within = join(path, name);
      const newName = visit(name, within, true);
      const next = isBinary(object, name, inner) ? inner : map(inner, within, depth + 1);
      if (newName !== name || next !== inner) changed = true;
      mapped.set(free(newName, mapped), next);
    }
    return changed ? Object.fromEntries(mapped) : object;
  }

  return map(value, "", 0);
}

/** A name that no other member has: what was told apart by what it hid must not become one. */
function free(name: string, taken: ReadonlyMap<string, unknown>): string {
  let candidate = name;
  for (let count = 2; taken.has(candidate); count++) candidate = `${name} (${count})`;
  return candidate;
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

/** The data of a picture or a sound, and a file in Base64, as MCP's results have them. What only calls itself so is text. */
function isBinary(part: Readonly<Record<string, unknown>>, name: string, value: unknown): boolean {
  const carries =
    (name === "data" && (part["type"] === "image" || part["type"] === "audio")) ||
    (name === "blob" && typeof part["uri"] === "string");
  return carries && typeof value === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}
