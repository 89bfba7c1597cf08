import { dependence } from "../rank/dependence.ts";
import { messageText } from "./message-text.ts";
import type { ConversationContext } from "../query.ts";

/** What a request is searched for by. */
export interface ConversationQuery {
  /** The request itself. */
  readonly text: string;
  /** The request with the turns before it, where it leans on them. */
  readonly folded?: FoldedQuery;
}

/** A request in its conversation. */
export interface FoldedQuery {
  readonly text: string;
  /** How much of each ranker's score comes from this text rather than from the request alone, in (0, 1). */
  readonly share: number;
}

/** A request that leans on the conversation less than this is taken by itself: what was said before could only mislead. */
const STANDS_ALONE = 0.2;
/** However much it leans on the conversation, the request keeps the rest: it alone says what is wanted now. */
const MOST_SHARE = 0.7;
const EARLIER_TURNS = 6;
/** A tool's answer can be long, and its beginning says what it is about. */
const TURN_LENGTH = 400;

/**
 * Reads a request in its conversation. One that stands alone is searched for alone; the more it leans on what was said, the more the turns
 * before it count, latest first, so that a cut loses the oldest. The summary stands in for turns that are not there.
 */
export function conversationQuery(context: ConversationContext): ConversationQuery {
  const { query, recentMessages = [], conversationSummary = "" } = context;
  const leaning = dependence(query);
  if (leaning < STANDS_ALONE) return { text: query };
  const turns = recentMessages
    .map((message) => ({ role: message.role, content: messageText(message) }))
    .filter(({ content }) => content.trim() !== "" && content !== query)
    .slice(-EARLIER_TURNS)
    .map(({ role, content }) => `${role}: ${content.slice(0, TURN_LENGTH)}`)
    .toReversed();
  if (turns.length === 0 && conversationSummary.trim() !== "") turns.push(conversationSummary.slice(0, TURN_LENGTH));
  if (turns.length === 0) return { text: query };
  return { text: query, folded: { text: `${query}\nearlier: ${turns.join("\n")}`, share: MOST_SHARE * leaning } };
}
