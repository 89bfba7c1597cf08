import { describe, expect, it } from "vitest";
import { embedderContract } from "./embedder.contract.ts";
import { createHashingEmbedder } from "./hashing-embedder.ts";

describe("the hashing embedder", () => {
  for (const { name, run } of embedderContract(() => ({ adapter: createHashingEmbedder() }))) it(name, run);

  it("says what it was asked to embed", async () => {
    const asked: (readonly string[])[] = [];
    const embedder = createHashingEmbedder({ dimension: 8, onEmbed: (texts) => asked.push(texts) });
    const [vector] = await embedder.embed(["one two"], { kind: "query" });
    expect([asked, vector?.length, embedder.model]).toEqual([[["one two"]], 8, "hashing-8"]);
  });
});
