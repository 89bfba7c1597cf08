// From manifest.ts, by `npm run derive`:
export { patternsPolicy, type PatternsOptions } from "./patterns.ts";
export { rulesPolicy, type RulesParts, type RulesPolicy } from "./rules/rules.ts";
export { cedarPolicy, type CedarParts } from "./cedar/cedar.ts";
// The rest of toolarsenal/policies:
export type { CedarLibrary } from "./cedar/library.ts";
export type {
  Obligations,
  Policy,
  PolicyDecision,
  PolicyRequest,
  RateObligation,
  Redaction,
} from "../../guard/policy.port.ts";
