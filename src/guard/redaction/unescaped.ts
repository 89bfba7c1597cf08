/** A byte, as addresses and as languages write it. */
const BYTE = String.raw`(?:%|\\x)`;
const FOLLOWING = `${BYTE}[89ab][0-9a-f]`;

/** Whatever is an escape. No repetition in it is without bound, so that a text is read in linear time. */
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
    // Long lines are broken, those of base64 above all.
    String.raw`\r?\n`,
  ].join("|"),
  "gi",
);

/** A text without any of these has no escapes. */
const HINT = /[%\\&\r\n]/;

export function hasEscapes(text: string): boolean {
  return HINT.test(text);
}

/** The end of a text with which an escape may begin. */
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
 * Undoes what is written as `%2F`, `\u002f`, `\/`, `\x2f`, `&#47;` or `&amp;`, and joins lines. Undefined if there is nothing to undo. With
 * `unfinished`, the beginning of an escape at the end of the text is left out, but counts as part of what stands before it.
 */
export function unescapeOnce(given: string, unfinished = false) {
  if (!hasEscapes(given)) return undefined;
  const source = unfinished ? given.replace(BEGUN, "") : given;
  /** Where plain stretches and escapes begin, by turns, here and there. */
  const [here, there] = [[0], [0]];
  let text = "";
  let place = 0;
  for (const { 0: escape, index } of source.matchAll(ESCAPE)) {
    text += source.slice(place, index);
    here.push(text.length);
    there.push(index);
    text += unescaped(escape);
    place = index + escape.length;
    here.push(text.length);
    there.push(place);
  }
  if (place === 0 && source === given) return undefined;
  text += source.slice(place);

  /** The last stretch or escape that begins at or before a character. */
  const pieceAt = (character: number): number => {
    let [low, high] = [0, here.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((here[middle] ?? 0) <= character) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const shift = (piece: number): number => (there[piece] ?? 0) - (here[piece] ?? 0);

  return {
    text,
    /** Where something that begins here begins in the text that was given. */
    startOf: (start: number): number => start + shift(pieceAt(start)),
    /** Where something that ends here ends there: after the escape, if it ends with one. */
    endOf(end: number): number {
      if (end === text.length && source !== given) return given.length;
      const piece = pieceAt(end - 1);
      const isEscape = piece % 2 === 1;
      return end + shift(isEscape ? piece + 1 : piece);
    },
  };
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
      // The end of a line.
      return "";
  }
}

/** Bytes of UTF-8, or one that is none, which older encodings have. */
function fromBytes(escapes: string): string {
  const digits = escapes.replaceAll(/%|\\x/gi, "");
  if (digits.length === 2) return String.fromCharCode(Number.parseInt(digits, 16));
  return Buffer.from(digits, "hex").toString();
}

/** `233` or `xe9`. Whatever follows the digits is passed over. */
function fromCode(written: string): string {
  const code = /^x/i.test(written) ? Number.parseInt(written.slice(1), 16) : Number.parseInt(written, 10);
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : "";
}
