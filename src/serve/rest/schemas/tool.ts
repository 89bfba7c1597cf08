import { TOOL_DRAFT as DRAFT } from "../../../tool/draft.ts";
import { NAME_PATTERN } from "../../../tool/limits.ts";
import { bodyOf, entry, flag, number, refined, share, string, time, whole } from "../../../tool/shape/shape.ts";
import { ANNOTATIONS } from "../../../tool/tool.ts";

export const ID = string("The tool's id: `billing.refund_user`.");

export const TOOL_DRAFT = bodyOf(DRAFT);

const { name: _name, ...draft } = DRAFT.properties;

/** The reason why a caller may not call a tool, or use a toolset. */
export const REFUSAL = entry(
  "Present if you may not call it.",
  {
    rule: string("The rule that refuses, or the missing rights: `capabilities`, `scopes`."),
    reason: string("Why, in words."),
    listed: flag("True if lists and searches still show the tool, because of a rule with `hide: false`."),
  },
  ["rule", "reason"],
);

export const TOOL = entry(
  "One callable thing, whatever source it came from.",
  {
    id: ID,
    name: refined(string("The part of the id after the last dot."), { pattern: NAME_PATTERN.source }),
    ...draft,
    annotations: ANNOTATIONS,
    ownedByCode: flag("A program registered it with its handler, and only that program replaces it."),
    refused: REFUSAL,
    contentHash: string("A hash of the definition. It is also the answer's ETag."),
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
    successRate: share("Share of calls that succeeded; 1 if it was never called."),
    averageLatencyMs: number("Milliseconds that a call takes, on average."),
    totalCalls: whole("Calls so far."),
    consecutiveFailures: whole("Failures since the last success."),
    lastSuccess: time("When a call last succeeded."),
    lastFailure: time("When a call last failed."),
    circuitOpen: flag("It failed repeatedly, so calls to it are paused."),
  },
  ["successRate", "averageLatencyMs", "totalCalls", "consecutiveFailures", "circuitOpen"],
);
