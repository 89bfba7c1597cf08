import type { Annotations, Capability, Cost, Dependency, RiskLevel, ToolSource } from "./tool.ts";
import type { JsonSchema } from "./json-schema.ts";

/** A tool before it is one: what a person writes or a source gives. Only name, description and parameters have no default. */
export interface ToolDraft {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly namespace?: string;
  readonly version?: string;
  readonly title?: string;
  readonly extendedDescription?: string;
  readonly examples?: readonly string[];
  readonly tags?: readonly string[];
  readonly category?: string;
  readonly returns?: JsonSchema;
  readonly source?: ToolSource;
  readonly sourceUri?: string;
  readonly sourceName?: string;
  readonly sourceMeta?: Readonly<Record<string, unknown>>;
  readonly ensemble?: string;
  readonly capabilities?: readonly Capability[];
  readonly riskLevel?: RiskLevel;
  readonly requiredScopes?: readonly string[];
  readonly requiresConfirmation?: boolean;
  readonly annotations?: Partial<Annotations>;
  readonly dependencies?: readonly Dependency[];
  readonly cost?: Cost;
  readonly timeoutMs?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly createdAt?: number;
  readonly deprecated?: boolean;
  readonly deprecationMessage?: string;
  readonly supersededBy?: string;
}

/** What a source gives: anything may be missing or misshapen, and is completed rather than refused. */
export type SourceDraft = Partial<{ readonly [Key in keyof ToolDraft]: ToolDraft[Key] | null }>;
