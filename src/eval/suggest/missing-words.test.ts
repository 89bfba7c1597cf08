import { describe, expect, it } from "vitest";
import { missingWords, termShares } from "./missing-words.ts";
import { wordsOf } from "../known-tools.ts";

const nowhere = (): number => 0;

function asked(said: string, ...queries: readonly string[]): Parameters<typeof missingWords>[0] {
  const terms = wordsOf(said);
  return queries.map((query) => ({ query, isSaid: (term) => terms.has(term) }));
}

describe("missingWords", () => {
  it("lists what people ask with and the tool does not say, as phrases where the words stand together", () => {
    const queries = asked(
      "Refund a payment of an order",
      "I want my money back for the order",
      "get the customer their money back",
      "money back please",
      "reimburse the customer",
    );
    expect(missingWords(queries, nowhere)).toEqual([
      { words: "money back", queries: 3 },
      { words: "customer", queries: 2 },
    ]);
  });

  it("knows inflected words as said", () => {
    expect(missingWords(asked("Refund payments", "refunding the payment", "refunds", "refunded"), nowhere)).toEqual([]);
  });

  it("lists a word of one query where there are few, but no name and no number", () => {
    expect(missingWords(asked("Weather forecast", "is it raining in Berlin on 12 May"), nowhere)).toEqual([
      { words: "raining", queries: 1 },
    ]);
  });

  it("leaves out words that stand in other tools' queries as often", () => {
    const queries = asked("Refund a payment", "quickly reimburse me", "quickly reimburse him", "quickly reimburse her");
    const elsewhere = (term: string): number => (term.startsWith("quick") ? 0.5 : 0);
    expect(missingWords(queries, elsewhere)).toEqual([{ words: "reimburse", queries: 3 }]);
  });
});

it("termShares counts a word once a query", () => {
  expect(termShares(["mail mail", "post"])("mail")).toBe(0.5);
});
