import { referenceKind } from "./reference-unicode.ts";

/**
 * What BERT's uncased normaliser and pre-tokenizer make of one character: nothing, a space, a piece of a word, or characters that stand
 * alone. Asking Unicode is slow, so each character is asked about once and the answer kept.
 */

/** Marks a character that stands alone (punctuation, CJK) in a normalised character's text. */
export const ALONE = "\u0001";

/** Dropped characters normalise to nothing, white space to one space. */
export type Normalise = (codePoint: number) => string;

const CONTROL = /^[\p{Cc}\p{Cf}\p{Co}\p{Cs}]$/u;
const SPACE = /^\p{White_Space}$/u;
const ACCENTS = /\p{Mn}/gu;
const PUNCTUATION = /^\p{P}$/u;

/** Creates the look-up with its own memory, which stays below a few thousand characters on any real text. */
export function createNormaliser(): Normalise {
  const ascii = Array.from({ length: 128 }, (_, codePoint) => normaliseCharacter(codePoint));
  const others = new Map<number, string>();
  return (codePoint) => {
    if (codePoint < 128) return ascii[codePoint] ?? "";
    let known = others.get(codePoint);
    if (known === undefined) {
      known = normaliseCharacter(codePoint);
      others.set(codePoint, known);
    }
    return known;
  };
}

function normaliseCharacter(codePoint: number): string {
  const character = String.fromCodePoint(codePoint);
  if (character === "\t" || character === "\n" || character === "\r") return " ";
  if (codePoint >= 128) {
    const kind = referenceKind(codePoint);
    if (kind === "letter") return character.toLowerCase();
    if (kind === "accent") return "";
    if (kind === "punctuation") return ALONE + character;
  }
  if (codePoint === 0 || codePoint === 0xfffd || CONTROL.test(character)) return "";
  if (SPACE.test(character)) return " ";
  const alone = isIdeograph(codePoint);
  let text = "";
  // Lower-cased one character at a time, as the reference does: a final sigma is a sigma.
  for (const part of character.normalize("NFD").replace(ACCENTS, "")) {
    for (const lower of part.toLowerCase()) {
      if (SPACE.test(lower)) text += " ";
      else if (alone || isPunctuation(lower)) text += ALONE + lower;
      else text += lower;
    }
  }
  return text;
}

/** ASCII symbols count as punctuation, whatever Unicode says of them. */
function isPunctuation(character: string): boolean {
  const code = character.charCodeAt(0);
  if (code < 128) {
    return (code >= 33 && code <= 47) || (code >= 58 && code <= 64) || (code >= 91 && code <= 96) || code >= 123;
  }
  return PUNCTUATION.test(character);
}

function isIdeograph(codePoint: number): boolean {
  return (
    (codePoint >= 0x4e00 && codePoint <= 0x9fff) ||
    (codePoint >= 0x3400 && codePoint <= 0x4dbf) ||
    (codePoint >= 0x20000 && codePoint <= 0x2a6df) ||
    (codePoint >= 0x2a700 && codePoint <= 0x2b73f) ||
    (codePoint >= 0x2b740 && codePoint <= 0x2b81f) ||
    (codePoint >= 0x2b920 && codePoint <= 0x2ceaf) ||
    (codePoint >= 0xf900 && codePoint <= 0xfaff) ||
    (codePoint >= 0x2f800 && codePoint <= 0x2fa1f)
  );
}
