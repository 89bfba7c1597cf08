/** Elements that documents use for layout. Placeholders such as `<name>` or `<api_key>` are not in the list and stay. */
const INLINE =
  "a abbr b big cite code del dfn em font i img ins kbd mark q s samp small span strike strong sub sup tt u var";
const BLOCKS =
  "article aside blockquote caption center dd details div dl dt figure figcaption h1 h2 h3 h4 h5 h6 hr ol p pre section summary table tbody tfoot thead ul";
const PARAGRAPH = "\n\n";
/** The replacement text of a tag. */
const STANDS_FOR: ReadonlyMap<string, string> = new Map([
  ...INLINE.split(" ").map((name) => [name, ""] as const),
  ...BLOCKS.split(" ").map((name) => [name, PARAGRAPH] as const),
  ["br", "\n"],
  ["tr", "\n"],
  ["td", " "],
  ["th", " "],
  ["li", "\n- "],
]);
/** Elements without a required end tag. Other start tags count only if the end tag exists: `FROM <table>` is not HTML. */
const NEED_NO_END: ReadonlySet<string> = new Set(["br", "hr", "img", "p", "li"]);
/** Elements whose content is not text. */
const HIDDEN: ReadonlySet<string> = new Set(["script", "style"]);

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["nbsp", " "],
  ...`amp=& lt=< gt=> quot=" apos=' ndash=– mdash=— hellip=… lsquo=‘ rsquo=’ ldquo=“ rdquo=” bull=• middot=· times=× deg=° copy=© reg=® trade=™ euro=€ pound=£ sect=§ larr=← rarr=→ aacute=á agrave=à auml=ä ccedil=ç eacute=é egrave=è iacute=í ntilde=ñ oacute=ó ouml=ö szlig=ß uacute=ú uuml=ü`
    .split(" ")
    .map((pair) => pair.split("=") as [string, string]),
]);

/** In characters. Longer than any field of a tool, even if most of the text is markup. */
const READ_LENGTH = 100_000;

const SPECIAL = /[<&`]/g;
const TAG = /<(\/?)([a-z][a-z0-9]*)(\s[^<>]*)?\/?>/iy;
const ENTITY = /&(?:#(\d{1,8})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/iy;
const ALT = /\salt\s*=\s*(?:"([^"]*)"|'([^']*)')/i;
const TICKS = /`+/y;

/**
 * Removes HTML from a text of Markdown, HTML or both, and decodes its entities, because markup costs tokens and hides words from search. Keeps the
 * text of links and code. Removes comments, scripts and styles. Leaves code between backticks unchanged. Returns the same text when nothing changed.
 */
export function plainText(text: string): string {
  if (!text.includes("<") && !text.includes("&")) return text;
  const read = text.slice(0, READ_LENGTH);
  const lower = read.toLowerCase();
  const find = createFinder(lower);
  let plain = "";
  let changed = false;
  let at = 0;

  const skipTo = (end: number, instead: string): void => {
    plain += instead;
    at = end;
    changed = true;
  };
  const keepTo = (end: number): void => {
    plain += read.slice(at, end);
    at = end;
  };

  /** Returns true if there was a comment, an element or an entity at this position. */
  function readMarkup(): boolean {
    if (lower.startsWith("<!--", at)) {
      const end = find("-->", at + 4);
      if (end !== -1) skipTo(end + 3, "");
      return end !== -1;
    }
    const entity = matchAt(ENTITY, read, at);
    const decoded = entity === null ? undefined : decode(entity);
    if (entity !== null && decoded !== undefined) {
      skipTo(at + entity[0].length, decoded);
      return true;
    }
    const tag = matchAt(TAG, read, at);
    return tag !== null && readTag(tag);
  }

  function readTag([whole, slash, written = "", attributes = ""]: RegExpExecArray): boolean {
    const name = written.toLowerCase();
    if (HIDDEN.has(name) && slash === "") {
      const close = find(`</${name}`, at);
      const end = close === -1 ? -1 : find(">", close);
      if (end !== -1) skipTo(end + 1, "");
      return end !== -1;
    }
    const instead = STANDS_FOR.get(name);
    if (instead === undefined) return false;
    if (slash === "" && !NEED_NO_END.has(name) && find(`</${name}>`, at) === -1) return false;
    const [, double, single] = name === "img" ? (ALT.exec(attributes) ?? []) : [];
    // List items are already on separate lines, and a list ends like a paragraph.
    skipTo(at + whole.length, double ?? single ?? (slash !== "" && name === "li" ? "" : instead));
    return true;
  }

  while (at < read.length) {
    SPECIAL.lastIndex = at;
    const next = SPECIAL.exec(read)?.index ?? read.length;
    keepTo(next);
    if (next === read.length) break;
    if (read[at] === "`") {
      const [ticks = ""] = matchAt(TICKS, read, at) ?? [];
      const close = find(ticks, at + ticks.length);
      keepTo(close === -1 ? at + ticks.length : close + ticks.length);
    } else if (!readMarkup()) keepTo(at + 1);
  }
  return changed ? tidy(plain) : text;
}

/** Creates a search from a position on. It remembers texts that no longer occur, so all searches together take linear time. */
function createFinder(text: string): (sought: string, from: number) => number {
  const found = new Map<string, number>();
  return (sought, from) => {
    const known = found.get(sought);
    if (known !== undefined && (known === -1 || known >= from)) return known;
    const index = text.indexOf(sought, from);
    found.set(sought, index);
    return index;
  };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function decode([, decimal, hexadecimal, name]: RegExpExecArray): string | undefined {
  if (name !== undefined) return ENTITIES.get(name);
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
  if (code === 0xa0) return " ";
  if (code > 0x10_ffff) return "";
  const character = String.fromCodePoint(code);
  // Removes invisible characters: controls, direction marks, and unpaired surrogates.
  return /[\p{Cc}\p{Cf}\p{Cs}]/u.test(character) && !/[\t\n]/.test(character) ? "" : character;
}

/** Trims every line, and leaves one empty line between paragraphs. */
function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.replaceAll(/(?<=\S) {2,}(?=\S)/g, " ").trimEnd());
  return lines
    .filter((line, index) => line !== "" || (index > 0 && lines[index - 1] !== ""))
    .join("\n")
    .trim();
}
