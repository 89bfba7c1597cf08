import { type Check, fields, flag, listOf, number, oneOf, string, text, throwFor } from "../../tool/shape/check.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { CAPABILITIES, TOOL_SOURCES } from "../../tool/tool.ts";
import {
  type ConversationContext,
  INTENTS,
  MAX_QUERY_LENGTH,
  REFUSE_MODES,
  type RefuseMode,
  type ToolQuery,
} from "../query.ts";

/** A valid query with its defaults filled in. */
export interface CheckedQuery extends ToolQuery {
  readonly limit: number;
  readonly scoreThreshold: number;
  readonly refuse: RefuseMode;
  readonly excludeDeprecated: boolean;
  readonly excludeUnhealthy: boolean;
  readonly enableReranking: boolean;
  readonly includeDependencies: boolean;
  readonly explain: boolean;
}

const DEFAULT_LIMIT = 5;
const MOST_TOOLS = 50;
const MOST_MESSAGES = 10;
const MAX_SUMMARY_LENGTH = 65_536;
/** The most names in a list, and the most characters of a name, an id or a tag. */
const MOST_NAMES = 1_000;
const MAX_NAME_LENGTH = 1_000;

/** Fills in a query's defaults. Throws `QUERY_INVALID` with the first invalid field, its value and a fix. */
export function validateQuery(
  query: ToolQuery,
  defaults: Pick<CheckedQuery, "scoreThreshold" | "refuse">,
): CheckedQuery {
  checkQuery(query, "", refuse);
  return {
    ...query,
    limit: query.limit ?? DEFAULT_LIMIT,
    scoreThreshold: query.scoreThreshold ?? defaults.scoreThreshold,
    refuse: query.refuse ?? defaults.refuse,
    excludeDeprecated: query.excludeDeprecated ?? true,
    excludeUnhealthy: query.excludeUnhealthy ?? true,
    enableReranking: query.enableReranking ?? false,
    includeDependencies: query.includeDependencies ?? true,
    explain: query.explain ?? false,
  };
}

/** A text of at most `max` characters. */
const bounded =
  (check: Check, max: number, fix: string): Check =>
  (value, field, report) => {
    check(value, field, report);
    if (typeof value !== "string" || value.length <= max) return;
    report(field, undefined, `has ${value.length} characters, and may have ${max}`, fix);
  };
const name = bounded(text(), MAX_NAME_LENGTH, "Shorten it.");
const names = listOf(name, MOST_NAMES);

const limit: Check = (value, field, report) => {
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_TOOLS) return;
  const fix = `Ask for 1 to ${MOST_TOOLS} tools; a model chooses best among few.`;
  report(field, value, `must be a whole number from 1 to ${MOST_TOOLS}`, fix);
};

/** An incomplete principal would get another caller's view. */
const principal: Check = (value, field, report) => {
  const fix = "Give { id, roles, capabilities, scopes, local }, or leave the field out.";
  const { id, roles, capabilities, scopes } = isPlainObject(value) ? value : {};
  if (typeof id === "string" && [roles, capabilities, scopes].every(Array.isArray)) return;
  report(field, value, "must be a principal", fix);
};

const signal: Check = (value, field, report) => {
  if (!(value instanceof AbortSignal))
    report(field, value, "must be an AbortSignal", "Pass the `signal` of an AbortController.");
};

/** Other keys of a message are allowed: people pass on messages of their model's API. */
const message: Check = (value, field, report) => {
  const fix = 'Give { role: "user", content: "…" } with plain text as content.';
  if (!isPlainObject(value)) return report(field, value, "must be a message", fix);
  const { role, content } = value;
  if (typeof role !== "string") report(`${field}.role`, role, "must be a string", fix);
  if (typeof content !== "string" && content !== undefined && content !== null && !Array.isArray(content)) {
    report(`${field}.content`, content, "must be text, a list of parts, or null", fix);
  }
};

const messages: Check = (value, field, report) => {
  if (Array.isArray(value) && value.length > MOST_MESSAGES) {
    const fix = `Keep the last ${MOST_MESSAGES}, as in messages.slice(-${MOST_MESSAGES}), and put the rest into conversationSummary.`;
    return report(field, value, `has ${value.length} messages and may have ${MOST_MESSAGES}`, fix);
  }
  listOf(message)(value, field, report);
};

const capabilities = listOf(oneOf(CAPABILITIES), MOST_NAMES);

const CONTEXT_CHECKS: Readonly<Record<keyof ConversationContext, Check>> = {
  query: bounded(text(), MAX_QUERY_LENGTH, "Say in a few sentences what is wanted; put the rest into recentMessages."),
  conversationSummary: bounded(string, MAX_SUMMARY_LENGTH, "Summarise it."),
  recentMessages: messages,
  toolsAlreadyUsed: listOf(bounded(string, MAX_NAME_LENGTH, "Shorten it."), MOST_NAMES),
  toolsFailed: listOf(bounded(string, MAX_NAME_LENGTH, "Shorten it."), MOST_NAMES),
  inferredIntent: oneOf(INTENTS),
  userCapabilities: capabilities,
  requireConfirmationFor: capabilities,
};

const example = 'Pass { context: { query: "what the user asks for" } }.';

const QUERY_CHECKS: Readonly<Record<keyof ToolQuery, Check>> = {
  context: fields(CONTEXT_CHECKS, { required: ["query"], example }),
  limit,
  scoreThreshold: number(0, 1),
  refuse: oneOf(REFUSE_MODES),
  namespaces: names,
  requiredCapabilities: capabilities,
  excludedCapabilities: capabilities,
  sources: listOf(oneOf(TOOL_SOURCES), MOST_NAMES),
  tags: names,
  excludeDeprecated: flag,
  excludeUnhealthy: flag,
  enableReranking: flag,
  includeDependencies: flag,
  diversityFactor: number(0, 1),
  explain: flag,
  principal,
  toolset: name,
  traceId: name,
  parentSpanId: name,
  sampled: flag,
  tracestate: string,
  signal,
};

const checkQuery = fields(QUERY_CHECKS, { required: ["context"], example });

const refuse = throwFor("query", "QUERY_INVALID");
