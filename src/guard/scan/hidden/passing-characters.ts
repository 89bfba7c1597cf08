/** Scripts whose spelling needs joiners between letters. Their invisible marks are no letters and need none. */
const JOINING =
  /(?=[\p{L}\p{M}])[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Thaana}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Tibetan}\p{Script=Myanmar}\p{Script=Khmer}\p{Script=Adlam}\p{Script=Hebrew}]/u;

/** Scripts written without spaces, where a zero-width space marks the end of a word. */
const SPACELESS =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}]/u;

const RIGHT_TO_LEFT =
  /(?=\p{L})[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

const EMOJI_BEFORE_JOINER = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\u{E007F}]/u;

/** True for a character of a script that needs zero-width joiners and non-joiners. */
export function needsJoiner(character: string): boolean {
  return JOINING.test(character);
}

/** True for a character of a script that marks the ends of words with zero-width spaces. */
export function needsZeroWidthSpace(character: string): boolean {
  return SPACELESS.test(character);
}

/** True where a text has letters of a language that runs from right to left. */
export function hasRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(text);
}

/** True where a joiner between the two makes one emoji of them. */
export function joinsEmoji(before: string, after: string): boolean {
  return EMOJI_BEFORE_JOINER.test(before) && /\p{Extended_Pictographic}/u.test(after);
}

/** True where the variation selector is one that its base character knows: emoji or text style, or a glyph of an ideograph. */
export function isVariation(base: string, selector: number): boolean {
  if (selector === 0xfe0f || selector === 0xfe0e) return /[\p{Emoji}\p{Extended_Pictographic}]/u.test(base);
  if (selector >= 0xe0100) return /\p{Script=Han}/u.test(base);
  return /[\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Script=Manichaean}\p{Sm}\u3001\u3002\uFF01-\uFF1F]/u.test(
    base,
  );
}
