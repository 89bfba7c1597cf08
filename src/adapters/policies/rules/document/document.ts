import type { RegistrationLimits } from "../../../../register/registration-limits.ts";
import type { Capability, RiskLevel, ToolSource } from "../../../../tool/tool.ts";

/** A policy document: who may use which tools, and under which conditions. */
export interface PolicyDocument {
  readonly version: 1;
  /** `strict` refuses calls that no rule allows. Defaults to `standard`. */
  readonly mode?: "standard" | "strict";
  /** Rules and settings by name: `blockHighRiskWithoutApproval`, `{ blockedCommands: ["sudo"] }`. */
  readonly presets?: readonly (string | Readonly<Record<string, unknown>>)[];
  readonly rules?: readonly RuleDocument[];
}

/** The effects that a rule can have on matching calls. */
export const EFFECTS = ["allow", "deny", "require_approval"] as const;
export type Effect = (typeof EFFECTS)[number];

type OneOrMore<T> = T | readonly T[];

/** A rule. A matching call meets every condition, and matches one entry of each list. */
export interface RuleDocument {
  /** Unique. Responses and the audit log name the rule by its id. */
  readonly id: string;
  readonly effect: Effect;
  /** Names, ids or patterns (`*`, `?`). */
  readonly tools?: OneOrMore<string>;
  readonly namespaces?: OneOrMore<string>;
  readonly sources?: OneOrMore<ToolSource>;
  readonly capabilities?: OneOrMore<Capability>;
  readonly risk?: OneOrMore<RiskLevel>;
  readonly tags?: OneOrMore<string>;
  readonly toolsets?: OneOrMore<string>;
  readonly tenants?: OneOrMore<string>;
  readonly principals?: OneOrMore<string>;
  readonly roles?: OneOrMore<string>;
  /** CEL over `tool`, `args`, `principal` and `now`. */
  readonly when?: string;
  /** For `deny`: whether the tool is also hidden from lists and search. Defaults to true if `when` does not use `args` or `now`. */
  readonly hide?: boolean;
  /** Shown to the caller. */
  readonly reason?: string;
  readonly obligations?: ObligationsDocument;
}

export interface ObligationsDocument {
  /** `10/minute`: calls of one caller, over all tools that the rule matches. */
  readonly rate?: string;
  /** Paths into the result (`customer.email`, `items.*.ssn`, `**.token`) or RE2 patterns between slashes. */
  readonly redact?: OneOrMore<string>;
  readonly egress?: OneOrMore<string>;
  readonly max_result_bytes?: number;
}

const ABOUT_TOOL = ["tools", "namespaces", "sources", "capabilities", "risk", "tags"] as const;
const ABOUT_CALLER = ["toolsets", "tenants", "principals", "roles"] as const;

export const LIST_FIELDS = [...ABOUT_TOOL, ...ABOUT_CALLER] as const;
export type ListField = (typeof LIST_FIELDS)[number];

/** A checked rule. Single values have become lists. */
export interface CheckedRule {
  readonly id: string;
  readonly effect: Effect;
  readonly lists: Readonly<Partial<Record<ListField, readonly string[]>>>;
  readonly when?: string | undefined;
  readonly hide?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly obligations?: CheckedObligations | undefined;
  /** True for a rule that requires approval and grants nothing. */
  readonly tightens?: boolean;
}

export interface CheckedObligations {
  readonly rate?: { readonly calls: number; readonly windowMs: number } | undefined;
  readonly redact?: readonly string[] | undefined;
  readonly egress?: readonly string[] | undefined;
  readonly maxResultBytes?: number | undefined;
}

/** The presets of a document, with their values. Presets about registration decide on no call. */
export interface CheckedPresets extends RegistrationLimits {
  readonly requireAuthorizationForAll?: boolean;
  readonly blockHighRiskWithoutApproval?: boolean;
  readonly confirmDestructiveNames?: boolean;
  readonly blockedCommands?: readonly string[];
}

export interface CheckedDocument {
  readonly mode: "standard" | "strict";
  readonly presets: CheckedPresets;
  readonly rules: readonly CheckedRule[];
}
