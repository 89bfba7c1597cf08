import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { cedarPolicy } from "../../adapters/policies/cedar/cedar.ts";
import { rulesPolicy, type RulesPolicy } from "../../adapters/policies/rules/rules.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Policy } from "../../guard/policy.port.ts";
import type { Clock } from "../../observe/clock.ts";

/** What reading a policy needs. */
interface PolicyParts {
  readonly clock: Clock;
  readonly mode?: "standard" | "strict";
}

/** Reads a document of rules, or the Cedar policies of a `.cedar` file. Throws `CONFIG_INVALID` with file, line, field, value and fix. */
export function filePolicy(path: string, { clock, mode = "standard" }: PolicyParts): Policy {
  if (extname(path) === ".cedar") return cedarPolicy(readPolicyText(path), { name: path, mode });
  return readPolicyFile(path, { clock, mode });
}

/** Reads a document of rules. Throws `CONFIG_INVALID` with file, line, field, value and fix. */
export function readPolicyFile(path: string, parts: PolicyParts): RulesPolicy {
  return rulesPolicy(readPolicyText(path), { ...parts, name: path });
}

function readPolicyText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const fix = "Check the path, or leave security.policy_file out.";
    const details = { field: "security.policy_file", value: path, fix, cause };
    throw new ArsenalError("CONFIG_INVALID", `The policy file ${path} cannot be read. ${fix}`, details);
  }
}
