import type { ScoredTool } from "../result.ts";

/** How well the best tools of a search fit. `weak` means that they are only the nearest tools. */
export type Match = "good" | "weak" | "none";

/** The semantic score from which a match is relevant, for every embedder. */
const WORTH_SHOWING = 0.5;

/** Advice to models and people about a weak match. */
export const PROBABLY_NONE =
  "Probably none of these tools fits. Use one only if its description says that it does what you need; otherwise search again in other words";

/** Judges the tools that a search shows. `nothingFits` is the judgement of the retriever. */
export function matchOf(tools: readonly Pick<ScoredTool, "semanticScore">[], nothingFits: boolean): Match {
  if (tools.length === 0) return "none";
  return nothingFits || tools.every(({ semanticScore }) => semanticScore < WORTH_SHOWING) ? "weak" : "good";
}
