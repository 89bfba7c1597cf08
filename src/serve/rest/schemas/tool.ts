import { TOOL_DRAFT as DRAFT } from "../../../tool/draft.ts";
import { NAME_PATTERN } from "../../../tool/limits.ts";
import { bodyOf, entry, flag, number, refined, share, string, time, whole } from "../../../tool/shape/shape.ts";
import { ANNOTATIONS } from "../../../tool/tool.ts";

export const ID = string("The tool's id: `billing.refund_user`.");

export const TOOL_DRAFT = bodyOf(DRAFT);

const { name: _name, ...draft } = DRAFT.properties;

/** The reason why a caller may not call a tool, or use a toolset. */
export const REFUSAL = entry(
  "Why you may not call the tool, or use the toolset. Omitted if you may.",
  {
    rule: string("The rule that refuses, or the missing rights: `capabilities`, `scopes`."),
    reason: string("The reason, as text."),
    listed: flag("True if lists and searches still show the tool, because of a rule with `hide: false`."),
  },
  ["rule", "reason"],
);

export const TOOL = entry(
  "A tool, from any source.",
  {
    id: ID,
    name: refined(string("The part of the id after the last dot."), { pattern: NAME_PATTERN.source }),
    ...draft,
    annotations: ANNOTATIONS,
    ownedByCode: flag("True if a program registered the tool with its handler. Only that program can replace it."),
    refused: REFUSAL,
    contentHash: string("A hash of the definition. It is also the ETag of the response."),
  },
  [
    ...(["id", "name", "namespace", "version", "description", "examples", "tags", "parameters", "source"] as const),
    ...(["sourceName", "sourceMeta", "capabilities", "riskLevel", "requiredScopes", "requiresConfirmation"] as const),
    ...(["annotations", "dependencies", "cost", "metadata", "createdAt", "deprecated", "contentHash"] as const),
  ],
);

export const HEALTH = entry(
  "The health of a tool since the gateway started.",
  {
    successRate: share("Share of calls that succeeded. 1 if the tool was never called."),
    averageLatencyMs: number("The average duration of a call, in milliseconds."),
    totalCalls: whole("The number of calls."),
    consecutiveFailures: whole("The number of failures since the last success."),
    lastSuccess: time("When a call last succeeded."),
    lastFailure: time("When a call last failed."),
    circuitOpen: flag("True if the circuit breaker is open: the tool failed repeatedly, so calls to it are paused."),
  },
  ["successRate", "averageLatencyMs", "totalCalls", "consecutiveFailures", "circuitOpen"],
);
