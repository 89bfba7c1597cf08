import { ArsenalError } from "../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { CAPABILITIES, TOOL_SOURCES } from "../../tool/tool.ts";
import { INTENTS } from "./intent.ts";
import { REFUSE_MODES, type ConversationContext, type RefuseMode, type ToolQuery } from "../query.ts";

/** A query that is well formed, with its defaults filled in. */
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

/** Throws if the value is wrong; `field` is its dotted path. */
type Check = (value: unknown, field: string) => void;

/** What a query leaves to the configuration. */
export interface QueryDefaults {
  readonly scoreThreshold: number;
  readonly refuse: RefuseMode;
}

/** Fills in a query's defaults. Throws `QUERY_INVALID` with the first invalid field, its value and a fix. */
export function validateQuery(query: ToolQuery, defaults: QueryDefaults): CheckedQuery {
  checkFields(query, "", QUERY_CHECKS, ["context"]);
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

const boolean: Check = (value, field) => {
  if (typeof value !== "boolean") refuse(field, value, "must be true or false", "Write true or false.");
};

const text: Check = (value, field) => {
  if (typeof value !== "string") refuse(field, value, "must be a string", "Give a string, or leave the field out.");
};

const filledText: Check = (value, field) => {
  text(value, field);
  if (typeof value === "string" && value.trim() === "") {
    refuse(field, value, "is empty", "Give at least one character that is not a space.");
  }
};

const fraction: Check = (value, field) => {
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) {
    refuse(field, value, "must be a number from 0 to 1", "Give a number from 0 to 1, such as 0.5.");
  }
};

const limit: Check = (value, field) => {
  if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > MOST_TOOLS) {
    const fix = `Ask for 1 to ${MOST_TOOLS} tools; a model chooses best among few.`;
    refuse(field, value, `must be a whole number from 1 to ${MOST_TOOLS}`, fix);
  }
};

/** Half a principal would be seen through other eyes than the caller's. */
const principal: Check = (value, field) => {
  const fix = "Give { id, roles, capabilities, scopes, local }, or leave the field out.";
  const { id, roles, capabilities, scopes } = isPlainObject(value) ? value : {};
  if (typeof id === "string" && [roles, capabilities, scopes].every(Array.isArray)) return;
  refuse(field, value, "must be a principal", fix);
};

const signal: Check = (value, field) => {
  if (!(value instanceof AbortSignal)) {
    refuse(field, value, "must be an AbortSignal", "Pass the `signal` of an AbortController.");
  }
};

function listOf(item: Check): Check {
  return (value, field) => {
    if (!Array.isArray(value)) return refuse(field, value, "must be an array", "Wrap the value in [ ].");
    for (const [index, entry] of value.entries()) item(entry, `${field}.${index}`);
  };
}

function oneOf(known: readonly string[]): Check {
  return (value, field) => {
    if (typeof value === "string" && known.includes(value)) return;
    const near = typeof value === "string" ? nearest(value, known) : undefined;
    const fix = `${near === undefined ? "Use" : `Did you mean "${near}"? Use`} one of ${known.join(", ")}.`;
    refuse(field, value, "is not known", fix);
  };
}

/** Other keys of a message are let through: people hand on what their model's API gave them. */
const message: Check = (value, field) => {
  const fix = 'Give { role: "user", content: "…" } with plain text as content.';
  if (!isPlainObject(value)) return refuse(field, value, "must be a message", fix);
  const { role, content } = value;
  if (typeof role !== "string") refuse(`${field}.role`, role, "must be a string", fix);
  if (typeof content !== "string" && content !== undefined && content !== null && !Array.isArray(content)) {
    refuse(`${field}.content`, content, "must be text, a list of parts, or null", fix);
  }
};

const messages: Check = (value, field) => {
  listOf(message)(value, field);
  if (Array.isArray(value) && value.length > MOST_MESSAGES) {
    const fix = `Keep the last ${MOST_MESSAGES}, as in messages.slice(-${MOST_MESSAGES}), and put the rest into conversationSummary.`;
    refuse(field, value, `has ${value.length} messages and may have ${MOST_MESSAGES}`, fix);
  }
};

const capabilities = listOf(oneOf(CAPABILITIES));

const CONTEXT_CHECKS: Readonly<Record<keyof ConversationContext, Check>> = {
  query: filledText,
  conversationSummary: text,
  recentMessages: messages,
  toolsAlreadyUsed: listOf(text),
  toolsFailed: listOf(text),
  inferredIntent: oneOf(INTENTS),
  userCapabilities: capabilities,
  requireConfirmationFor: capabilities,
};

const QUERY_CHECKS: Readonly<Record<keyof ToolQuery, Check>> = {
  context: (value, field) => checkFields(value, field, CONTEXT_CHECKS, ["query"]),
  limit,
  scoreThreshold: fraction,
  refuse: oneOf(REFUSE_MODES),
  namespaces: listOf(filledText),
  requiredCapabilities: capabilities,
  excludedCapabilities: capabilities,
  sources: listOf(oneOf(TOOL_SOURCES)),
  tags: listOf(filledText),
  excludeDeprecated: boolean,
  excludeUnhealthy: boolean,
  enableReranking: boolean,
  includeDependencies: boolean,
  diversityFactor: fraction,
  explain: boolean,
  principal,
  toolset: filledText,
  traceId: filledText,
  parentSpanId: filledText,
  sampled: boolean,
  tracestate: text,
  signal,
};

function checkFields(
  value: unknown,
  path: string,
  checks: Readonly<Record<string, Check>>,
  required: readonly string[],
): void {
  if (!isPlainObject(value)) {
    return refuse(path, value, "must be an object", 'Pass { context: { query: "what the user asks for" } }.');
  }
  const prefix = path === "" ? "" : `${path}.`;
  for (const key of required) {
    if (value[key] === undefined) {
      refuse(`${prefix}${key}`, undefined, "is missing", `Add ${prefix}${key}; it has no default.`);
    }
  }
  for (const [key, entry] of Object.entries(value)) {
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
    if (check === undefined) {
      const near = nearest(key, Object.keys(checks));
      const fix = near === undefined ? `Known fields: ${Object.keys(checks).join(", ")}.` : `Did you mean "${near}"?`;
      refuse(`${prefix}${key}`, entry, "is no field of a query", fix);
    } else if (entry !== undefined) check(entry, `${prefix}${key}`);
  }
}

function refuse(field: string, value: unknown, problem: string, fix: string): never {
  const subject = field === "" ? "The query" : `The query's ${field}`;
  const held = value === undefined || value === "" ? "" : ` (it is ${showValue(value)})`;
  throw new ArsenalError("QUERY_INVALID", `${subject} ${problem}${held}. ${fix}`, {
    ...(field === "" ? {} : { field }),
    value,
    fix,
  });
}
