import { type ConversationContext, messageText } from "../query.ts";
import { dependence } from "../rank/dependence.ts";
import { type Steps, stepsOf } from "./clauses.ts";

/** A request prepared for the search. */
export interface Request {
  readonly text: string;
  /** The request with the turns before it, if it depends on them. */
  readonly folded?: FoldedQuery;
  /** Present if it asks for several things. */
  readonly steps?: Steps;
  /** The texts to search by words: the request, then the request with the turns before it. */
  readonly texts: readonly string[];
  /** The texts to search by meaning: the same, then its clauses. */
  readonly meanings: readonly string[];
}

interface FoldedQuery {
  readonly text: string;
  /** The share of each ranker's score that comes from this text rather than from the request alone, in (0, 1). */
  readonly share: number;
}

/** Reads a request: how it depends on the conversation, and its clauses. */
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

/** A request that depends on the conversation less than this is taken by itself: earlier turns could only mislead. */
const STANDS_ALONE = 0.2;
/** The largest share of the conversation; the rest stays with the request, which alone states the current wish. */
const MOST_SHARE = 0.7;
const EARLIER_TURNS = 6;
/** A tool's result can be long, and its beginning states its subject. */
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
