import type { HealthBook } from "../../observe/health.ts";
import type { Cost, Health, Tool } from "../../tool/tool.ts";
import type { ConversationView } from "../understand/conversation-view.ts";
import type { RoutingSignals } from "../result.ts";
import type { Penalties } from "../settings.ts";
import type { TagMatcher } from "./tag-matcher.ts";

/** What a signal is worth where nothing is known: the same for every tool, so that it changes no order. */
export const NEUTRAL = 0.5;

/** What the signals of one query are computed from, beside the tool. */
export interface SignalParts {
  readonly tags: TagMatcher;
  readonly conversation: ConversationView;
  readonly penalties: Penalties;
  readonly health: Pick<HealthBook, "of">;
  /** How well a tool, by id, served requests like this one. Absent where nothing is learned. */
  readonly learned?: (toolId: string) => number;
}

/** Every signal of one tool. `semantic` is the reranker's score where one ran, the catalog's otherwise. */
export function signalsOf(tool: Tool, semantic: number, parts: SignalParts): RoutingSignals {
  const { conversation, penalties } = parts;
  return {
    semantic,
    intent: intentSignal(tool, parts.tags),
    conversation: conversationSignal(tool, conversation),
    health: healthSignal(parts.health.of(tool.id)),
    cost: costSignal(tool.cost),
    ...(parts.learned === undefined ? {} : { learned: parts.learned(tool.id) }),
    alreadyUsedPenalty: conversation.used(tool) ? penalties.alreadyUsed : 0,
    alreadyFailedPenalty: conversation.failed(tool) ? penalties.alreadyFailed : 0,
    deprecatedPenalty: tool.deprecated ? penalties.deprecated : 0,
  };
}

/** 1 where the tool's tags speak for the intent, 0 where they speak of other things, neutral where there is no tag or no intent. */
export function intentSignal(tool: Pick<Tool, "tags">, match: TagMatcher): number {
  return match(tool.tags) ?? NEUTRAL;
}

/** 1 where the conversation names the tool, half-way where it names its namespace or used a neighbour there, neutral otherwise. */
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

/** A call this slow, or this dear, is neither good nor bad. */
const MIDDLING_LATENCY_MS = 1000;
const MIDDLING_PRICE = 0.05;

/** Higher the cheaper and faster, in (0, 1]. What is unknown counts as middling. */
export function costSignal(cost: Cost): number {
  return (thrift(cost.estimatedLatencyMs, MIDDLING_LATENCY_MS) + thrift(cost.monetaryCost, MIDDLING_PRICE)) / 2;
}

function thrift(amount: number | undefined, middling: number): number {
  if (amount === undefined || !Number.isFinite(amount) || amount < 0) return NEUTRAL;
  return middling / (middling + amount);
}
