import { strongestOf, weighIntents } from "./intent.ts";
import { INTENTS, type Intent, type IntentClassifier } from "./intents.ts";
import type { ConversationContext } from "../query.ts";
import type { RetrieverSettings } from "../settings.ts";

/** What a request is about, and how much each intent counts in it. */
export interface ResolvedIntent {
  readonly intent: Intent;
  /** 1 for the intent itself; less, or as much, for others that speak in the request too. Empty for `unknown`. */
  readonly shares: ReadonlyMap<Intent, number>;
}

/**
 * The intent a retrieval works with: the caller's where given, the injected classifier's where configured, the keywords' otherwise.
 * A classifier that fails, or answers something else, is passed over: never a reason to find no tools.
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
      // The keywords answer instead.
    }
  }
  const shares = weighIntents(query, conversationSummary);
  return { intent: strongestOf(shares), shares };
}

function only(intent: Intent): ResolvedIntent {
  return { intent, shares: new Map(intent === "unknown" ? [] : [[intent, 1]]) };
}
