import { describe, expect, it } from "vitest";
import { embedderContract } from "../../testing/embedder.contract.ts";
import { staticEmbedder } from "./static.ts";

describe("static embedder [000-5.2-embedder]", () => {
  for (const { name, run } of embedderContract(() => ({ adapter: staticEmbedder() }))) it(name, run);

  it("puts a goal nearer to the tool that serves it than to others, though they share no word", async () => {
    const embedder = staticEmbedder();
    const [query] = await embedder.embed(["will I need an umbrella tomorrow"], { kind: "query" });
    const [weather, refund] = await embedder.embed(
      ["weather get forecast: Forecast of rain and temperature for a city.", "shop process refund: Refunds a payment."],
      { kind: "tool" },
    );
    expect(cosine(query, weather)).toBeGreaterThan(cosine(query, refund) + 0.1);
  });

  it("reads 192 tokens of a tool and 256 of a request", async () => {
    const embedder = staticEmbedder();
    const head = "weather ".repeat(190);
    const [short, long] = await embedder.embed([head, `${head} ${"refund ".repeat(60)}`], { kind: "tool" });
    expect(cosine(short, long)).toBeCloseTo(1, 6);
    const [shortQuery, longQuery] = await embedder.embed([head, `${head} ${"refund ".repeat(60)}`], { kind: "query" });
    expect(cosine(shortQuery, longQuery)).toBeLessThan(0.999);
  });
});

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  return a?.reduce((sum, value, index) => sum + value * (b?.[index] ?? 0), 0) ?? 0;
}
