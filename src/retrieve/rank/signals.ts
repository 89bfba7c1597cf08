import type { HealthBook } from "../../observe/health.ts";
import { remember } from "../../base/remember.ts";
import type { Cost, Health, Tool } from "../../tool/tool.ts";
import type { ConversationView } from "../understand/conversation-view.ts";
import type { RoutingSignals } from "../result.ts";
import type { Penalties } from "../settings.ts";
import type { Intent } from "../query.ts";
import { keywordOf } from "../understand/intent.ts";
import { baseForms, wordsOf } from "../understand/words.ts";

/** The value of a signal without information: the same for every tool, so that it changes no order. */
export const NEUTRAL = 0.5;

/** The inputs of a query's signals, besides the tool. */
export interface SignalParts {
  readonly tags: TagMatcher;
  readonly conversation: ConversationView;
  readonly penalties: Penalties;
  readonly health: Pick<HealthBook, "of">;
  /** How well a tool, by id, served requests like this one. Omitted without learning. */
  readonly learned?: (toolId: string) => number;
}

/** Every signal of one tool. `semantic` is the reranker's score if one ran, the catalog's otherwise. */
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

/** 1 if the conversation names the tool, half-way if it names its namespace or used a neighbour there, neutral otherwise. */
export function conversationSignal(tool: Tool, conversation: ConversationView): number {
  if (conversation.names(tool)) return 1;
  return conversation.isAbout(tool.namespace) ? (1 + NEUTRAL) / 2 : NEUTRAL;
}

/** Successes a tool is credited with before its first call, so that one early failure does not bury it. */
const PRIOR_SUCCESSES = 5;

/** The share of calls that succeed, 1 for a tool never called, 0 while its circuit is open. */
export function healthSignal(health: Health): number {
  if (health.circuitOpen) return 0;
  return (health.successRate * health.totalCalls + PRIOR_SUCCESSES) / (health.totalCalls + PRIOR_SUCCESSES);
}

/** A call this slow or this expensive is neither good nor bad. */
const MIDDLING_LATENCY_MS = 1000;
const MIDDLING_PRICE = 0.05;

/** Higher if cheaper and faster, in (0, 1]. Unknown values count as average. */
export function costSignal(cost: Cost): number {
  return (thrift(cost.estimatedLatencyMs, MIDDLING_LATENCY_MS) + thrift(cost.monetaryCost, MIDDLING_PRICE)) / 2;
}

function thrift(amount: number | undefined, middling: number): number {
  if (amount === undefined || !Number.isFinite(amount) || amount < 0) return NEUTRAL;
  return middling / (middling + amount);
}

/** How well a tool's tags match the request's intents, in [0, 1]; neutral if there is nothing to compare. */
type TagMatcher = (tags: readonly string[]) => number;

/**
 * Creates the matcher of one request. A tag scores the share of its intent in the request. A tag that the request itself names scores 1: keywords are
 * a coarse guess ("look up customers in the database" has one, of customer support), and must not outweigh it.
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

/** The intents of a tool's tags, and for each tag the forms of each of its words. Cached per tool. */
const readTags = remember((tags: readonly string[]) => {
  const words = tags.map(wordsOf).filter((tag) => tag.length > 0);
  return {
    intents: [...new Set(words.flat().flatMap((word) => keywordOf(word)?.intent ?? []))],
    words: words.map((tag) => tag.map(baseForms)),
  };
});
