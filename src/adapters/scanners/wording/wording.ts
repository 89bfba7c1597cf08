import { excerpt, type TextPlace } from "../../../guard/scan/finding.ts";
import type { Span } from "../../../guard/scan/rules/rule.ts";
import type { ScannerRule, TextScanner } from "../../../guard/scanner.port.ts";
import { featuresOf } from "./features.ts";
import { shippedModel, type WordingModel } from "./model.ts";
import { topWindow } from "./score.ts";

const RULE: ScannerRule = { id: "wording.suspicious", message: "Suspicious wording.", severity: "low" };

/** Longer texts are read in parts of this many characters, so memory does not grow with the text. */
const PART = 16_384;
const OVERLAP = 512;

/**
 * Flags text that is worded like known attacks, with a small model that ships with the package. Findings are advisory: they never block or change
 * anything.
 *
 * @example
 * const scanner = createScanner({ mode: "flag", scanners: [wordingScanner()] });
 */
export function wordingScanner(): TextScanner {
  return {
    rules: [RULE],
    scan(text, place) {
      const model = shippedModel();
      const { score, ...span } = mostSuspicious(text, model);
      if (score < thresholdFor(place, model)) return [];
      const { id: rule, message, severity } = RULE;
      const found = { category: "wording", position: span.start, excerpt: excerpt(text, span) } as const;
      return [{ finding: { rule, message, severity, ...found, advisory: true }, span }];
    },
  };
}

/** Returns the threshold. It is higher for results, which are more varied, and for text of unknown origin. */
function thresholdFor(place: TextPlace | undefined, { thresholds }: WordingModel): number {
  return place === "definition" ? thresholds.definition : Math.max(thresholds.definition, thresholds.result);
}

function mostSuspicious(text: string, model: WordingModel): Span & { readonly score: number } {
  let most = { start: 0, end: 0, score: -Infinity };
  for (let from = 0; from === 0 || from + OVERLAP < text.length; from += PART - OVERLAP) {
    const features = featuresOf(text.slice(from, from + PART));
    const top = topWindow(features, model.weights, model);
    if (top === undefined || top.score <= most.score) continue;
    const [start = 0, end = 0] = [features.starts[top.from], features.ends[top.to - 1]];
    most = { start: from + start, end: from + end, score: top.score };
  }
  return most;
}

export { wordingScanner as create };
