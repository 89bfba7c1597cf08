/** Splits a command into words as a shell does: quotes keep blanks together, and a backslash keeps a quote, a blank or itself. */
export function splitCommand(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let place = 0; place < text.length; place++) {
    const character = text[place] ?? "";
    const next = text[place + 1] ?? "";
    // Backslashes in Windows paths are literal.
    if (character === "\\" && quote !== "'" && next !== "" && (quote === "" ? "\"' \\" : '"\\').includes(next)) {
      word = (word ?? "") + next;
      place++;
    } else if (quote === "" && (character === '"' || character === "'")) {
      quote = character;
      word ??= "";
    } else if (character === quote) {
      quote = "";
    } else if (quote === "" && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quote !== "") throw new Error(`The command has an opening ${quote} without a closing one.`);
  return word === undefined ? words : [...words, word];
}

/** Reads lines of `NAME=value` or `Name: value`. Returns undefined if there are none. */
export function readPairs(text: string, what: string): Readonly<Record<string, string>> | undefined {
  const pairs: [string, string][] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const [, name, value = ""] = /^\s*([^\s=:]+)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`Line ${index + 1} of the ${what} is not NAME=value: ${line.trim()}`);
    pairs.push([name, value]);
  }
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}
