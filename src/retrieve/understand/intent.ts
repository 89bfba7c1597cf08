import { type ConversationContext, type Intent, type IntentClassifier, INTENTS } from "../query.ts";
import type { RetrieverSettings } from "../settings.ts";
import { baseForms, wordsOf } from "./words.ts";

/** The keywords of each intent, in requests and in the tags of tools. */
export const INTENT_KEYWORDS: Readonly<Record<Exclude<Intent, "unknown">, readonly string[]>> = {
  data_query: ["query", "search", "get", "list", "fetch", "read"],
  data_mutation: ["create", "update", "delete", "write", "modify"],
  analysis: ["analyze", "compute", "aggregate", "calculate", "report"],
  communication: ["email", "message", "notify", "slack", "send"],
  file_operations: ["file", "upload", "download", "convert", "export"],
  customer_support: ["ticket", "refund", "support", "customer"],
  admin: ["user", "permission", "setting", "config", "admin"],
};

/** The intent of a request, and the weight of each intent in it. */
export interface ResolvedIntent {
  readonly intent: Intent;
  /** 1 for the intent itself, and at most 1 for other intents in the request. Empty for `unknown`. */
  readonly shares: ReadonlyMap<Intent, number>;
}

/**
 * Determines the intent of a retrieval: the caller's if given, else the injected classifier's if configured, else the one with the most keywords (the
 * earlier in the list if tied). A classifier that fails or returns an unknown intent is ignored.
 */
export async function resolveIntent(
  context: ConversationContext,
  settings: Pick<RetrieverSettings, "enableIntentClassification" | "useLlmForIntent">,
  classifier: IntentClassifier | undefined,
  signal: AbortSignal | undefined,
): Promise<ResolvedIntent> {
  const { query, conversationSummary, inferredIntent } = context;
  if (inferredIntent !== undefined) return only(inferredIntent);
  if (!settings.enableIntentClassification) return only("unknown");
  if (settings.useLlmForIntent && classifier !== undefined) {
    try {
      const intent = await classifier(query, conversationSummary, signal === undefined ? {} : { signal });
      if (INTENTS.includes(intent)) return only(intent);
    } catch {
      // Falls back to the keywords.
    }
  }
  const shares = weighIntents(query, conversationSummary);
  return { intent: INTENTS.find((intent) => shares.get(intent) === 1) ?? "unknown", shares };
}

function only(intent: Intent): ResolvedIntent {
  return { intent, shares: new Map(intent === "unknown" ? [] : [[intent, 1]]) };
}

/** Weighs each intent in a request, relative to the strongest one. The summary of the conversation counts only if the request has no keywords. */
export function weighIntents(query: string, summary = ""): ReadonlyMap<Intent, number> {
  let counts = countKeywords(query);
  if (counts.size === 0) counts = countKeywords(summary);
  const most = Math.max(...counts.values());
  return new Map(Array.from(counts, ([intent, count]) => [intent, count / most]));
}

const INTENT_BY_KEYWORD: ReadonlyMap<string, Intent> = new Map(
  Object.entries(INTENT_KEYWORDS).flatMap(([intent, keywords]) =>
    keywords.map((keyword) => [keyword, intent as Intent] as const),
  ),
);

/** Returns the keyword and intent of a word in any inflection. */
export function keywordOf(word: string): { readonly keyword: string; readonly intent: Intent } | undefined {
  for (const keyword of baseForms(word)) {
    const intent = INTENT_BY_KEYWORD.get(keyword);
    if (intent !== undefined) return { keyword, intent };
  }
  return undefined;
}

/** Counts each keyword once. */
function countKeywords(text: string): ReadonlyMap<Intent, number> {
  const found = new Map<string, Intent>();
  for (const word of wordsOf(text)) {
    const match = keywordOf(word);
    if (match !== undefined) found.set(match.keyword, match.intent);
  }
  const counts = new Map<Intent, number>();
  for (const intent of found.values()) counts.set(intent, (counts.get(intent) ?? 0) + 1);
  return counts;
}
