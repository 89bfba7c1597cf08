import { rulesPolicy, type RulesPolicy } from "../adapters/policies/rules/rules.ts";
import type { Clock } from "../observe/clock.ts";
import { readPolicyText } from "../config/load/configured-policy.ts";

/** The inputs for reading a policy. */
interface PolicyParts {
  readonly clock: Clock;
  readonly mode?: "standard" | "strict";
}

/** Reads a document of rules. Throws `CONFIG_INVALID` with file, line, field, value and fix. */
export function readPolicyFile(path: string, parts: PolicyParts): RulesPolicy {
  return rulesPolicy(readPolicyText(path), { ...parts, name: path });
}
