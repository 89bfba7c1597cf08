/** What a request is about, coarsely. */
export const INTENTS = [
  "data_query",
  "data_mutation",
  "analysis",
  "communication",
  "file_operations",
  "customer_support",
  "admin",
  "unknown",
] as const;
export type Intent = (typeof INTENTS)[number];

/** Classifies a request by other means than keywords, such as a language model. */
export type IntentClassifier = (
  query: string,
  summary: string | undefined,
  options: { readonly signal?: AbortSignal },
) => Promise<Intent>;
