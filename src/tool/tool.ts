import type { JsonSchema } from "./json-schema.ts";
import { contentHash, type HashedFields } from "./json/canonical-json.ts";

/** Where tools come from. */
export const TOOL_SOURCES = ["function", "mcp", "openapi", "a2a", "descriptor", "builtin"] as const;
export type ToolSource = (typeof TOOL_SOURCES)[number];

/** What a tool can touch. A caller needs every capability a tool declares. */
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

/** How much harm a wrong call can do. */
export const RISK_LEVELS = ["low", "medium", "high", "critical"] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

/**
 * The canonical definition of one callable thing, whatever source it came from. Immutable plain data; how it runs (its handler) and how it
 * fares (its health) are kept apart from it.
 */
export interface Tool {
  /** `namespace.name`: unique in a catalog. */
  readonly id: string;
  /** `^[a-z][a-z0-9_]{0,127}$` */
  readonly name: string;
  readonly namespace: string;
  /** `major.minor.patch` */
  readonly version: string;
  /** A short human name, where the source has one. */
  readonly title?: string;
  readonly description: string;
  readonly extendedDescription?: string;
  /** Requests this tool serves, in a user's words. At most 10. */
  readonly examples: readonly string[];
  readonly tags: readonly string[];
  readonly category?: string;

  /** JSON Schema of the arguments, as the source gave it. */
  readonly parameters: JsonSchema;
  /** JSON Schema of the result. */
  readonly returns?: JsonSchema;

  readonly source: ToolSource;
  readonly sourceUri?: string;
  /** The name the source itself uses, which its server must be called with. */
  readonly sourceName: string;
  /** Whatever else the source said, so that nothing is lost. */
  readonly sourceMeta: Readonly<Record<string, unknown>>;
  /** The ensemble the tool belongs to, where it shares one's lifecycle. */
  readonly ensemble?: string;

  readonly capabilities: readonly Capability[];
  readonly riskLevel: RiskLevel;
  readonly requiredScopes: readonly string[];
  readonly requiresConfirmation: boolean;
  readonly annotations: Annotations;
  readonly dependencies: readonly Dependency[];
  readonly cost: Cost;
  /** Time one run may take, in milliseconds. Defaults to the execution default. */
  readonly timeoutMs?: number;

  readonly metadata: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly deprecated: boolean;
  readonly deprecationMessage?: string;
  /** The id of the tool to use instead. */
  readonly supersededBy?: string;

  /** True if code registered the tool together with its handler: only that code may replace it. Never set by a draft. */
  readonly ownedByCode?: true;

  /** Hash over everything above but `createdAt` and `ownedByCode`: the same hash means nothing changed and nothing is indexed again. */
  readonly contentHash: string;
}

/** What a tool does to the world. Only hints unless an operator confirmed them: a source may be mistaken, or lie. */
export interface Annotations {
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly openWorld?: boolean;
  /** True if the person who runs the arsenal vouches for the hints. Retrying relies on confirmed hints alone. */
  readonly confirmed: boolean;
}

/** What annotations say of a tool, besides whether they are confirmed. */
export const ANNOTATIONS = ["readOnly", "destructive", "idempotent", "openWorld"] as const;

/** What a tool can be to another. */
export const DEPENDENCY_TYPES = ["requires", "suggests", "conflicts"] as const;

/** A relation to another tool. */
export interface Dependency {
  /** The other tool's id, or its name within the same namespace. */
  readonly tool: string;
  readonly type: (typeof DEPENDENCY_TYPES)[number];
  readonly reason?: string;
}

/** What one call costs. A field that is absent is unknown and changes no ranking. */
export interface Cost {
  readonly estimatedLatencyMs?: number;
  /** In one currency of your choice, per call. */
  readonly monetaryCost?: number;
  /** Calls a minute the tool allows. */
  readonly rateLimit?: number;
  /** Tokens the definition adds to a prompt. Estimated if omitted. */
  readonly contextTokens?: number;
}

/** The costs there are. */
export const COSTS = ["estimatedLatencyMs", "monetaryCost", "rateLimit", "contextTokens"] as const;

/** How a tool has fared. Kept by observe/, never part of the definition. */
export interface Health {
  /** In [0, 1]; 1 where it was never called. */
  readonly successRate: number;
  readonly averageLatencyMs: number;
  readonly totalCalls: number;
  readonly consecutiveFailures: number;
  /** Milliseconds since the epoch. */
  readonly lastSuccess?: number;
  readonly lastFailure?: number;
  readonly circuitOpen: boolean;
}

/** The parts of a tool id. Names have no dot, so the last one divides; without one the namespace is empty. */
export function divideId(id: string): { readonly namespace: string; readonly name: string } {
  const dot = id.lastIndexOf(".");
  return { namespace: id.slice(0, Math.max(dot, 0)), name: id.slice(dot + 1) };
}

/** `namespace.name:version` */
export function qualifiedName(tool: Pick<Tool, "id" | "version">): string {
  return `${tool.id}:${tool.version}`;
}

/**
 * True for the id of a request that the guard decides on as on a tool, such as `files.resources/read`: it runs by its id and is never listed,
 * searched or learned. No tool's name has a slash, so nothing that is registered can pass for one.
 */
export function isUnlisted(toolId: string): boolean {
  return toolId.includes("/");
}

/** A tool from fields that are checked and frozen already: adds its id and hash. */
export function assembleTool(fields: HashedFields, createdAt: number): Tool {
  const id = `${fields.namespace}.${fields.name}`;
  return Object.freeze({ id, ...fields, createdAt, contentHash: contentHash(fields) });
}
