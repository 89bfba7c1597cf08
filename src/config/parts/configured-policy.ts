import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { cedarPolicy } from "../../adapters/policies/cedar/cedar.ts";
import { DEFAULT_CONFIRMATION, patternsPolicy } from "../../adapters/policies/patterns.ts";
import { rulesPolicy, type RulesPolicy } from "../../adapters/policies/rules/rules.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Policy } from "../../guard/policy.port.ts";
import type { Clock } from "../../observe/clock.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/** The policy by configuration: the rules, or the Cedar policies, of `security.policy_file`, or else the lists of `security`. */
export function configuredPolicy({ security }: Pick<ResolvedConfig, "security">, clock: Clock): Policy {
  const { policyFile } = security;
  if (policyFile === undefined) return patternsPolicy({ ...security, mode: security.policy });
  refuseLists(security);
  if (extname(policyFile) === ".cedar")
    return cedarPolicy(readPolicyText(policyFile), { name: policyFile, mode: security.policy });
  return readPolicyFile(policyFile, { clock, mode: security.policy });
}

/** Reads a document of rules. Throws `CONFIG_INVALID` with file, line, field, value and fix. */
export function readPolicyFile(
  path: string,
  parts: { readonly clock: Clock; readonly mode?: "standard" | "strict" },
): RulesPolicy {
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

/** A list beside a document would either be ignored or say something else than the document: neither is what its writer meant. */
function refuseLists({ allow, deny, humanInTheLoop, requireConfirmation }: ResolvedConfig["security"]): void {
  const byDefault = requireConfirmation.join("\n") === DEFAULT_CONFIRMATION.join("\n");
  const lists: readonly (readonly [field: string, value: readonly string[], effect: string])[] = [
    ["security.allow", allow, "allow"],
    ["security.deny", deny, "deny"],
    ["security.human_in_the_loop", humanInTheLoop, "require_approval"],
    ["security.require_confirmation", byDefault ? [] : requireConfirmation, "require_approval"],
  ];
  for (const [field, value, effect] of lists) {
    if (value.length === 0) continue;
    const fix = `Write it as a rule in the policy file: { id: …, effect: ${effect}, tools: [${value.map((tool) => JSON.stringify(tool)).join(", ")}] }.`;
    const message = `${field} is there beside security.policy_file, and a policy has one place. ${fix}`;
    throw new ArsenalError("CONFIG_INVALID", message, { field, value, fix });
  }
}
