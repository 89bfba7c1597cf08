/** An escaped byte, in URLs and in programming languages. */
const BYTE = String.raw`(?:%|\\x)`;
const FOLLOWING = `${BYTE}[89ab][0-9a-f]`;

/** Matches any escape. Every repetition is bounded, so matching takes linear time. */
export const ESCAPE: RegExp = new RegExp(
  [
    // The bytes of one character belong together.
    `${BYTE}[cd][0-9a-f]${FOLLOWING}`,
    `${BYTE}e[0-9a-f](?:${FOLLOWING}){2}`,
    `${BYTE}f[0-7](?:${FOLLOWING}){3}`,
    `${BYTE}[0-9a-f]{2}`,
    String.raw`\\u(?:[0-9a-f]{4}|\{[0-9a-f]{1,6}\})`,
    String.raw`\\[nrtbf]`,
    String.raw`\\[^0-9a-z]`,
    "&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-f]{1,6});",
    // Long lines are often wrapped, especially in base64.
    String.raw`\r?\n`,
  ].join("|"),
  "gi",
);

/** A text without any of these characters has no escapes. */
const HINT = /[%\\&\r\n]/;

export function hasEscapes(text: string): boolean {
  return HINT.test(text);
}

/** Matches an incomplete escape at the end of a text. */
const HALF = String.raw`(?:%[0-9a-f]?|\\(?:x[0-9a-f]?)?)`;
const BEGUN = new RegExp(
  `(?:${[
    `${BYTE}[cd][0-9a-f]${HALF}?`,
    `${BYTE}e[0-9a-f](?:${FOLLOWING})?${HALF}?`,
    `${BYTE}f[0-7](?:${FOLLOWING}){0,2}${HALF}?`,
    HALF,
    String.raw`\\u(?:[0-9a-f]{0,3}|\{[0-9a-f]{0,6})`,
    "&[#0-9a-z]{0,8}",
    String.raw`\r`,
  ].join("|")})$`,
  "i",
);

const CONTROLS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/**
 * Undoes escapes such as `%2F`, `\u002f`, `\/`, `\x2f`, `&#47;` or `&amp;`, and joins lines. Returns undefined if there is nothing to undo. With
 * `unfinished`, an incomplete escape at the end of the text is left out, but counts as part of the preceding text.
 */
export function unescapeOnce(given: string, unfinished = false) {
  if (!hasEscapes(given)) return undefined;
  const source = unfinished ? given.replace(BEGUN, "") : given;
  const text = withoutEscapes(source);
  if (text === undefined && source === given) return undefined;
  let known: ReturnType<typeof piecesOf> | undefined;
  const pieces = () => (known ??= piecesOf(source));
  const shown = text ?? source;

  return {
    text: shown,
    /** Maps a start in this text to the given text. */
    startOf: (start: number): number => start + shift(pieces(), pieceAt(pieces(), start)),
    /** Maps an end in this text to the given text. An end at an escape maps to the end of that escape. */
    endOf(end: number): number {
      if (end === shown.length && source !== given) return given.length;
      const piece = pieceAt(pieces(), end - 1);
      const isEscape = piece % 2 === 1;
      return end + shift(pieces(), isEscape ? piece + 1 : piece);
    },
  };
}

/** The text with its escapes undone; undefined if it has none. An escape is never shorter than its value. */
function withoutEscapes(source: string): string | undefined {
  const units = source.length <= SCRATCH.length ? SCRATCH : new Uint16Array(source.length);
  let length = 0;
  let place = 0;
  const bytes = Buffer.from(units.buffer);
  const take = (until: number): void => {
    if (until - place > LONG_STRETCH) {
      bytes.write(source.slice(place, until), 2 * length, "utf16le");
      length += until - place;
      place = until;
    } else for (; place < until; place += 1) units[length++] = source.charCodeAt(place);
  };
  eachEscape(source, (start, end, value) => {
    take(start);
    place = end;
    for (let index = 0; index < value.length; index += 1) units[length++] = value.charCodeAt(index);
  });
  if (place === 0) return undefined;
  take(source.length);
  return bytes.toString("utf16le", 0, 2 * length);
}

/** Longer stretches are copied with one call. */
const LONG_STRETCH = 64;
const SCRATCH = new Uint16Array(4_096);

/** Returns the starts of alternating plain stretches and escapes: in the unescaped text (`here`) and in the escaped text (`there`). */
function piecesOf(source: string) {
  const [here, there] = [[0], [0]];
  let shorter = 0;
  eachEscape(source, (start, end, value) => {
    here.push(start - shorter, start - shorter + value.length);
    there.push(start, end);
    shorter += end - start - value.length;
  });
  return { here, there };
}

/** Returns the last stretch or escape that starts at or before a character. */
function pieceAt({ here }: ReturnType<typeof piecesOf>, character: number): number {
  let [low, high] = [0, here.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((here[middle] ?? 0) <= character) low = middle;
    else high = middle - 1;
  }
  return low;
}

function shift({ here, there }: ReturnType<typeof piecesOf>, piece: number): number {
  return (there[piece] ?? 0) - (here[piece] ?? 0);
}

const [LINE_FEED, CARRIAGE_RETURN, PERCENT, AMPERSAND, BACKSLASH] = [0x0a, 0x0d, 0x25, 0x26, 0x5c];
const ESCAPE_HERE = new RegExp(ESCAPE.source, "iy");

/** Visits every escape of a text in order, with its value. Texts may have millions, so common escapes are parsed without a regular expression. */
function eachEscape(source: string, visit: (start: number, end: number, value: string) => void): void {
  const { length } = source;
  for (let at = 0; at < length;) {
    const code = source.charCodeAt(at);
    // Most characters take this branch: they cannot begin an escape.
    if (code > AMPERSAND && code !== BACKSLASH) {
      at += 1;
      continue;
    }
    const next = source.charCodeAt(at + 1);
    if (code === LINE_FEED || (code === CARRIAGE_RETURN && next === LINE_FEED)) {
      const end = code === LINE_FEED ? at + 1 : at + 2;
      visit(at, end, "");
      at = end;
    } else if (code === BACKSLASH && isSign(next)) {
      visit(at, at + 2, source.charAt(at + 1));
      at += 2;
    } else if (code === BACKSLASH || code === PERCENT || code === AMPERSAND) {
      const digits = code === PERCENT ? at + 1 : at + 2;
      // A byte from 0xc0 on starts a character of several bytes.
      const byte = code === PERCENT || (next | 0x20) === LETTER_X ? hexByte(source, digits) : -1;
      if (byte >= 0 && byte < 0xc0) {
        visit(at, digits + 2, String.fromCharCode(byte));
        at = digits + 2;
        continue;
      }
      ESCAPE_HERE.lastIndex = at;
      const end = ESCAPE_HERE.test(source) ? ESCAPE_HERE.lastIndex : at + 1;
      if (end > at + 1) visit(at, end, unescaped(source.slice(at, end)));
      at = end;
    } else at += 1;
  }
}

const LETTER_X = 0x78;

/** Parses two hexadecimal digits; -1 if they are not digits. */
function hexByte(source: string, at: number): number {
  const [high, low] = [hexDigit(source.charCodeAt(at)), hexDigit(source.charCodeAt(at + 1))];
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Returns true for ASCII characters that are not letters or digits, which a backslash leaves unchanged. */
function isSign(code: number): boolean {
  return code < 0x30 || (code > 0x39 && code < 0x41) || (code > 0x5a && code < 0x61) || (code > 0x7a && code < 0x80);
}

function unescaped(escape: string): string {
  const second = escape.charAt(1).toLowerCase();
  const rest = escape.slice(2);
  switch (escape.charAt(0)) {
    case "%":
      return fromBytes(escape);
    case "&":
      return second === "#" ? fromCode(rest) : (ENTITIES[escape.slice(1, -1).toLowerCase()] ?? "");
    case "\\":
      if (second === "x") return fromBytes(escape);
      return second === "u" ? fromCode(`x${rest.replace("{", "")}`) : (CONTROLS[second] ?? second);
    default:
      // An escaped line break.
      return "";
  }
}

/** Decodes bytes of UTF-8. An invalid byte is decoded as in older encodings. */
function fromBytes(escapes: string): string {
  const digits = escapes.replaceAll(/%|\\x/gi, "");
  if (digits.length === 2) return String.fromCharCode(Number.parseInt(digits, 16));
  return Buffer.from(digits, "hex").toString();
}

/** `233` or `xe9`. Ignores text after the digits. */
function fromCode(written: string): string {
  const isHex = (written.charCodeAt(0) | 0x20) === LETTER_X;
  const code = isHex ? Number.parseInt(written.slice(1), 16) : Number.parseInt(written, 10);
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : "";
}
