import type { RetrievalResult } from "../../retrieve/result.ts";

/** Whether a user would have been told that nothing fits. The result was asked for with a threshold of 0, so that it is ranked whole. */
export function isRefused(result: RetrievalResult, scoreThreshold: number): boolean {
  return result.nothingFits || !result.tools.some(({ semanticScore }) => semanticScore >= scoreThreshold);
}
