import { NAME_PATTERN } from "../../../tool/limits.ts";
import { CAPABILITIES, RISK_LEVELS, TOOL_SOURCES } from "../../../tool/tool.ts";
import { anyObject, choice, flag, integer, list, number, object, share, text, texts, time } from "./write.ts";

export const ID = text("The tool's id: `billing.refund_user`.");
const CAPABILITY = choice(CAPABILITIES, "Something that a tool can touch.");

const annotations = {
  readOnly: flag("It changes nothing."),
  destructive: flag("It may destroy something."),
  idempotent: flag("Repeating a call has no further effect."),
  openWorld: flag("It reaches beyond its own service."),
  confirmed: flag("The operator vouches for these hints. Retrying relies on confirmed hints alone."),
} as const;

const dependency = object("A relation to another tool.", ["tool", "type"], {
  tool: text("The other tool's id, or its name within the same namespace."),
  type: choice(["requires", "suggests", "conflicts"], "How the tools relate."),
  reason: text("Why."),
});

const cost = object("What one call costs. Omitted members are unknown.", [], {
  estimatedLatencyMs: number("Milliseconds that a call takes."),
  monetaryCost: number("Per call, in one currency of your choice."),
  rateLimit: number("Calls a minute that the tool allows."),
  contextTokens: number("Tokens that the definition adds to a prompt."),
});

/** Members that a tool has, and that a draft may have. */
const shared = {
  namespace: text("What stands before the dot in the id. Defaults to `default`."),
  version: text("`major.minor.patch`"),
  title: text("A short name for people."),
  description: text("What the model reads, and what the search looks at."),
  extendedDescription: text("More about it, up to 10,000 characters."),
  examples: texts("Requests that it serves, in a user's words. At most 10."),
  tags: texts("Words to filter by."),
  category: text("One word for what kind of tool it is."),
  parameters: anyObject("JSON Schema of the arguments."),
  returns: anyObject("JSON Schema of the result."),
  source: choice(TOOL_SOURCES, "Where the tool comes from."),
  sourceUri: text("The address of its source."),
  sourceName: text("The name that the source itself uses."),
  sourceMeta: anyObject("Whatever else the source said."),
  capabilities: list(CAPABILITY, "What it can touch. A caller needs all of them."),
  riskLevel: choice(RISK_LEVELS, "How much harm a wrong call can do."),
  requiredScopes: texts("Scopes that a caller needs."),
  requiresConfirmation: flag("A person must approve each call."),
  dependencies: list(dependency, "Relations to other tools."),
  cost,
  timeoutMs: number("Milliseconds that one run may take, 100 to 300,000."),
  metadata: anyObject("Your own data about the tool. `tenant` names the tenant it belongs to."),
  createdAt: time("When it was defined."),
  deprecated: flag("It should no longer be used."),
  deprecationMessage: text("Why, and what to do instead."),
  supersededBy: text("The id of the tool to use instead."),
} as const;

/** A registered tool. */
export const TOOL = object(
  "One callable thing, whatever source it came from.",
  [
    ...(["id", "name", "namespace", "version", "description", "examples", "tags", "parameters", "source"] as const),
    ...(["sourceName", "sourceMeta", "capabilities", "riskLevel", "requiredScopes", "requiresConfirmation"] as const),
    ...(["annotations", "dependencies", "cost", "metadata", "createdAt", "deprecated", "contentHash"] as const),
  ],
  {
    id: ID,
    name: { type: "string", pattern: NAME_PATTERN.source, description: "What stands after the dot in the id." },
    ...shared,
    ensemble: text("The ensemble that the tool belongs to."),
    annotations: object("What it does to the world, as its source says.", ["confirmed"], annotations),
    ownedByCode: flag("A program registered it with its handler, and only that program replaces it."),
    contentHash: text("A hash of the definition. It is also the answer's ETag."),
  },
);

/** A tool as a person writes it. Registration checks it in detail, so the schema only describes its shape. */
export const TOOL_DRAFT = object("A tool to register. Only the name is required.", ["name"], {
  name: text("Any spelling: `getWeather` becomes `get_weather`."),
  ...shared,
  annotations: object("What it does to the world.", [], annotations),
});

export const HEALTH = object(
  "How a tool has fared since the gateway started.",
  ["successRate", "averageLatencyMs", "totalCalls", "consecutiveFailures", "circuitOpen"],
  {
    successRate: share("Share of calls that succeeded; 1 if it was never called."),
    averageLatencyMs: number("Milliseconds that a call takes, on average."),
    totalCalls: integer("Calls so far."),
    consecutiveFailures: integer("Failures since the last success."),
    lastSuccess: time("When a call last succeeded."),
    lastFailure: time("When a call last failed."),
    circuitOpen: flag("It failed repeatedly and is left alone for a while."),
  },
);
