import { COMMAND_RULES } from "./commands.ts";
import { CONCEALED_RULES } from "./concealed.ts";
import { ENCODED_RULES } from "./encoded.ts";
import { EXFILTRATION_RULES } from "./exfiltration.ts";
import { INJECTION_RULES } from "./injection.ts";
import { JAILBREAK_RULES } from "./jailbreak.ts";
import { ORDER_RULES } from "./orders.ts";
import { PAYLOAD_RULES } from "./payloads.ts";
import type { Rule } from "./rule.ts";
import { SECRET_RULES } from "./secret-access.ts";
import { SHADOWING_RULES } from "./shadowing.ts";

/** Every rule there is. */
export const SCAN_RULES: readonly Rule[] = [
  ...INJECTION_RULES,
  ...ORDER_RULES,
  ...EXFILTRATION_RULES,
  ...SHADOWING_RULES,
  ...SECRET_RULES,
  ...COMMAND_RULES,
  ...PAYLOAD_RULES,
  ...JAILBREAK_RULES,
  ...ENCODED_RULES,
  ...CONCEALED_RULES,
];
