import assert from "node:assert/strict";
import type { EngineAnswer, ToolVectors } from "../../catalog/catalog-engine.port.ts";
import { createLexicalIndex, type LexicalIndex } from "../../catalog/lexical/lexical-index.ts";
import { toolFields } from "../../catalog/tool-text.ts";
import type { Tool } from "../../tool/tool.ts";
import { candidateIds, dot } from "./fixtures.ts";

/** The weight of an example's cosine relative to the tool's own text. */
export const EXAMPLE_SHARE = 0.95;
/** The maximum error of a coverage, a share or a similarity. */
export const COVERAGE_ERROR = 1e-5;

/** Indexes the words of tools, with the weights of the catalog. */
export function lexicalOf(tools: readonly Tool[]): LexicalIndex {
  const index = createLexicalIndex();
  for (const tool of tools) index.upsert(tool.id, toolFields(tool));
  return index;
}

/** A search, with everything that determines its result. */
export interface Searched {
  readonly texts: readonly string[];
  readonly index: LexicalIndex;
  readonly queries?: readonly Float32Array[];
  readonly entries?: readonly ToolVectors[];
  readonly limit: number;
  readonly accepted: readonly Tool[];
  readonly cosineError?: number;
}

/** Checks that the candidates are exactly the best for each text and each vector, and checks their scores. */
export function assertEvidence(answer: EngineAnswer, searched: Searched): void {
  const { texts, index, queries = [], entries = [], limit, accepted, cosineError = 0 } = searched;
  const vectorsOf = new Map(entries.map(({ id, vectors }) => [id, vectors]));
  const allowed = new Set<string>();
  texts.forEach((text, at) => {
    const coverage = new Map(accepted.map(({ id }) => [id, index.scores(text, [id])[0] ?? 0]));
    for (const id of putForward(answer, coverage, { limit, error: COVERAGE_ERROR, above: 0 })) allowed.add(id);
    for (const { tool, coverage: said } of answer.candidates)
      assertNear([said[at]], [coverage.get(tool.id)], COVERAGE_ERROR);
  });
  queries.forEach((query, at) => {
    const cosines = new Map<string, number>();
    for (const { id } of accepted) {
      const all = vectorsOf.get(id)?.map((vector, nth) => (nth === 0 ? 1 : EXAMPLE_SHARE) * dot(query, vector));
      if (all) cosines.set(id, Math.max(...all));
    }
    for (const id of putForward(answer, cosines, { limit, error: cosineError, above: -2 })) allowed.add(id);
    for (const { tool, cosines: said } of answer.candidates)
      assertNear([said[at]], [cosines.get(tool.id)], cosineError);
  });
  for (const id of candidateIds(answer)) assert.ok(allowed.has(id), `${id} is none of the best ${limit}`);
}

/** Checks that the best are among the candidates. Returns all permitted candidates, which include more than the limit if scores are tied. */
function putForward(
  answer: EngineAnswer,
  scores: ReadonlyMap<string, number>,
  { limit, error, above }: { readonly limit: number; readonly error: number; readonly above: number },
): readonly string[] {
  const best = [...scores].filter(([, score]) => score > above).sort(([, a], [, b]) => b - a);
  const cut = best[limit - 1]?.[1] ?? above;
  const found = new Set(candidateIds(answer));
  for (const [id, score] of best) {
    if (score > cut + error) assert.ok(found.has(id), `${id} is one of the best ${limit} and is missing`);
  }
  return best.filter(([, score]) => score >= cut - error).map(([id]) => id);
}

/** Compares numbers one by one. Undefined matches only undefined. */
export function assertNear(
  found: readonly (number | undefined)[],
  expected: readonly (number | undefined)[],
  error: number,
): void {
  assert.equal(found.length, expected.length);
  found.forEach((value, at) => {
    const right = expected[at];
    if (value === undefined || right === undefined) assert.equal(value, right);
    else assert.ok(Math.abs(value - right) <= error, `${value} instead of ${right}`);
  });
}
