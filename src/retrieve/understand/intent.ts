import { INTENTS, type Intent } from "./intents.ts";
import { baseForms, wordsOf } from "./words.ts";

/** The words that speak for each intent, in requests and in the tags of tools. */
export const INTENT_KEYWORDS: Readonly<Record<Exclude<Intent, "unknown">, readonly string[]>> = {
  data_query: ["query", "search", "get", "list", "fetch", "read"],
  data_mutation: ["create", "update", "delete", "write", "modify"],
  analysis: ["analyze", "compute", "aggregate", "calculate", "report"],
  communication: ["email", "message", "notify", "slack", "send"],
  file_operations: ["file", "upload", "download", "convert", "export"],
  customer_support: ["ticket", "refund", "support", "customer"],
  admin: ["user", "permission", "setting", "config", "admin"],
};

/**
 * What a request is about, by its words: the intent with the most keywords in it, the earlier in the list on a tie, `unknown` where
 * there is none. The summary of the conversation speaks only if the request itself says nothing.
 */
export function classifyIntent(query: string, summary?: string): Intent {
  return strongestOf(weighIntents(query, summary));
}

/** The intent that speaks loudest, the earlier in the list on a tie; `unknown` where none speaks. */
export function strongestOf(shares: ReadonlyMap<Intent, number>): Intent {
  return INTENTS.find((intent) => shares.get(intent) === 1) ?? "unknown";
}

/** How strongly each intent speaks in a request, as a share of the strongest. A task of two parts has two; empty if none speaks. */
export function weighIntents(query: string, summary = ""): ReadonlyMap<Intent, number> {
  let counts = countKeywords(query);
  if (counts.size === 0) counts = countKeywords(summary);
  const most = Math.max(...counts.values());
  return new Map(Array.from(counts, ([intent, count]) => [intent, count / most]));
}

/** The intent a word speaks for, whatever its inflection, and the keyword it is a form of. */
export function keywordOf(word: string): { readonly keyword: string; readonly intent: Intent } | undefined {
  for (const form of baseForms(word)) {
    const intent = INTENT_BY_KEYWORD.get(form);
    if (intent !== undefined) return { keyword: form, intent };
  }
  return undefined;
}

const INTENT_BY_KEYWORD: ReadonlyMap<string, Intent> = new Map(
  INTENTS.flatMap((intent) =>
    intent === "unknown" ? [] : INTENT_KEYWORDS[intent].map((keyword) => [keyword, intent] as const),
  ),
);

/** Each keyword counts once, however often it stands there. */
function countKeywords(text: string): ReadonlyMap<Intent, number> {
  const seen = new Set<string>();
  const counts = new Map<Intent, number>();
  for (const word of wordsOf(text)) {
    const match = keywordOf(word);
    if (match === undefined || seen.has(match.keyword)) continue;
    seen.add(match.keyword);
    counts.set(match.intent, (counts.get(match.intent) ?? 0) + 1);
  }
  return counts;
}
