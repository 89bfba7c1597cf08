import { expect, it } from "vitest";
import { defineTool } from "../../tool/define-tool.ts";
import { byScore, type Candidate } from "./scorer.ts";

function candidate(name: string, score: number, semanticScore: number): Candidate {
  const signal = 0;
  return {
    tool: defineTool({ name, description: "Does one thing.", parameters: { type: "object" } }),
    score,
    semanticScore,
    signals: {
      semantic: signal,
      intent: signal,
      conversation: signal,
      health: signal,
      cost: signal,
      alreadyUsedPenalty: signal,
      alreadyFailedPenalty: signal,
      deprecatedPenalty: signal,
    },
    matchedTerms: () => [],
  };
}

it("orders by score, then by fit, then by id", () => {
  const list = [candidate("d", 0.5, 0.5), candidate("c", 0.5, 0.5), candidate("b", 0.5, 0.6), candidate("a", 0.4, 0.9)];
  const names = list
    .concat(candidate("e", 0.9, 0.1))
    .sort(byScore)
    .map(({ tool }) => tool.name);
  expect(names).toEqual(["e", "b", "c", "d", "a"]);
});
