import type { Annotations, Capability, Cost, Dependency, RiskLevel, ToolSource } from "./tool.ts";
import type { JsonSchema } from "./json-schema.ts";

/** A tool as a user writes it or a source offers it. Only the name is required. */
export interface ToolDraft {
  /** Any spelling: `getWeather` and `get-weather` become `get_weather`, and the tool can be called by either. */
  readonly name: string;
  /** The text that the model reads and the search indexes. A short one is completed from the name and the parameters. */
  readonly description?: string | undefined;
  /** Defaults to an object without properties. */
  readonly parameters?: JsonSchema | undefined;
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

/** A source's draft: fields may be missing or malformed, and are completed rather than refused. */
export type SourceDraft = Partial<{ readonly [Key in keyof ToolDraft]: ToolDraft[Key] | null }>;
