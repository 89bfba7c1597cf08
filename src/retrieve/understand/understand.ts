import { type ConversationContext, messageText } from "../query.ts";
import { dependence } from "../rank/dependence.ts";
import { type Steps, stepsOf } from "./clauses.ts";

/** A request as it is searched for. */
export interface Request {
  /** The request itself. */
  readonly text: string;
  /** The request with the turns before it, if it leans on them. */
  readonly folded?: FoldedQuery;
  /** Present if it asks for several things. */
  readonly steps?: Steps;
  /** Texts that are searched for by words: the request, then with the turns before it. */
  readonly texts: readonly string[];
  /** Texts that are searched for by meaning: the same, then its clauses. */
  readonly meanings: readonly string[];
}

/** A request in its conversation. */
interface FoldedQuery {
  readonly text: string;
  /** How much of each ranker's score comes from this text rather than from the request alone, in (0, 1). */
  readonly share: number;
}

/** Reads a request: what it leans on, and what it asks for. */
export function understand(context: ConversationContext): Request {
  const text = context.query;
  const folded = foldConversation(context);
  const steps = stepsOf(text);
  const texts = folded === undefined ? [text] : [text, folded.text];
  return {
    text,
    ...(folded === undefined ? {} : { folded }),
    ...(steps === undefined ? {} : { steps }),
    texts,
    meanings: [...texts, ...(steps?.clauses ?? [])],
  };
}

/** A request that leans on the conversation less than this is taken by itself: what was said before could only mislead. */
const STANDS_ALONE = 0.2;
/** However much it leans on the conversation, the request keeps the rest: it alone says what is wanted now. */
const MOST_SHARE = 0.7;
const EARLIER_TURNS = 6;
/** A tool's answer can be long, and its beginning says what it is about. */
const TURN_LENGTH = 400;

/** The request with the turns before it, latest first, or with the summary if there are none; undefined if it stands alone. */
export function foldConversation(context: ConversationContext): FoldedQuery | undefined {
  const { query, recentMessages = [], conversationSummary = "" } = context;
  const leaning = dependence(query);
  if (leaning < STANDS_ALONE) return undefined;
  const turns = recentMessages
    .map((message) => ({ role: message.role, content: messageText(message) }))
    .filter(({ content }) => content.trim() !== "" && content !== query)
    .slice(-EARLIER_TURNS)
    .map(({ role, content }) => `${role}: ${content.slice(0, TURN_LENGTH)}`)
    .toReversed();
  if (turns.length === 0 && conversationSummary.trim() !== "") turns.push(conversationSummary.slice(0, TURN_LENGTH));
  if (turns.length === 0) return undefined;
  return { text: `${query}\nearlier: ${turns.join("\n")}`, share: MOST_SHARE * leaning };
}
