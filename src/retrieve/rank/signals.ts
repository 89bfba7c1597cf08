import type { HealthBook } from "../../observe/health.ts";
import { remember } from "../../base/remember.ts";
import type { Cost, Health, Tool } from "../../tool/tool.ts";
import type { ConversationView } from "../understand/conversation-view.ts";
import type { RoutingSignals } from "../result.ts";
import type { Penalties } from "../settings.ts";
import type { Intent } from "../query.ts";
import { keywordOf } from "../understand/intent.ts";
import { baseForms, wordsOf } from "../understand/words.ts";

/** The value of a signal without information. It is the same for every tool, so it changes no order. */
export const NEUTRAL = 0.5;

/** The inputs of a query's signals, except the tool. */
export interface SignalParts {
  readonly tags: TagMatcher;
  readonly conversation: ConversationView;
  readonly penalties: Penalties;
  readonly health: Pick<HealthBook, "of">;
  /** Returns how well a tool (by id) served similar requests. Omitted without learning. */
  readonly learned?: (toolId: string) => number;
}

/** Computes every signal of one tool. `semantic` is the reranker's score if one ran, otherwise the search's. */
export function signalsOf(tool: Tool, semantic: number, parts: SignalParts): RoutingSignals {
  const { conversation, penalties } = parts;
  return {
    semantic,
    intent: parts.tags(tool.tags),
    conversation: conversationSignal(tool, conversation),
    health: healthSignal(parts.health.of(tool.id)),
    cost: costSignal(tool.cost),
    ...(parts.learned === undefined ? {} : { learned: parts.learned(tool.id) }),
    alreadyUsedPenalty: conversation.used(tool) ? penalties.alreadyUsed : 0,
    alreadyFailedPenalty: conversation.failed(tool) ? penalties.alreadyFailed : 0,
    deprecatedPenalty: tool.deprecated ? penalties.deprecated : 0,
  };
}

/** Returns 1 if the conversation names the tool, a middle value if it names the tool's namespace or used another tool there, and neutral otherwise. */
export function conversationSignal(tool: Tool, conversation: ConversationView): number {
  if (conversation.names(tool)) return 1;
  return conversation.isAbout(tool.namespace) ? (1 + NEUTRAL) / 2 : NEUTRAL;
}

/** Successes that every tool starts with, so that one early failure does not bury it. */
const PRIOR_SUCCESSES = 5;

/** Returns the share of successful calls: 1 for a tool that was never called, 0 while its circuit is open. */
export function healthSignal(health: Health): number {
  if (health.circuitOpen) return 0;
  return (health.successRate * health.totalCalls + PRIOR_SUCCESSES) / (health.totalCalls + PRIOR_SUCCESSES);
}

/** The latency and price that count as average. */
const MIDDLING_LATENCY_MS = 1000;
const MIDDLING_PRICE = 0.05;

/** Higher for cheaper and faster tools, in (0, 1]. Unknown values count as average. */
export function costSignal(cost: Cost): number {
  return (thrift(cost.estimatedLatencyMs, MIDDLING_LATENCY_MS) + thrift(cost.monetaryCost, MIDDLING_PRICE)) / 2;
}

function thrift(amount: number | undefined, middling: number): number {
  if (amount === undefined || !Number.isFinite(amount) || amount < 0) return NEUTRAL;
  return middling / (middling + amount);
}

/** Returns how well a tool's tags match the request's intents, in [0, 1]; neutral if there is nothing to compare. */
type TagMatcher = (tags: readonly string[]) => number;

/**
 * Creates the matcher for one request. A tag scores its intent's share in the request. A tag that occurs in the request scores 1, because keywords
 * are a coarse guess and must not outweigh it: "look up customers in the database" has one keyword, of customer support.
 */
export function createTagMatcher(query: string, shares: ReadonlyMap<Intent, number>): TagMatcher {
  const asked = new Set(wordsOf(query).flatMap(baseForms));
  return (tags) => {
    if (shares.size === 0 || tags.length === 0) return NEUTRAL;
    const { intents, words } = readTags(tags);
    if (words.some((tag) => tag.every((forms) => forms.some((form) => asked.has(form))))) return 1;
    return Math.max(0, ...intents.map((intent) => shares.get(intent) ?? 0));
  };
}

/** Returns the intents of a tool's tags, and the forms of each word of each tag. Cached per tool. */
const readTags = remember((tags: readonly string[]) => {
  const words = tags.map(wordsOf).filter((tag) => tag.length > 0);
  return {
    intents: [...new Set(words.flat().flatMap((word) => keywordOf(word)?.intent ?? []))],
    words: words.map((tag) => tag.map(baseForms)),
  };
});
