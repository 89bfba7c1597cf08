import assert from "node:assert/strict";
import type { Embedder } from "../catalog/embedder.port.ts";
import { dot } from "./catalog-engine/fixtures.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** The contract of every embedder. */
export function embedderContract(make: Make<Embedder>): readonly ContractCase[] {
  return contract(make, {
    "gives one unit vector of its dimension a text, in order": async (embedder) => {
      const vectors = await embedder.embed(["send an email", "delete a file", "send an email"], { kind: "tool" });
      assert.equal(vectors.length, 3);
      for (const vector of vectors) {
        assert.equal(vector.length, embedder.dimension);
        assert.ok(Math.abs(Math.hypot(...vector) - 1) < 0.01);
      }
      assert.ok(cosine(vectors[0], vectors[2]) > 0.999);
    },
    "puts like texts nearer than unlike ones": async (embedder) => {
      const [query] = await embedder.embed(["send an email message"], { kind: "query" });
      const [near, far] = await embedder.embed(["send email message", "resize a photograph"], { kind: "tool" });
      assert.ok(cosine(query, near) > cosine(query, far));
    },
    "takes no texts, an empty text and any script": async (embedder) => {
      assert.deepEqual(await embedder.embed([], { kind: "tool" }), []);
      const vectors = await embedder.embed(["", "写邮件 📧 naïve"], { kind: "tool" });
      assert.equal(vectors.length, 2);
      assert.ok(vectors.every((vector) => vector.every(Number.isFinite)));
    },
    "stops when told to": async (embedder) => {
      await assert.rejects(embedder.embed(["anything"], { kind: "query", signal: AbortSignal.abort() }));
    },
    "names its model and is healthy": async (embedder) => {
      assert.ok(embedder.model.length > 0);
      assert.equal(await embedder.healthCheck(), true);
    },
    "calibrates upwards into [0, 1]": async (embedder) => {
      const values = [-1, 0, 0.3, 0.6, 1].map((value) => embedder.calibrate?.(value) ?? value);
      if (!embedder.calibrate) return;
      assert.ok(values.every((value) => value >= 0 && value <= 1));
      const sorted = values.toSorted((a, b) => a - b);
      assert.deepEqual(values, sorted);
    },
  });
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  assert.ok(a && b);
  return dot(a, b);
}
