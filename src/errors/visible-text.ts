/** Invisible or misleading characters: controls, line separators, direction changes, tags, private use, zero-width characters, and the blank pattern. */
const HIDDEN = String.raw`[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]`;

/** Legitimate uses of these characters: line breaks and tabs, parts of an emoji, and joiners inside words of scripts that need them. */
const IN_PLACE = [
  String.raw`[\n\t]`,
  String.raw`(?<=\p{Extended_Pictographic})[\uFE0E\uFE0F]`,
  String.raw`(?<=[#*0-9])\uFE0F(?=\u20E3)`,
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})`,
  String.raw`(?<=(?=[\p{L}\p{M}])[^\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}\p{sc=Common}\p{sc=Inherited}])[\u200C\u200D](?=[\p{L}\p{M}])`,
].join("|");

const PLAIN_LINE = /^[\x20-\x7E]*$/;
const PLAIN_TEXT = /^[\n\t\x20-\x7E]*$/;
const IS_HIDDEN = new RegExp(HIDDEN, "u");
const IS_ODD_BLANK = /[^\P{Zs} ]/u;
const KEPT_ON_A_PAGE = new RegExp(IN_PLACE, "uy");

/** Formats a text on one line for review by a person. Hidden characters and unusual blanks become JSON escapes (`\u202e`), so JSON keeps its meaning. */
export function visibleText(text: string): string {
  // Most JSON is plain, and this test is fast.
  return PLAIN_LINE.test(text) ? text : rewrite(text, { write: escaped, blanks: true });
}

/** Formats a text for a page. Hidden characters are named (`⟨U+202E⟩`). Keeps lines, emoji, and every script. */
export function shownText(text: string): string {
  return PLAIN_TEXT.test(text) ? text : rewrite(text, { write: named, kept: KEPT_ON_A_PAGE });
}

/** Returns a function that prepares text for a terminal or pipe: hidden characters become JSON escapes, except the program's own (`own`). */
export function createEscaper(own: string): (text: string) => string {
  const kept = new RegExp(`${own}|${IN_PLACE}`, "uy");
  return (text) => (PLAIN_TEXT.test(text) ? text : rewrite(text, { write: escaped, kept }));
}

/** The source code of `shownText` as a function, for pages without modules. */
export const SHOWN_TEXT_SOURCE: string = `(text) => String(text).replaceAll(new RegExp(${JSON.stringify(`(${IN_PLACE})|${HIDDEN}`)}, "gu"), (found, kept) => kept ?? (${named.toString()})(found))`;

const VISIBLE = 0;
const ODD_BLANK = 1;
const HIDDEN_UNIT = 2;
const SURROGATE = 3;

/** The class of each UTF-16 code unit. A regular expression over long non-ASCII text would be fifty times slower. */
let units: Uint8Array | undefined;

function unitsOf(): Uint8Array {
  return Uint8Array.from({ length: 0x1_00_00 }, (_, code) => {
    if (code >= 0xd8_00 && code <= 0xdf_ff) return SURROGATE;
    const character = String.fromCharCode(code);
    if (IS_HIDDEN.test(character)) return HIDDEN_UNIT;
    return IS_ODD_BLANK.test(character) ? ODD_BLANK : VISIBLE;
  });
}

function rewrite(
  text: string,
  options: {
    readonly write: (character: string) => string;
    /** A sticky expression that matches text to keep unchanged. */
    readonly kept?: RegExp;
    /** True also rewrites unusual blanks. Defaults to false. */
    readonly blanks?: boolean;
  },
): string {
  const { write, kept, blanks = false } = options;
  units ??= unitsOf();
  let written = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = units[text.charCodeAt(at)];
    if (unit === VISIBLE || (unit === ODD_BLANK && !blanks)) continue;
    const character = unit === SURROGATE ? String.fromCodePoint(text.codePointAt(at) ?? 0) : text.charAt(at);
    const last = at + character.length - 1;
    if (unit === SURROGATE && !IS_HIDDEN.test(character)) {
      at = last;
      continue;
    }
    if (kept !== undefined) {
      kept.lastIndex = at;
      const length = kept.exec(text)?.[0].length ?? 0;
      if (length > 0) {
        at += length - 1;
        continue;
      }
    }
    written += text.slice(from, at) + write(character);
    at = last;
    from = last + 1;
  }
  return from === 0 ? text : written + text.slice(from);
}

function named(character: string): string {
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

function escaped(character: string): string {
  return character.length === 1 ? escapedUnit(character) : character.replaceAll(/[^]/g, escapedUnit);
}

/** Returns the JSON escape of one UTF-16 code unit. */
export function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
