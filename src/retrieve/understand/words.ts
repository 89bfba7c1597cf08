/** Returns the words of a text in lower case: runs of letters and digits. `send_email` has two words. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** Parses a list of words that are separated by spaces. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

/** Returns a word and its possible base forms: `queries` gives `query`, `deleting` gives `delete`. Some results are not words, and match nothing. */
export function baseForms(word: string): readonly string[] {
  const forms = [word];
  if (word.length > 3 && word.endsWith("s")) forms.push(word.slice(0, -1));
  if (word.length > 4 && word.endsWith("es")) forms.push(word.slice(0, -2));
  if (word.length > 4 && /ie[sd]$/.test(word)) forms.push(`${word.slice(0, -3)}y`);
  const stem = /^(.{3,})(?:ed|ing)$/u.exec(word.endsWith("ings") ? word.slice(0, -1) : word)?.[1];
  if (stem !== undefined) {
    forms.push(stem, `${stem}e`);
    if (stem.length > 3 && stem.at(-1) === stem.at(-2)) forms.push(stem.slice(0, -1));
  }
  return forms;
}

/** Returns true if no word of the text names a subject, as in "do it again" or "yes please". */
export function isContentless(text: string): boolean {
  return wordsOf(text).every(isNameless);
}

export function isNameless(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** Words that refer, ask or agree, but name nothing. */
const STOP_WORDS =
  wordSet(`a about again ahead all also am an and another any anything are as at be been being but by can continue could did do does doing done
  for from go had has have he hello her hey hi him his how i if in into is it its just let lets like ll m may me might more must my next no not now of
  ok okay on once one ones or other our please proceed re s same shall she should so some something sure t than thank thanks that the
  their them then there these they thing things this those to too try us ve very want was we were what when where which who why will
  with would yeah yep yes you your`);
