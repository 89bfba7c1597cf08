import { createRequire } from "node:module";
import { fixable } from "../../../errors/arsenal-error.ts";

/** The functions that are used of `@cedar-policy/cedar-wasm`. */
export interface CedarLibrary {
  policySetTextToParts(text: string): CedarAnswer<{
    readonly policies: readonly string[];
    readonly policy_templates: readonly string[];
  }>;
  policyToJson(policy: string): CedarAnswer<{
    readonly json: {
      readonly effect: "permit" | "forbid";
      readonly annotations?: Readonly<Record<string, string>>;
    };
  }>;
  /** Stores the policies under the id, for `statefulIsAuthorized`. */
  preparsePolicySet(id: string, policies: { staticPolicies: Record<string, string> }): CedarAnswer<object>;
  statefulIsAuthorized(call: {
    principal: CedarId;
    action: CedarId;
    resource: CedarId;
    context: Record<string, CedarValue>;
    entities: CedarEntity[];
    preparsedPolicySetId: string;
  }): CedarAnswer<{
    readonly response: {
      readonly decision: "allow" | "deny";
      readonly diagnostics: {
        /** The policies that determined the decision, unordered. */
        readonly reason: readonly string[];
        readonly errors: readonly { readonly policyId: string; readonly error: CedarError }[];
      };
    };
  }>;
}

export type CedarAnswer<Found extends object> =
  | (Found & { readonly type: "success" })
  | { readonly type: "failure"; readonly errors: readonly CedarError[] };

/** An error of the library. The location is in bytes of the text. */
export interface CedarError {
  readonly message: string;
  readonly sourceLocations?: readonly { readonly start: number }[];
}

export interface CedarId {
  type: string;
  id: string;
}

export interface CedarEntity {
  uid: CedarId;
  attrs: Record<string, CedarValue>;
  parents: CedarId[];
}

/** Data in Cedar, which has no fractions and no null. */
export type CedarValue = boolean | number | string | CedarValue[] | { [key: string]: CedarValue };

/** Loads the installed library. Throws LIBRARY_MISSING, with the command that installs it. */
export function loadCedar(): CedarLibrary {
  try {
    return createRequire(import.meta.url)("@cedar-policy/cedar-wasm/nodejs") as CedarLibrary;
  } catch (cause) {
    const fix = "npm install @cedar-policy/cedar-wasm";
    throw fixable("LIBRARY_MISSING", "Cedar policies need a library:", fix, { cause });
  }
}
