import { rulesPolicy, type RulesPolicy } from "../adapters/policies/rules/rules.ts";
import type { Clock } from "../observe/clock.ts";
import { readPolicyText } from "../config/load/configured-policy.ts";

interface PolicyParts {
  readonly clock: Clock;
  readonly mode?: "standard" | "strict";
}

/** Reads a policy file. Throws `CONFIG_INVALID` with file, line, field, value and fix. */
export function readPolicyFile(path: string, parts: PolicyParts): RulesPolicy {
  return rulesPolicy(readPolicyText(path), { ...parts, name: path });
}
