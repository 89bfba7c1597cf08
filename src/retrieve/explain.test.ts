import { describe, expect, it } from "vitest";
import { defineTool } from "../tool/define-tool.ts";
import { type Candidate, createScorer } from "./rank/scorer.ts";
import { readConversation } from "./understand/conversation-view.ts";
import { explain } from "./explain.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

const { weights } = DEFAULT_SETTINGS;
const cuts = { scoreThreshold: 0.5, refused: false, conflicts: new Map(), displaced: new Map() };

function candidate(name: string, score: number): Candidate {
  return {
    tool: defineTool({ name, description: "Does one thing.", parameters: { type: "object" } }),
    score,
    semanticScore: score,
    signals: {
      semantic: 0.5,
      intent: 1,
      conversation: 0.5,
      health: 1,
      cost: 0.5,
      alreadyUsedPenalty: 0,
      alreadyFailedPenalty: 0.3,
      deprecatedPenalty: 0,
    },
    matchedTerms: () => [{ term: "thing", fields: ["description"], share: 1 }],
  };
}

describe("explain", () => {
  it("lays out value, weight and product of each signal, penalties as negative", () => {
    const { chosen } = explain([], [{ candidate: candidate("a", 0.325), reason: "chosen" }], cuts, weights);
    expect(chosen).toEqual([
      {
        toolId: "default.a",
        score: 0.325,
        reason: "chosen",
        signals: [
          { name: "semantic", value: 0.5, weight: 0.6, contribution: 0.3 },
          { name: "intent", value: 1, weight: 0.15, contribution: 0.15 },
          { name: "conversation", value: 0.5, weight: 0.1, contribution: 0.05 },
          { name: "health", value: 1, weight: 0.1, contribution: 0.1 },
          { name: "cost", value: 0.5, weight: 0.05, contribution: 0.025 },
          { name: "alreadyUsedPenalty", value: 0, weight: -1, contribution: 0 },
          { name: "alreadyFailedPenalty", value: 0.3, weight: -1, contribution: -0.3 },
          { name: "deprecatedPenalty", value: 0, weight: -1, contribution: 0 },
        ],
        matchedTerms: [{ term: "thing", fields: ["description"], share: 1 }],
      },
    ]);
  });
});

describe("explain with learning", () => {
  it("has one more row, after the other signals and before the penalties", () => {
    const conversation = readConversation({ query: "do it" }, []);
    const health = { successRate: 1, averageLatencyMs: 0, totalCalls: 0, consecutiveFailures: 0, circuitOpen: false };
    const score = createScorer(
      {
        tags: () => 0.5,
        conversation,
        penalties: DEFAULT_SETTINGS.penalties,
        health: { of: () => health },
        learned: () => 0.75,
      },
      weights,
    );
    const verdict = { candidate: score(candidate("a", 0.325)), reason: "chosen" } as const;
    const { chosen } = explain([], [verdict], cuts, { ...weights, learned: 0.08 });
    expect(chosen[0]?.signals.length).toBe(9);
    expect(chosen[0]?.signals[5]).toEqual({ name: "learned", value: 0.75, weight: 0.08, contribution: 0.06 });
  });
});

describe("what was left out", () => {
  it("has one reason each, in the order of the ranking, without the chosen", () => {
    const [a, b, c, d, e] = [
      candidate("a", 0.9),
      candidate("b", 0.8),
      candidate("c", 0.7),
      candidate("d", 0.6),
      candidate("e", 0.1),
    ] as const;
    const conflicts = new Map([["default.b", "default.a"]]);
    const displaced = new Map([["default.c", "default.a"]]);
    const chosen = [{ candidate: a, reason: "chosen" }] as const;
    const { leftOut } = explain([a, b, c, d, e], chosen, { ...cuts, conflicts, displaced }, weights);
    expect(leftOut.map(({ toolId, reason, because }) => [toolId, reason, because])).toEqual([
      ["default.b", "conflict", "default.a"],
      ["default.c", "diversity", "default.a"],
      ["default.d", "limit", undefined],
      ["default.e", "threshold", undefined],
    ]);
  });
});
