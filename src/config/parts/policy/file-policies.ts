import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { cedarPolicy } from "../../../adapters/policies/cedar/cedar.ts";
import { rulesPolicy, type RulesPolicy } from "../../../adapters/policies/rules/rules.ts";
import { fixable } from "../../../errors/arsenal-error.ts";
import type { Policy } from "../../../guard/policy.port.ts";
import type { Clock } from "../../../observe/clock.ts";

/** What reading a policy needs. */
interface PolicyParts {
  readonly clock: Clock;
  readonly mode?: "standard" | "strict";
}

/** A document of rules, or the Cedar policies of a `.cedar` file. Throws `CONFIG_INVALID` with file, line, field, value and fix. */
export function filePolicy(text: string, { name, clock, mode = "standard" }: PolicyParts & { name: string }): Policy {
  return extname(name) === ".cedar" ? cedarPolicy(text, { name, mode }) : rulesPolicy(text, { name, clock, mode });
}

/** Reads a document of rules. Throws `CONFIG_INVALID` with file, line, field, value and fix. */
export function readPolicyFile(path: string, parts: PolicyParts): RulesPolicy {
  return rulesPolicy(readPolicyText(path), { ...parts, name: path });
}

/** Reads a policy file. Throws `CONFIG_INVALID` if it cannot be read. */
export function readPolicyText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const fix = "Check the path, or leave security.policy_file out.";
    const details = { field: "security.policy_file", value: path, cause };
    throw fixable("CONFIG_INVALID", `The policy file ${path} cannot be read.`, fix, details);
  }
}
