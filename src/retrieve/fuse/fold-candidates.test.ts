import { describe, expect, it } from "vitest";
import { foldCandidates } from "./fuse.ts";

describe("foldCandidates", () => {
  it("mixes cosines by the share of the conversation", () => {
    const [mixed] = foldCandidates([{ id: "a", lexical: 0, cosine: 0.2 }], [{ lexical: 0, cosine: 0.6 }], 0.75);
    expect(mixed?.cosine).toBeCloseTo(0.5, 6);
  });

  it("brings words to one scale, since a longer text is covered less", () => {
    const mixed = foldCandidates(
      [
        { id: "a", lexical: 0.6, cosine: 0.2 },
        { id: "b", lexical: 0, cosine: 0.2 },
      ],
      [
        { lexical: 0, cosine: 0.2 },
        { lexical: 0.1, cosine: 0.2 },
      ],
      0.5,
    );
    expect(mixed.map(({ lexical }) => lexical)).toEqual([0.3, 0.3]);
  });

  it("takes the conversation's words as they are where the request has none", () => {
    const [mixed] = foldCandidates([{ id: "a", lexical: 0, cosine: 0.2 }], [{ lexical: 0.4, cosine: 0.2 }], 0.5);
    expect(mixed?.lexical).toBeCloseTo(0.4, 6);
  });

  it("leaves a tool whose name is the request alone, and makes no other one so", () => {
    const mixed = foldCandidates(
      [
        { id: "named", lexical: 1, cosine: 0.1 },
        { id: "other", lexical: 0.2, cosine: 0.1 },
      ],
      [
        { lexical: 0, cosine: 0.9 },
        { lexical: 1, cosine: 0.1 },
      ],
      0.99,
    );
    expect(mixed[0]).toEqual({ id: "named", lexical: 1, cosine: 0.1 });
    expect(mixed[1]?.lexical).toBeLessThan(1);
  });

  it("keeps a tool without a vector without one", () => {
    const [mixed] = foldCandidates(
      [{ id: "a", lexical: 0.2, cosine: undefined }],
      [{ lexical: 0.2, cosine: undefined }],
      0.5,
    );
    expect(mixed?.cosine).toBeUndefined();
  });
});
