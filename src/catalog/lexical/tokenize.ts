import { splitWords } from "../../tool/split-words.ts";
import { stem } from "./stem.ts";
import { STOP_WORDS } from "./stop-words.ts";

/** One word of a text in lower case, and the term it is indexed as. */
export interface Token {
  readonly word: string;
  readonly term: string;
}

const RUNS = /[\p{L}\p{N}\p{M}]+/gu;
const PLAIN_WORD = /^[A-Z]?[a-z]+$/;
const NON_ASCII = /[\u0080-\uffff]/;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const ACCENTS = /[\u0300-\u036f]/g;

/** Returns the meaningful words of a text, in order, with repetitions. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const run of withoutAccents(text).match(RUNS) ?? []) {
    if (PLAIN_WORD.test(run)) addToken(tokens, run.toLowerCase());
    else if (UNSPACED.test(run)) for (const pair of pairs(run)) addToken(tokens, pair);
    else {
      const parts = splitWords(run);
      for (const part of parts) addToken(tokens, part);
      // People also write names such as "GitHub", "base64" and "OAuth2" as one word.
      if (parts.length > 1) addToken(tokens, run.toLowerCase());
    }
  }
  return tokens;
}

/** Returns a text without case, spaces and punctuation: `query_database`, `queryDatabase` and `Query database` are the same name. */
export function nameKey(text: string): string {
  return (withoutAccents(text).match(RUNS) ?? []).join("").toLowerCase();
}

/** Returns the keys of a tool's name, alone and after its namespace. A text with one of these keys refers to that tool. */
export function spellingsOf({
  name,
  namespace,
}: {
  readonly name: string;
  readonly namespace: string;
}): readonly string[] {
  return [...new Set([nameKey(name), nameKey(`${namespace} ${name}`)])].filter((key) => key !== "");
}

function addToken(tokens: Token[], word: string): void {
  if (!STOP_WORDS.has(word)) tokens.push({ word, term: stem(word) });
}

function withoutAccents(text: string): string {
  return NON_ASCII.test(text) ? text.normalize("NFD").replace(ACCENTS, "").normalize("NFC") : text;
}

/** Splits text in scripts without spaces into overlapping pairs of characters. */
function pairs(run: string): string[] {
  const characters = [...run.toLowerCase()];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}
