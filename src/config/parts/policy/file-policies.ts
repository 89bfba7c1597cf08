import { extname } from "node:path";
import { cedarPolicy } from "../../../adapters/policies/cedar/cedar.ts";
import { rulesPolicy, type RulesPolicy } from "../../../adapters/policies/rules/rules.ts";
import type { Policy } from "../../../guard/policy.port.ts";
import type { Clock } from "../../../observe/clock.ts";
import { readPolicyText } from "./configured-policy.ts";

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
