import { keywordOf } from "../understand/intent.ts";
import type { Intent } from "../understand/intents.ts";
import { baseForms, wordsOf } from "../understand/words.ts";

/** How far a tool's tags meet what a request is about, in [0, 1]; undefined if there is nothing to compare. */
export type TagMatcher = (tags: readonly string[]) => number | undefined;

/**
 * The matcher of one request. Tags meet it as far as the intents they speak for count in it. A tag that the request itself names meets it
 * fully: keywords are a coarse guess ("look up customers in the database" has one, of customer support), and must not outdo that.
 */
export function createTagMatcher(query: string, shares: ReadonlyMap<Intent, number>): TagMatcher {
  const asked = new Set(wordsOf(query).flatMap(baseForms));
  return (tags) => {
    if (shares.size === 0 || tags.length === 0) return undefined;
    const { intents, words } = readTags(tags);
    if (words.some((tag) => tag.every((forms) => forms.some((form) => asked.has(form))))) return 1;
    return Math.max(0, ...intents.map((intent) => shares.get(intent) ?? 0));
  };
}

/** What a tool's tags say: the intents they speak for, and for each tag the forms of each of its words. */
interface ReadTags {
  readonly intents: readonly Intent[];
  readonly words: readonly (readonly (readonly string[])[])[];
}

/** Tags do not change, so each tool's are read once. */
const known = new WeakMap<readonly string[], ReadTags>();

function readTags(tags: readonly string[]): ReadTags {
  let read = known.get(tags);
  if (read === undefined) {
    const words = tags.map(wordsOf).filter((tag) => tag.length > 0);
    read = {
      intents: [...new Set(words.flat().flatMap((word) => keywordOf(word)?.intent ?? []))],
      words: words.map((tag) => tag.map(baseForms)),
    };
    known.set(tags, read);
  }
  return read;
}
