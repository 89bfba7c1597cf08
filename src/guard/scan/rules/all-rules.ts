import { COMMAND_RULES } from "./command.ts";
import { CONCEALED_RULES } from "./concealed.ts";
import { ENCODED_RULES } from "./encoded.ts";
import { EXFILTRATION_RULES } from "./exfiltration.ts";
import { imageDataRule } from "./image-data.ts";
import { INJECTION_RULES } from "./injection.ts";
import { JAILBREAK_RULES } from "./jailbreak.ts";
import type { PhraseRule } from "./phrases.ts";
import type { Rule } from "./rule.ts";
import { SECRET_RULES } from "./secret-access.ts";
import { SHADOWING_RULES } from "./shadowing.ts";

export const PHRASE_TABLES: readonly (readonly PhraseRule[])[] = [
  INJECTION_RULES,
  EXFILTRATION_RULES,
  SHADOWING_RULES,
  SECRET_RULES,
  COMMAND_RULES,
  JAILBREAK_RULES,
];

/** Returns every rule. Data may be sent to the allowed domains (`example.com`, `*.example.com`). By default there are none. */
export function scanRules({ allowedDomains }: { readonly allowedDomains?: readonly string[] } = {}): readonly Rule[] {
  return [...PHRASE_TABLES.flat(), imageDataRule(allowedDomains), ...ENCODED_RULES, ...CONCEALED_RULES];
}

/** Every rule, without allowed domains. */
export const SCAN_RULES: readonly Rule[] = scanRules();
