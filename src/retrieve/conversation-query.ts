import type { ConversationContext } from "./query.ts";
import { isContentless } from "./words.ts";

const EARLIER_MESSAGES = 2;

/**
 * The text that is searched for: the request itself. Where it names nothing ("do it again"), the last user messages that do, or else
 * the summary, stand beside it.
 */
export function searchText(context: ConversationContext): string {
  const { query, recentMessages = [], conversationSummary = "" } = context;
  if (!isContentless(query)) return query;
  const earlier = recentMessages
    .filter((message) => message.role === "user" && !isContentless(message.content))
    .slice(-EARLIER_MESSAGES)
    .map((message) => message.content);
  if (earlier.length === 0 && !isContentless(conversationSummary)) earlier.push(conversationSummary);
  return [query, ...earlier].join("\n");
}
