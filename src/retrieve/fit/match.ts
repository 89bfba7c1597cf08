import type { ScoredTool } from "../result.ts";

/** How well the best tools of a search fit: weak tools are only the nearest there are. */
export type Match = "good" | "weak" | "none";

/** The semantic score from which a match is worth showing, on the scale of every embedder. */
const WORTH_SHOWING = 0.5;

/** Advice for a weak match, for models and people. */
export const PROBABLY_NONE =
  "Probably none of these tools fits. Use one only if its description says that it does what you need; otherwise search again in other words";

/** Judges the tools that a search shows. `nothingFits` is the retriever's own judgement. */
export function matchOf(tools: readonly Pick<ScoredTool, "semanticScore">[], nothingFits: boolean): Match {
  if (tools.length === 0) return "none";
  return nothingFits || tools.every(({ semanticScore }) => semanticScore < WORTH_SHOWING) ? "weak" : "good";
}
