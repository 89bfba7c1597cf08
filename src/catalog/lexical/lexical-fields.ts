/** The parts of a tool that are searched by words. */
export const LEXICAL_FIELDS = [
  "name",
  "description",
  "tags",
  "examples",
  "parameterNames",
  "parameterDescriptions",
  "namespace",
] as const;
export type LexicalField = (typeof LEXICAL_FIELDS)[number];

/** The text of each part. */
export type FieldTexts = Readonly<Record<LexicalField, string>>;

/**
 * How soon repeating a word stops raising the score: BM25's k1. Like the weights below, it was chosen on labelled requests, where nearby values
 * perform alike.
 */
export const SATURATION = 1.6;

/** How much a word counts in a part (`weight`), and how much less it counts the longer that part is (`lengthPenalty`, BM25's b). */
export const FIELD_WEIGHTS: Readonly<
  Record<LexicalField, { readonly weight: number; readonly lengthPenalty: number }>
> = {
  name: { weight: 2, lengthPenalty: 0.375 },
  description: { weight: 1, lengthPenalty: 0.5 },
  tags: { weight: 1, lengthPenalty: 0.375 },
  examples: { weight: 1, lengthPenalty: 0.75 },
  parameterNames: { weight: 1, lengthPenalty: 0.375 },
  parameterDescriptions: { weight: 0.4, lengthPenalty: 0.75 },
  namespace: { weight: 2, lengthPenalty: 0.375 },
};
