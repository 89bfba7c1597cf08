/** Letters of other alphabets that look like Latin ones, in pairs: the lookalike, then the Latin letter. */
const PAIRS =
  "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwүyӏlкkтtмmнhвbАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSԚQԜWҮYӀI" + // Cyrillic
  "οoαaνvρpιiκkυuτtχxγyηnωwεeΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" + // Greek
  "օoսuոnհhցgԛqսuյjԼLՕOՍUՏSՑC" + // Armenian
  "ᎪAᏴBᏟCᎠDᎬEᎳWᏚSᎢTᎻHᎫJᏦKᏞLᎷMᏢPᏒRᏙVᏃZ" + // Cherokee
  "ɑaɡgɩiʟLꜱsᴀaᴄcᴅdᴇeᴊjᴋkᴍmᴏoᴘpᴛtᴜuᴠvᴡwᴢzʏyɢGɪIɴNʀRʙBʜH"; // Latin letters of phonetic alphabets

const LATIN_FOR: ReadonlyMap<string, string> = new Map(
  Array.from({ length: PAIRS.length / 2 }, (_, index) => [PAIRS.charAt(2 * index), PAIRS.charAt(2 * index + 1)]),
);

const FOREIGN =
  /[\u0251\u0261\u0262\u0269\u026A\u0274\u0280\u0299\u029C\u029F\u028F\uA731\u1D00-\u1D22\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
const LETTERS = /[\p{L}\p{M}]+/gu;

export interface Disguise {
  readonly start: number;
  readonly word: string;
  readonly latin: string;
}

/** Finds words that mix Latin letters with lookalikes, and words of lookalikes in Latin text. Ignores alphabets that the text really uses. */
export function disguises(text: string): readonly Disguise[] {
  if (!FOREIGN.test(text)) return [];
  const found: Disguise[] = [];
  const whole: Disguise[] = [];
  let written = false;
  for (const { index: start, 0: word } of text.matchAll(LETTERS)) {
    if (!FOREIGN.test(word)) continue;
    const latin = Array.from(word, (letter) => LATIN_FOR.get(letter) ?? letter).join("");
    if (FOREIGN.test(latin)) {
      written = true;
      continue;
    }
    const mixed = Array.from(word).filter((letter) => !FOREIGN.test(letter)).length;
    // "μm" and "Δt" are not disguises: a Greek symbol next to one letter of a unit.
    if (mixed === 0) whole.push({ start, word, latin });
    else if (word.length > 2 || /\p{Script=Cyrillic}/u.test(word)) found.push({ start, word, latin });
  }
  const latinText =
    (text.match(/\p{Script=Latin}/gu)?.length ?? 0) > whole.reduce((sum, { word }) => sum + word.length, 0);
  // Real text in that alphabet also has letters without a Latin lookalike. Single symbols are mathematics.
  const wholly = !written && latinText ? whole.filter(({ word }) => word.length > 1 || found.length > 0) : [];
  return [...found, ...wholly].sort((one, other) => one.start - other.start);
}

const STYLED =
  /[\u{1D400}-\u{1D6A3}\u24B6-\u24E9\u{1F130}-\u{1F149}\u{1F150}-\u{1F169}\u{1F170}-\u{1F189}\u249C-\u24B5\uFF21-\uFF3A\uFF41-\uFF5A]/u;
/** Several in a row, or one inside a word. */
const STYLED_WORDS = new RegExp(
  String.raw`${STYLED.source}{2,}|(?<=[A-Za-z])${STYLED.source}|${STYLED.source}(?=[A-Za-z])`,
  "gu",
);
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Finds words in full-width, mathematical, circled or squared letters, which word filters miss. Ignores full-width letters in East Asian text. */
export function styledWords(text: string): readonly Disguise[] {
  if (!STYLED.test(text)) return [];
  const eastAsian = EAST_ASIAN.test(text);
  return [...text.matchAll(STYLED_WORDS)]
    .filter(({ 0: word }) => !(eastAsian && /^[\uFF21-\uFF5A]+$/u.test(word) && word.length <= 12))
    .map(({ index: start, 0: word }) => ({ start, word, latin: plainLetters(word) }));
}

function plainLetters(word: string): string {
  return Array.from(word, (character) => {
    const code = character.codePointAt(0) ?? 0;
    for (const first of [0x1f130, 0x1f150, 0x1f170])
      if (code >= first && code < first + 26) return String.fromCharCode(0x41 + code - first);
    return character.normalize("NFKC").replaceAll(/[()]/g, "");
  }).join("");
}

/** Finds words spelled with regional indicator letters. A flag takes two of them, so an odd number is a word. */
export function spelledWithFlags(text: string): readonly Disguise[] {
  if (!/[\u{1F1E6}-\u{1F1FF}]/u.test(text)) return [];
  const rows = [...text.matchAll(/[\u{1F1E6}-\u{1F1FF}]+/gu)];
  if (rows.every(({ 0: { length } }) => length % 4 === 0)) return [];
  return rows.map(({ index: start, 0: word }) => ({
    start,
    word,
    latin: Array.from(word, (letter) => String.fromCharCode(0x61 + (letter.codePointAt(0) ?? 0) - 0x1f1e6)).join(""),
  }));
}
