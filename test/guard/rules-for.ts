import { SCAN_RULES } from "../../src/guard/scan/rules/all-rules.ts";
import { ruleScanner, scanText } from "../../src/guard/scan/scan-text.ts";

/** The ids of the rules that find something in a text, wherever it stands. */
export function rulesFor(text: string): readonly string[] {
  return scanText(text, [ruleScanner(SCAN_RULES)], undefined).findings.map(({ finding }) => finding.rule);
}
