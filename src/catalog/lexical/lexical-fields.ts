/** The parts of a tool that word search covers. */
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

export type FieldTexts = Readonly<Record<LexicalField, string>>;

/** How fast repetitions of a word stop raising the score: BM25's k1. Chosen on labelled requests, like the weights below; nearby values perform alike. */
export const SATURATION = 1.6;

/** The weight of a word in a part (`weight`), and how much a longer part reduces it (`lengthPenalty`, BM25's b). */
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
