import { fixable } from "../../../errors/arsenal-error.ts";
import { ALONE, createNormaliser } from "./normalise.ts";

/** In characters. Longer words are unknown. */
const LONGEST_WORD = 100;
/** The number of cached words. A full cache is cleared. */
const REMEMBERED_WORDS = 20_000;
const MARKERS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/** Splits text into the tokens of a BERT uncased vocabulary. The file has one token per line. A token's id is its line number, from 0. */
export function createWordPiece(vocabulary: string) {
  /** Tokens that start a word, and tokens that continue a word (written ##like). */
  const beginnings = new Map<string, number>();
  const continuations = new Map<string, number>();
  let size = 0;
  let longest = 0;
  // Read without an array of lines, because the first search waits for it.
  for (let end: number, at = 0; at < vocabulary.length; at = end + 1) {
    end = vocabulary.indexOf("\n", at);
    if (end === -1) end = vocabulary.length;
    // In a text, "##" before a word is punctuation. Only the word "##…" could clash with a continuation, and the tokenizer never produces it.
    const continues = end - at > 2 && vocabulary.startsWith("##", at);
    const token = vocabulary.slice(continues ? at + 2 : at, end);
    (continues ? continuations : beginnings).set(token, size++);
    longest = Math.max(longest, token.length);
  }
  for (const marker of MARKERS) markerId(beginnings, marker);
  const unknown = markerId(beginnings, "[UNK]");
  const first = markerId(beginnings, "[CLS]");
  const last = markerId(beginnings, "[SEP]");
  const normalise = createNormaliser();
  const remembered = new Map<string, readonly number[]>();

  /** Greedy: takes the longest token that starts the word, then repeatedly the longest that continues it. The word is unknown if no token fits. */
  function splitWord(word: string): readonly number[] {
    if (word.length > LONGEST_WORD && [...word].length > LONGEST_WORD) return [unknown];
    const ids: number[] = [];
    for (let start = 0; start < word.length;) {
      const tokens = start === 0 ? beginnings : continuations;
      let end = Math.min(word.length, start + longest);
      let id = tokens.get(word.slice(start, end));
      while (id === undefined && --end > start) id = tokens.get(word.slice(start, end));
      if (id === undefined) return [unknown];
      ids.push(id);
      start = end;
    }
    return ids;
  }

  function tokensOf(word: string): readonly number[] {
    let ids = remembered.get(word);
    if (ids === undefined) {
      ids = splitWord(word);
      if (remembered.size >= REMEMBERED_WORDS) remembered.clear();
      remembered.set(word, ids);
    }
    return ids;
  }

  /** Appends the tokens of a text without markers, up to `room` tokens. */
  function appendText(text: string, ids: number[], room: number): void {
    let word = "";
    const finish = () => {
      if (word === "") return;
      ids.push(...tokensOf(word));
      word = "";
    };
    for (let at = 0; at < text.length && ids.length < room; at++) {
      let code = text.charCodeAt(at);
      // a–z and 0–9 make up most text and stay unchanged.
      if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) {
        word += text[at];
        continue;
      }
      if (code >= 0xd800 && code < 0xdc00) {
        code = text.codePointAt(at) ?? code;
        if (code > 0xffff) at++;
      }
      const normal = normalise(code);
      if (normal.length === 1) {
        if (normal === " ") finish();
        else word += normal;
        continue;
      }
      for (let i = 0; i < normal.length; i++) {
        if (normal[i] === " ") finish();
        else if (normal[i] === ALONE) {
          finish();
          const character = String.fromCodePoint(normal.codePointAt(i + 1) ?? 0);
          ids.push(...tokensOf(character));
          i += character.length;
        } else word += normal[i];
      }
    }
    if (ids.length < room) finish();
  }

  return {
    size,
    /** The ids of [CLS] and [SEP], which have no meaning. */
    special: [first, last],
    /** Returns the token ids of a text, from [CLS] to [SEP], cut to `maxTokens` in total. */
    encode(text: string, { maxTokens }: { readonly maxTokens: number }): Int32Array {
      const room = Math.max(maxTokens - 2, 0);
      const ids: number[] = [];
      // Recognises literal markers in a text, like the reference.
      for (const part of text.includes("[") ? splitAtMarkers(text) : [text]) {
        const marker = MARKERS.includes(part) ? beginnings.get(part) : undefined;
        if (marker === undefined) appendText(part, ids, room);
        else ids.push(marker);
      }
      const result = new Int32Array(Math.min(ids.length, room) + 2);
      result[0] = first;
      for (let i = 1; i < result.length - 1; i++) result[i] = ids[i - 1] ?? unknown;
      result[result.length - 1] = last;
      return result;
    },
  };
}

const AT_MARKERS = new RegExp(`(${MARKERS.map((marker) => marker.replace(/[[\]]/g, String.raw`\$&`)).join("|")})`);

function splitAtMarkers(text: string): readonly string[] {
  return text.split(AT_MARKERS).filter((part) => part !== "");
}

function markerId(tokens: ReadonlyMap<string, number>, marker: string): number {
  const id = tokens.get(marker);
  if (id === undefined) {
    const problem = `The vocabulary has no ${marker}: it is not a BERT vocabulary with one token a line.`;
    throw fixable("INPUT_INVALID", problem, "Reinstall the package.", { field: "vocabulary", value: marker });
  }
  return id;
}
