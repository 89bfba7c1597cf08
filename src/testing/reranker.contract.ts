import assert from "node:assert/strict";
import type { Reranker } from "../retrieve/reranker.port.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";
import { sampleTools } from "./sample-tools.ts";

/** The contract of every reranker. */
export function rerankerContract(make: Make<Reranker>): readonly ContractCase[] {
  return contract(make, {
    "gives one score in [0, 1] a tool, in order": async (reranker) => {
      const scores = await reranker.rerank("send an email", sampleTools());
      assert.equal(scores.length, 5);
      assert.ok(scores.every((score) => score >= 0 && score <= 1));
    },
    "scores do not depend on the order of the tools": async (reranker) => {
      const tools = sampleTools();
      const forward = await reranker.rerank("send an email", tools);
      const backward = await reranker.rerank("send an email", tools.toReversed());
      assert.deepEqual(forward, backward.toReversed());
    },
    "takes no tools": async (reranker) => {
      assert.deepEqual(await reranker.rerank("anything", []), []);
    },
    "stops when told to": async (reranker) => {
      await assert.rejects(reranker.rerank("anything", sampleTools(), { signal: AbortSignal.abort() }));
    },
  });
}
