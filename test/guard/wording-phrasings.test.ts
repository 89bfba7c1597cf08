import { describe, expect, it } from "vitest";
import { phrasings } from "../../models/wording/expand.ts";

describe("phrasings that the wording scanner is trained on", () => {
  it("are the same in every run", () => expect(phrasings()).toEqual(phrasings()));

  it("leave no slot or choice of a pattern unfilled", () => {
    expect(phrasings().filter(({ text }) => /\{\w+\}|\([^()]*\|[^()]*\)/.test(text))).toEqual([]);
  });

  it("cover attacks and harmless texts of both places", () => {
    const kinds = Map.groupBy(phrasings(), ({ malicious, place }) => `${place} ${malicious ? "attack" : "harmless"}`);
    for (const kind of ["definition attack", "definition harmless", "result attack", "result harmless"])
      expect([kind, (kinds.get(kind)?.length ?? 0) > 100]).toEqual([kind, true]);
  });
});
