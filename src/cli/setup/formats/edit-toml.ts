import { fixable } from "../../../errors/arsenal-error.ts";
import type { FileFormat } from "./file-format.ts";

/** TOML with a table per server: `[mcp_servers.github]`, `[mcp_servers.github.env]`. */
export const tomlFormat: FileFormat = {
  async parse(text, file) {
    const { parse, TomlError } = await import("smol-toml");
    try {
      return JSON.parse(JSON.stringify(parse(text))) as unknown;
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const place = `${file}:${error.line}:${error.column}`;
      throw fixable("INPUT_INVALID", `${place} is not valid TOML.`, "Fix it there.", { field: file });
    }
  },
  async replace(text, _file, { path, removed, name, entry }) {
    const isRemoved = (keys: readonly string[] | undefined): boolean => {
      const key = keys?.[path.length];
      return key !== undefined && path.every((each, at) => keys?.[at] === each) && (removed.has(key) || key === name);
    };
    const written = table([...path, name], entry);
    let isWritten = false;
    const parts = sections(text).map(({ keys, body }) => {
      if (!isRemoved(keys)) return body;
      // Comments before the next table belong to that table.
      const [tail = ""] = /(?:[ \t]*(?:#[^\n]*)?(?:\r?\n|$))*$/.exec(body) ?? [];
      const kept = tail.includes("#") ? tail.replace(/^(?:[ \t]*\r?\n)+/, "") : "";
      if (isWritten) return kept;
      isWritten = true;
      return `${written}\n${kept}`;
    });
    return `${parts.join("").trimEnd()}${/\s*$/.exec(text)?.[0] ?? ""}`;
  },
};

interface Section {
  /** The keys of the table. Omitted for the lines before the first table. */
  readonly keys?: readonly string[];
  readonly body: string;
}

const HEADER = /^[ \t]*\[\[?([^\]]*)\]\]?[ \t]*(?:#.*)?$/;
const KEY = /"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+)/g;

/** Splits the text into its tables. A line inside a string or a list is never a header. */
function sections(text: string): readonly Section[] {
  const found: { keys?: readonly string[]; body: string }[] = [{ body: "" }];
  let isOpen: string | undefined;
  let depth = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const header = isOpen === undefined && depth === 0 ? HEADER.exec(line.replace(/\r?\n$/, "")) : null;
    if (header !== null) {
      const keys = Array.from((header[1] ?? "").matchAll(KEY), ([, quoted, literal, bare]) =>
        quoted === undefined ? (literal ?? bare ?? "") : (JSON.parse(`"${quoted}"`) as string),
      );
      found.push({ keys, body: line });
      continue;
    }
    const last = found.at(-1);
    if (last !== undefined) last.body += line;
    ({ isOpen, depth } = scan(line, isOpen, depth));
  }
  return found;
}

const TOKEN = /"""|'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|\\./g;

/** Tracks multi-line strings and lists that a line opens or closes. */
function scan(line: string, open: string | undefined, depth: number): { isOpen: string | undefined; depth: number } {
  let isOpen = open;
  let level = depth;
  TOKEN.lastIndex = 0;
  for (let at = 0; at < line.length;) {
    if (isOpen !== undefined) {
      const end = line.indexOf(isOpen, at);
      if (end === -1) return { isOpen, depth: level };
      at = end + isOpen.length;
      isOpen = undefined;
      continue;
    }
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(line);
    if (token === null) break;
    at = token.index + token[0].length;
    if (token[0] === '"""' || token[0] === "'''") isOpen = token[0];
    else if (token[0] === "[" || token[0] === "{") level++;
    else if (token[0] === "]" || token[0] === "}") level--;
  }
  return { isOpen, depth: level };
}

/** Writes a table of strings, numbers and lists of strings, which have the same notation in JSON and TOML. */
function table(keys: readonly string[], entry: Readonly<Record<string, unknown>>): string {
  const header = keys.map((key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key))).join(".");
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
  return `[${header}]\n${lines.join("")}`;
}
