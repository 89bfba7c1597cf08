/** What a person does not see as it is: controls, line breaks, format and tag characters, private use, ignorable characters, and odd blanks. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Zs} ]/gu;

/** A text on one line for a person to judge: hidden characters are written as JSON escapes (`\u202e`), so JSON on one line stays the same JSON. */
export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, (character) => character.replaceAll(/[^]/g, escapedUnit));
}

/** One UTF-16 code unit as JSON escapes it. */
export function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
