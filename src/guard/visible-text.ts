/**
 * What a person does not see, or sees as something else: controls and line breaks, format and tag characters, characters for private use, those
 * that fonts leave out, and blanks that are no plain space.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Zs} ]/gu;

/**
 * A text on one line for a person to judge: whatever hides in it is written as JSON escapes it (`\u202e`). JSON stays the JSON it was, as long
 * as it is on one line.
 */
export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, escaped);
}

function escaped(character: string): string {
  let text = "";
  for (let index = 0; index < character.length; index++)
    text += `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  return text;
}
