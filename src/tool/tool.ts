import type { JsonSchema } from "./json-schema.ts";
import { contentHash, type HashedFields } from "./json/canonical-json.ts";
import { choice, entry, flag, type InputOf, number, text } from "./shape/shape.ts";

/** The sources of tools. */
export const TOOL_SOURCES = [
  "function",
  "mcp",
  "openapi",
  "a2a",
  "descriptor",
  "builtin",
  "workflow",
  "program",
] as const;
export type ToolSource = (typeof TOOL_SOURCES)[number];

/** True for workflows and saved programs: their calls make further calls for the same caller. */
export function makesCalls({ source }: { readonly source: ToolSource }): boolean {
  return source === "workflow" || source === "program";
}

/** The capabilities of a tool. A caller needs every capability that a tool declares. */
export const CAPABILITIES = [
  "read_data",
  "write_data",
  "delete_data",
  "execute_code",
  "network_access",
  "file_system",
  "financial",
  "pii_access",
  "external_api",
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** The harm that a wrong call can do. */
export const RISK_LEVELS = ["low", "medium", "high", "critical"] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

/** The canonical definition of a tool, independent of its source. Immutable plain data. Its handler and its health are kept separately. */
export interface Tool {
  /** `namespace.name`, unique in a catalog. */
  readonly id: string;
  /** `^[a-z][a-z0-9_]{0,127}$` */
  readonly name: string;
  readonly namespace: string;
  /** `major.minor.patch` */
  readonly version: string;
  /** A short name for people, if the source has one. */
  readonly title?: string;
  readonly description: string;
  readonly extendedDescription?: string;
  /** Requests that the tool serves, in a user's words. At most 10. */
  readonly examples: readonly string[];
  readonly tags: readonly string[];
  readonly category?: string;

  /** JSON Schema of the arguments, as the source provides it. */
  readonly parameters: JsonSchema;
  /** JSON Schema of the result. */
  readonly returns?: JsonSchema;

  readonly source: ToolSource;
  readonly sourceUri?: string;
  /** The name that the source's server expects. */
  readonly sourceName: string;
  /** The source's other fields, so that no information is lost. */
  readonly sourceMeta: Readonly<Record<string, unknown>>;
  /** The ensemble that adds and removes the tool. */
  readonly ensemble?: string;

  readonly capabilities: readonly Capability[];
  readonly riskLevel: RiskLevel;
  readonly requiredScopes: readonly string[];
  readonly requiresConfirmation: boolean;
  readonly annotations: Annotations;
  readonly dependencies: readonly Dependency[];
  readonly cost: Cost;
  /** The timeout of one run, in milliseconds. Defaults to the execution default. */
  readonly timeoutMs?: number;

  readonly metadata: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly deprecated: boolean;
  readonly deprecationMessage?: string;
  /** The id of the tool to use instead. */
  readonly supersededBy?: string;

  /** True if code registered the tool with its handler: only that code may replace it. A draft cannot set it. */
  readonly ownedByCode?: true;

  /** Hash over all fields above except `createdAt` and `ownedByCode`. An equal hash means that nothing changed and nothing is indexed again. */
  readonly contentHash: string;
}

export const ANNOTATIONS = entry(
  "The tool's side effects, as its source declares them.",
  {
    readOnly: flag("The tool changes nothing."),
    destructive: flag("The tool may delete or overwrite data."),
    idempotent: flag("A repeated call with the same arguments has no further effect."),
    openWorld: flag("The tool uses other systems than its own service, such as the web."),
    confirmed: flag("The operator has confirmed these hints. Only confirmed hints allow retries."),
  },
  ["confirmed"],
);

/** The effects of a tool. Only hints unless an operator confirmed them, because a source may be mistaken or lie. */
export interface Annotations extends InputOf<typeof ANNOTATIONS> {}

export const DEPENDENCY_TYPES = ["requires", "suggests", "conflicts"] as const;

export const DEPENDENCY = entry(
  "A relation to another tool.",
  {
    tool: text("The other tool's id, or its name within the same namespace."),
    type: choice("How the tools relate.", DEPENDENCY_TYPES),
    reason: text("The reason for the relation."),
  },
  ["tool", "type"],
);

/** A relation to another tool. */
export interface Dependency extends InputOf<typeof DEPENDENCY> {}

export const COST = entry("The cost of one call. Omitted members are unknown.", {
  estimatedLatencyMs: number("The expected duration of a call, in milliseconds.", 0),
  monetaryCost: number("The price of one call, in a currency that is the same for all tools.", 0),
  rateLimit: number("Maximum calls per minute to the tool.", 0),
  /** The tokens that the definition adds to a prompt. Defaults to an estimate. */
  contextTokens: number("Number of tokens that the tool's definition adds to a prompt.", 0),
});

/** The cost of one call. An omitted field is unknown and does not affect ranking. */
export interface Cost extends InputOf<typeof COST> {}

/** The health of a tool. observe/ tracks it; it is not part of the definition. */
export interface Health {
  /** In [0, 1]; 1 if the tool was never called. */
  readonly successRate: number;
  readonly averageLatencyMs: number;
  readonly totalCalls: number;
  readonly consecutiveFailures: number;
  /** Milliseconds since the epoch. */
  readonly lastSuccess?: number;
  readonly lastFailure?: number;
  readonly circuitOpen: boolean;
}

/** Splits a tool id at its last dot, because names contain no dot. Without a dot, the namespace is empty. */
export function divideId(id: string): { readonly namespace: string; readonly name: string } {
  const dot = id.lastIndexOf(".");
  return { namespace: id.slice(0, Math.max(dot, 0)), name: id.slice(dot + 1) };
}

/** Returns the full name of a tool: `namespace.name:version`. */
export function qualifiedName(tool: Pick<Tool, "id" | "version">): string {
  return `${tool.id}:${tool.version}`;
}

/**
 * Returns true for the id of a request that the guard treats like a tool, such as `files.resources/read`. It runs by id, and is never listed,
 * searched or learned. Tool names contain no slash, so no registered tool has such an id.
 */
export function isUnlisted(toolId: string): boolean {
  return toolId.includes("/");
}

/** Creates a tool from validated, frozen fields. Adds its id and hash. */
export function assembleTool(fields: HashedFields, createdAt: number): Tool {
  const id = `${fields.namespace}.${fields.name}`;
  return Object.freeze({ id, ...fields, createdAt, contentHash: contentHash(fields) });
}
