import { type ConversationContext, messageText } from "../query.ts";
import { dependence } from "../rank/dependence.ts";
import { type Steps, stepsOf } from "./clauses.ts";

/** A request prepared for the search. */
export interface Request {
  readonly text: string;
  /** The request with the previous turns, if it depends on them. */
  readonly folded?: FoldedQuery;
  /** Present if the request asks for several things. */
  readonly steps?: Steps;
  /** The texts for word search: the request, then the request with the previous turns. */
  readonly texts: readonly string[];
  /** The texts for semantic search: `texts`, then the clauses. */
  readonly meanings: readonly string[];
}

interface FoldedQuery {
  readonly text: string;
  /** The share of each ranker's score that comes from this text, in (0, 1). The rest comes from the request alone. */
  readonly share: number;
}

/** Analyses a request: its dependence on the conversation, and its clauses. */
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

/** A request with lower dependence is searched alone, because earlier turns could mislead. */
const STANDS_ALONE = 0.2;
/** The maximum share of the conversation. The rest belongs to the request, because only it states the current wish. */
const MOST_SHARE = 0.7;
const EARLIER_TURNS = 6;
/** A tool's result can be long. Its start states its subject. */
const TURN_LENGTH = 400;

/** Returns the request with the previous turns, latest first, or else with the summary; undefined if the request does not depend on them. */
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
