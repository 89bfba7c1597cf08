import { COMMAND_RULES } from "./commands.ts";
import { CONCEALED_RULES } from "./concealed.ts";
import { ENCODED_RULES } from "./encoded.ts";
import { EXFILTRATION_RULES } from "./exfiltration.ts";
import { imageDataRule } from "./image-data.ts";
import { INJECTION_RULES } from "./injection.ts";
import { JAILBREAK_RULES } from "./jailbreak.ts";
import { ORDER_RULES } from "./orders.ts";
import { PAYLOAD_RULES } from "./payloads.ts";
import type { Rule } from "./rule.ts";
import { SECRET_RULES } from "./secret-access.ts";
import { SHADOWING_RULES } from "./shadowing.ts";

/** What rules may be told of this arsenal. */
export interface RuleSettings {
  /** Domains that data may go to: `example.com`, `*.example.com`. None by default. */
  readonly allowedDomains?: readonly string[];
}

/** Returns every rule there is. */
export function scanRules({ allowedDomains }: RuleSettings = {}): readonly Rule[] {
  return [
    ...INJECTION_RULES,
    ...ORDER_RULES,
    ...EXFILTRATION_RULES,
    imageDataRule(allowedDomains),
    ...SHADOWING_RULES,
    ...SECRET_RULES,
    ...COMMAND_RULES,
    ...PAYLOAD_RULES,
    ...JAILBREAK_RULES,
    ...ENCODED_RULES,
    ...CONCEALED_RULES,
  ];
}

/** Every rule there is, where no domain is allowed. */
export const SCAN_RULES: readonly Rule[] = scanRules();
