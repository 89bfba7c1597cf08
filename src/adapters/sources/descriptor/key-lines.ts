/** Keys and list indexes that lead to a value: `["invokers", 0, "source"]`. */
export type KeyPath = readonly (string | number)[];

/**
 * Returns a function that finds the line, counted from 1, on which a key first appears in a valid TOML document. For a missing key, it returns the
 * line of the nearest enclosing table.
 */
export function keyLines(text: string): (path: KeyPath) => number {
  const lines = new Map<string, number>();
  /** The number of elements that each array of tables has so far. */
  const elements = new Map<string, number>();
  let at = 0;
  let line = 1;

  /** Returns the pattern's match at the current position, and moves past it. */
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const [taken = ""] = pattern.exec(text) ?? [];
    at += taken.length;
    for (const character of taken) if (character === "\n") line++;
    return taken;
  };
  /** Always advances, so a text that is not TOML causes no endless loop. */
  const moveOn = (read: () => void): void => {
    const start = at;
    read();
    if (at === start) at++;
  };
  const note = (path: KeyPath): void => {
    for (let length = 1; length <= path.length; length++) {
      const key = JSON.stringify(path.slice(0, length));
      if (!lines.has(key)) lines.set(key, line);
    }
  };

  const readKey = (): readonly string[] => {
    const parts: string[] = [];
    do {
      take(SPACE);
      parts.push(unquote(take(KEY_PART)));
      take(SPACE);
    } while (take(/\./y) !== "");
    return parts;
  };

  const readValue = (path: KeyPath): void => {
    take(BLANK);
    if (take(TEXT) !== "") return;
    if (take(/\[/y) !== "")
      readMembers(/\]/y, (index) => {
        note([...path, index]);
        readValue([...path, index]);
      });
    else if (take(/\{/y) !== "") readMembers(/\}/y, () => readPair(path));
    else take(/[^,\]}#\r\n]+/y);
  };

  /** Reads comma-separated members up to the closing bracket. */
  const readMembers = (close: RegExp, readMember: (index: number) => void): void => {
    for (let index = 0; at < text.length; index++) {
      take(BLANK);
      if (take(close) !== "") return;
      moveOn(() => readMember(index));
      take(BLANK);
      take(/,/y);
    }
  };

  const readPair = (table: KeyPath): void => {
    const path = [...table, ...readKey()];
    note(path);
    take(/[ \t]*=/y);
    readValue(path);
  };

  /** Returns the path of a header. Within an array of tables, the header refers to the last element. */
  const toTable = (parts: readonly string[], isElement: boolean): KeyPath => {
    const path: (string | number)[] = [];
    for (const [place, part] of parts.entries()) {
      path.push(part);
      const key = JSON.stringify(path);
      if (isElement && place === parts.length - 1) elements.set(key, (elements.get(key) ?? 0) + 1);
      const count = elements.get(key);
      if (count !== undefined) path.push(count - 1);
    }
    return path;
  };

  let table: KeyPath = [];
  for (take(BLANK); at < text.length; take(BLANK)) {
    const bracket = take(/\[{1,2}/y);
    if (bracket === "") moveOn(() => readPair(table));
    else {
      table = toTable(readKey(), bracket === "[[");
      note(table);
      take(/\]{1,2}/y);
    }
  }

  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const found = lines.get(JSON.stringify(path.slice(0, length)));
      if (found !== undefined) return found;
    }
    return 1;
  };
}

const SPACE = /[ \t]*/y;
const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const KEY_PART = /"(?:\\.|[^"\\])*"|'[^']*'|[\w-]+/y;
/** A string of any of TOML's four kinds. A multi-line string may have up to two more quotes before the closing three. */
const TEXT = /"""(?:\\[^]|[^\\])*?"""(?:"{0,2})|'''[^]*?'''(?:'{0,2})|"(?:\\.|[^"\\])*"|'[^']*'/y;

const ESCAPES: Readonly<Record<string, string>> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\u001b" };

/** Returns a segment of a key without quotes and escapes. */
function unquote(part: string): string {
  if (part.startsWith("'")) return part.slice(1, -1);
  if (!part.startsWith('"')) return part;
  return part
    .slice(1, -1)
    .replaceAll(/\\(?:u(.{4})|U(.{8})|x(.{2})|(.))/gs, (_, four?: string, eight?: string, two?: string, one = "") => {
      const code = four ?? eight ?? two;
      return code === undefined ? (ESCAPES[one] ?? one) : String.fromCodePoint(Number.parseInt(code, 16));
    });
}
