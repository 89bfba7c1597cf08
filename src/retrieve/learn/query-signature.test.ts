import { describe, expect, it } from "vitest";
import { tokenize } from "../../catalog/lexical/tokenize.ts";
import { querySignature } from "./query-signature.ts";

describe("querySignature", () => {
  const of = (text: string): readonly number[] => querySignature(text, tokenize);

  it("is one whole number of 32 bits for each distinct content word, in any form and case", () => {
    expect(of("Refund the orders")).toEqual(of("refunding an order, please, and REFUND it"));
    expect(of("refund").length).toBe(1);
    for (const hash of of("refund the orders of küche and 東京")) {
      expect(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32).toBe(true);
    }
  });

  it("leaves bare numbers and empty words out", () => {
    expect(of("order 4711")).toEqual(of("order"));
    expect(of("what is it?")).toEqual([]);
    expect(of("decode base64")).not.toEqual(of("decode"));
  });

  it("keeps the first 24 words of a long request", () => {
    const words = Array.from({ length: 60 }, (_, index) => `w${String.fromCodePoint(0x3b1 + index)}`);
    expect(of(words.join(" "))).toEqual(of(words.slice(0, 24).join(" ")));
    expect(of(words.join(" ")).length).toBe(24);
  });
});
