import { NAME_PATTERN } from "../../../tool/limits.ts";
import { CAPABILITIES, RISK_LEVELS, TOOL_SOURCES } from "../../../tool/tool.ts";
import {
  anything,
  choice,
  entry,
  flag,
  list,
  number,
  share,
  string,
  strings,
  time,
  whole,
} from "../../../tool/shape/shape.ts";

export const ID = string("The tool's id: `billing.refund_user`.");
const CAPABILITY = choice("Something that a tool can touch.", CAPABILITIES);

const annotations = {
  readOnly: flag("It changes nothing."),
  destructive: flag("It may destroy something."),
  idempotent: flag("Repeating a call has no further effect."),
  openWorld: flag("It reaches beyond its own service."),
  confirmed: flag("The operator vouches for these hints. Retrying relies on confirmed hints alone."),
} as const;

const dependency = entry(
  "A relation to another tool.",
  {
    tool: string("The other tool's id, or its name within the same namespace."),
    type: choice("How the tools relate.", ["requires", "suggests", "conflicts"]),
    reason: string("Why."),
  },
  ["tool", "type"],
);

const cost = entry("What one call costs. Omitted members are unknown.", {
  estimatedLatencyMs: number("Milliseconds that a call takes."),
  monetaryCost: number("Per call, in one currency of your choice."),
  rateLimit: number("Calls a minute that the tool allows."),
  contextTokens: number("Tokens that the definition adds to a prompt."),
});

/** Members that a tool has, and that a draft may have. */
const shared = {
  namespace: string("What stands before the dot in the id. Defaults to `default`."),
  version: string("`major.minor.patch`"),
  title: string("A short name for people."),
  description: string("What the model reads, and what the search looks at."),
  extendedDescription: string("More about it, up to 10,000 characters."),
  examples: strings("Requests that it serves, in a user's words. At most 10."),
  tags: strings("Words to filter by."),
  category: string("One word for what kind of tool it is."),
  parameters: anything("JSON Schema of the arguments."),
  returns: anything("JSON Schema of the result."),
  source: choice("Where the tool comes from.", TOOL_SOURCES),
  sourceUri: string("The address of its source."),
  sourceName: string("The name that the source itself uses."),
  sourceMeta: anything("Whatever else the source said."),
  capabilities: list("What it can touch. A caller needs all of them.", CAPABILITY),
  riskLevel: choice("How much harm a wrong call can do.", RISK_LEVELS),
  requiredScopes: strings("Scopes that a caller needs."),
  requiresConfirmation: flag("A person must approve each call."),
  dependencies: list("Relations to other tools.", dependency),
  cost,
  timeoutMs: number("Milliseconds that one run may take, 100 to 300,000."),
  metadata: anything("Your own data about the tool. `tenant` names the tenant it belongs to."),
  createdAt: time("When it was defined."),
  deprecated: flag("It should no longer be used."),
  deprecationMessage: string("Why, and what to do instead."),
  supersededBy: string("The id of the tool to use instead."),
} as const;

/** A registered tool. */
export const TOOL = entry(
  "One callable thing, whatever source it came from.",
  {
    id: ID,
    name: { type: "string", pattern: NAME_PATTERN.source, description: "What stands after the dot in the id." },
    ...shared,
    ensemble: string("The ensemble that the tool belongs to."),
    annotations: entry("What it does to the world, as its source says.", annotations, ["confirmed"]),
    ownedByCode: flag("A program registered it with its handler, and only that program replaces it."),
    contentHash: string("A hash of the definition. It is also the answer's ETag."),
  },
  [
    ...(["id", "name", "namespace", "version", "description", "examples", "tags", "parameters", "source"] as const),
    ...(["sourceName", "sourceMeta", "capabilities", "riskLevel", "requiredScopes", "requiresConfirmation"] as const),
    ...(["annotations", "dependencies", "cost", "metadata", "createdAt", "deprecated", "contentHash"] as const),
  ],
);

/** A tool as a person writes it. Registration checks it in detail, so the schema only describes its shape. */
export const TOOL_DRAFT = entry(
  "A tool to register. Only the name is required.",
  {
    name: string("Any spelling: `getWeather` becomes `get_weather`."),
    ...shared,
    annotations: entry("What it does to the world.", annotations),
  },
  ["name"],
);

export const HEALTH = entry(
  "How a tool has fared since the gateway started.",
  {
    successRate: share("Share of calls that succeeded; 1 if it was never called."),
    averageLatencyMs: number("Milliseconds that a call takes, on average."),
    totalCalls: whole("Calls so far."),
    consecutiveFailures: whole("Failures since the last success."),
    lastSuccess: time("When a call last succeeded."),
    lastFailure: time("When a call last failed."),
    circuitOpen: flag("It failed repeatedly and is left alone for a while."),
  },
  ["successRate", "averageLatencyMs", "totalCalls", "consecutiveFailures", "circuitOpen"],
);
