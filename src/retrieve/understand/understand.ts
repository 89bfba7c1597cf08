import type { ConversationContext } from "../query.ts";
import { type Steps, stepsOf } from "./clauses.ts";
import { conversationQuery, type FoldedQuery } from "./conversation-query.ts";

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

/** Reads a request: what it leans on, and what it asks for. */
export function understand(context: ConversationContext): Request {
  const { text, folded } = conversationQuery(context);
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
