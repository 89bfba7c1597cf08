import { type FieldTexts, LEXICAL_FIELDS } from "../../catalog/lexical/lexical-fields.ts";
import { FIELD_SPAN } from "../../catalog/lexical/posting.ts";
import { spellingsOf, tokenize } from "../../catalog/lexical/tokenize.ts";

export interface ToolWords {
  /** The terms of each field, in order, separated by spaces. */
  readonly fields: readonly string[];
  readonly lengths: Uint32Array;
  readonly counts: ReadonlyMap<string, Uint32Array>;
  /** The keys of its name, with and without its namespace. */
  readonly spellings: readonly string[];
}

/** Databases limit the length of index entries, so longer words are cut. */
const LONGEST_WORD = 1_000;

/** Reads the words of a tool with the catalog's own tokenizer. */
export function readWords(texts: FieldTexts): ToolWords {
  const lengths = new Uint32Array(FIELD_SPAN);
  const counts = new Map<string, Uint32Array>();
  const fields = LEXICAL_FIELDS.map((name, field) => {
    const terms = tokenize(texts[name]).map(({ term }) => toWord(term));
    lengths[field] = terms.length;
    for (const term of terms) {
      let own = counts.get(term);
      if (!own) counts.set(term, (own = new Uint32Array(FIELD_SPAN)));
      own[field] = (own[field] ?? 0) + 1;
    }
    return terms.join(" ");
  });
  return { fields, lengths, counts, spellings: spellingsOf(texts) };
}

export function toWord(term: string): string {
  return term.length > LONGEST_WORD ? term.slice(0, LONGEST_WORD) : term;
}
