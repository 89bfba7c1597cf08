import { isPlainObject } from "../../../tool/json-schema.ts";

/** Returns the replacement of one text. `name` is true for the name of a member; its value follows under that path. */
export type TextVisit = (text: string, path: string, name: boolean) => string;

/** Deeper or larger data counts as unreadable, because real data is smaller. */
const MAX_DEPTH = 200;
const MAX_PARTS = 200_000;

/**
 * Returns a copy of plain JSON data with every text replaced, including member names, which models also read. Pictures, sounds and files in base64
 * stay unchanged. Returns the same data if nothing was replaced. Throws if the data is too large.
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

/** Returns a name that no other member has: two names that differ only in hidden characters must not collide. */
function free(name: string, taken: ReadonlyMap<string, unknown>): string {
  let candidate = name;
  for (let count = 2; taken.has(candidate); count++) candidate = `${name} (${count})`;
  return candidate;
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

/** Returns true for the data of a picture or a sound, and for a file in base64, as in MCP results. Invalid base64 counts as text. */
function isBinary(part: Readonly<Record<string, unknown>>, name: string, value: unknown): boolean {
  const carries =
    (name === "data" && (part["type"] === "image" || part["type"] === "audio")) ||
    (name === "blob" && typeof part["uri"] === "string");
  return carries && typeof value === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}

/**
 * The maximum number of characters that are scanned per value, which takes about 125 ms. Half come from its start and half from its end, because
 * models pay most attention to both.
 */
export const READ_CHARACTERS: number = 256 * 1024;
const HALF = READ_CHARACTERS / 2;

/** The texts of a value in the order in which a model reads them, so that findings that span several texts are detected. */
export type BoundedTexts = ReturnType<typeof gatherTexts>;

/** Prose is a result that is one text, or a text in the content of an MCP result. Prose comes first, then other data, then member names. */
type TextKind = "prose" | "data" | "name";

export function kindOf(path: string, name: boolean): TextKind {
  if (name) return "name";
  return path === "" || /^content\.\d+\.(?:resource\.)?text$/.test(path) ? "prose" : "data";
}

/** Collects the texts of a value. Throws if the data is too large. */
export function gatherTexts(value: unknown) {
  const texts: Record<TextKind, string[]> = { prose: [], data: [], name: [] };
  mapTexts(value, (text, path, name) => {
    texts[kindOf(path, name)].push(text);
    return text;
  });
  const prose = lines(texts.prose);
  const data = lines(texts.data);
  const all = prose + data + lines(texts.name);
  const starts = { prose: 0, data: prose.length, name: prose.length + data.length };
  /** The number of characters omitted from the middle. */
  const unread = Math.max(0, all.length - READ_CHARACTERS);
  const text = unread === 0 ? all : `${all.slice(0, HALF)}\n${all.slice(-HALF)}`;
  return { text, total: all.length, unread, starts };
}

function lines(texts: readonly string[]): string {
  return texts.length === 0 ? "" : `${texts.join("\n")}\n`;
}

/** Cleans each text of a value, except the part that was not read. `texts` is the result of `gatherTexts`. */
export function cleanTexts(value: unknown, { total, starts }: BoundedTexts, clean: TextVisit): unknown {
  const offsets = { ...starts };
  return mapTexts(value, (text, path, name) => {
    const kind = kindOf(path, name);
    const head = boundary(text, HALF - offsets[kind]);
    const tail = boundary(text, total - HALF - offsets[kind]);
    offsets[kind] += text.length + 1;
    if (tail <= head) return clean(text, path, name);
    if (head === 0 && tail === text.length) return text;
    return clean(text.slice(0, head), path, name) + text.slice(head, tail) + clean(text.slice(tail), path, name);
  });
}

/** Returns the nearest index that does not split a character. */
function boundary(text: string, at: number): number {
  const place = Math.min(Math.max(at, 0), text.length);
  const code = text.charCodeAt(place);
  return code >= 0xdc00 && code <= 0xdfff && place > 0 ? place + 1 : place;
}
