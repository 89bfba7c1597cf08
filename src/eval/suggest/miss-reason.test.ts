import { expect, it } from "vitest";
import type { ExplainedTool } from "../../retrieve/result.ts";
import { normaliseTool } from "../../tool/normalise/normalise-tool.ts";
import { knownTools } from "../known-tools.ts";
import { type Contender, missReason } from "./misses.ts";

const KNOWN = knownTools(
  [
    ["refund", "Refunds a payment of a customer."],
    ["erase", "Erases a customer."],
  ].map(([id, description]) =>
    normaliseTool(
      { name: id ?? "", description: description ?? "", sourceMeta: { setId: id } },
      { source: "descriptor", namespace: "shop" },
    ),
  ),
);

function contender(
  id: string,
  explained?: { readonly semantic: number; readonly terms: readonly string[] },
): Contender {
  const known = KNOWN.get(id);
  if (!known) throw new Error(id);
  if (!explained) return { known };
  const signals: ExplainedTool["signals"] = [
    { name: "semantic", value: explained.semantic, weight: 0.6, contribution: 0.6 * explained.semantic },
    { name: "health", value: 1, weight: 0.1, contribution: 0.1 },
  ];
  const matchedTerms = explained.terms.map((term) => ({ term, fields: ["description"], share: 0.1 }));
  return { known, explained: { toolId: id, score: 0.5, reason: "chosen", signals, matchedTerms } };
}

const ANSWER = { query: "give the customer money", ranking: [{ id: "erase", score: 0.9, semanticScore: 0.8 }] };

it("says which words each side has, and the signal that made the difference", () => {
  const wanted = contender("refund", { semantic: 0.2, terms: [] });
  const best = contender("erase", { semantic: 0.8, terms: ["customer"] });
  expect(missReason(ANSWER, "low", { wanted, best })).toBe(
    "refund has no word of the request; erase has “customer” of the request; semantic 0.20 against 0.80.",
  );
});

it("looks for the words itself where a tool was not even ranked", () => {
  const best = contender("erase", { semantic: 0.8, terms: ["customer"] });
  expect(missReason(ANSWER, "lost", { wanted: contender("refund"), best })).toBe(
    "refund has “customer” of the request; erase has “customer” of the request.",
  );
});

it("says that a near-copy was held back", () => {
  const ranking = [...ANSWER.ranking, { id: "refund", score: 0.95, semanticScore: 0.9 }];
  const reason = missReason({ ...ANSWER, ranking }, "low", { wanted: contender("refund"), best: contender("erase") });
  expect(reason).toBe("refund scores higher than some above it, and is held back as a near-copy of one.");
});

it("says what was refused or answered, and that nothing came", () => {
  const best = contender("erase", { semantic: 0.41, terms: ["customer"] });
  expect(missReason(ANSWER, "answered", { wanted: undefined, best })).toBe(
    "Nothing fits, but erase has “customer” of the request; its fit is 0.41.",
  );
  expect(missReason(ANSWER, "refused", { wanted: contender("refund"), best })).toBe(
    "The best, erase, fits by 0.41 only.",
  );
  expect(missReason(ANSWER, "lost", { wanted: contender("refund"), best: undefined })).toBe(
    "No tool shares a word with the request.",
  );
});
