import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../tool/define-tool.ts";
import { nearDuplication, selectDiverse } from "./mmr.ts";
import { byScore, type Candidate, createScorer } from "./scorer.ts";
import { DEFAULT_SETTINGS } from "../settings.ts";
import { readConversation } from "../understand/conversation-view.ts";

const score = createScorer(
  {
    tags: () => 0.5,
    conversation: readConversation({ query: "anything" }, []),
    penalties: DEFAULT_SETTINGS.penalties,
    health: {
      of: () => ({ successRate: 1, averageLatencyMs: 0, totalCalls: 0, consecutiveFailures: 0, circuitOpen: false }),
    },
  },
  { semantic: 1, intent: 0, conversation: 0, health: 0, cost: 0 },
);

/** A candidate whose score is the number given. */
function candidate(name: string, semanticScore: number): Candidate {
  const tool = defineTool({ name, description: `The tool ${name}.`, parameters: { type: "object" } });
  return score({ tool, semanticScore, matchedTerms: () => [] });
}

const names = (candidates: readonly Candidate[]): readonly string[] => candidates.map(({ tool }) => tool.name);
const four = [candidate("a", 0.9), candidate("a_copy", 0.89), candidate("b", 0.85), candidate("c", 0.6)];
const copies = (a: string, b: string): number => (a.replace("_copy", "") === b.replace("_copy", "") ? 1 : 0.3);

describe("selectDiverse", () => {
  it("lets a copy of a tool already taken make room for another [000-6.1-mmr]", () => {
    const { selected, displaced } = selectDiverse(four, 2, { lambda: 0.7, similarity: copies });
    expect(names(selected)).toEqual(["a", "b"]);
    expect([...displaced]).toEqual([["default.a_copy", "default.a"]]);
  });

  it("goes by score alone with λ = 1", () => {
    const { selected, displaced } = selectDiverse(four, 2, { lambda: 1, similarity: copies });
    expect(names(selected)).toEqual(["a", "a_copy"]);
    expect(displaced.size).toBe(0);
  });

  it("starts with the best and then takes the least alike with λ = 0", () => {
    const similarity = (a: string, b: string): number => (a.endsWith("c") || b.endsWith("c") ? 0 : 0.5);
    expect(names(selectDiverse(four, 2, { lambda: 0, similarity }).selected)).toEqual(["a", "c"]);
  });

  it("compares with the nearest tool taken, not the last", () => {
    const list = [
      candidate("a", 0.9),
      candidate("b", 0.85),
      candidate("a_copy", 0.84),
      candidate("c", 0.8),
      candidate("d", 0.5),
    ];
    expect(names(selectDiverse(list, 3, { lambda: 0.7, similarity: copies }).selected)).toEqual(["a", "b", "c"]);
  });

  it("takes scores that lie within a twentieth for nearly equal", () => {
    const list = [candidate("a", 0.9), candidate("a_copy", 0.899), candidate("b", 0.895)];
    expect(names(selectDiverse(list, 2, { lambda: 0.7, similarity: copies }).selected)).toEqual(["a", "b"]);
  });

  it("keeps a copy that is far better than what would take its place", () => {
    const list = [candidate("a", 0.9), candidate("a_copy", 0.89), candidate("b", 0.5), candidate("c", 0.4)];
    expect(names(selectDiverse(list, 2, { lambda: 0.7, similarity: copies }).selected)).toEqual(["a", "a_copy"]);
  });

  it("keeps the order where all fit [000-6.1-mmr-few]", () => {
    expect(names(selectDiverse(four, 4, { lambda: 0.1, similarity: copies }).selected)).toEqual([
      "a",
      "a_copy",
      "b",
      "c",
    ]);
  });

  it("keeps the order of tools that are only alike in topic", () => {
    const similarity = (a: string, b: string): number =>
      nearDuplication((a.length * 7 + b.length * 3) % 2 === 0 ? 0.9 : 0.5);
    expect(names(selectDiverse(four, 3, { lambda: 0.7, similarity }).selected)).toEqual(["a", "a_copy", "b"]);
  });

  it("selects exactly as many as asked, each once, the best first", () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(unit, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 15 }),
        unit,
        unit,
        (scores, limit, lambda, likeness) => {
          const list = scores.map((value, index) => candidate(`t${index}`, value)).sort(byScore);
          const { selected } = selectDiverse(list, limit, { lambda, similarity: () => likeness });
          expect(selected.length).toBe(Math.min(limit, list.length));
          expect(new Set(selected).size).toBe(selected.length);
          if (lambda > 0) expect(selected[0]?.score).toBe(list[0]?.score);
        },
      ),
    );
  });

  it("takes what comparing every candidate with every tool taken would take", () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    const likenesses = fc.array(fc.constantFrom(0, 0.3, 0.7, 0.95, 1), { minLength: 144, maxLength: 144 });
    fc.assert(
      fc.property(
        fc.array(unit, { minLength: 1, maxLength: 12 }),
        likenesses,
        fc.integer({ min: 1, max: 12 }),
        unit,
        (scores, table, limit, lambda) => {
          const list = scores.map((value, index) => candidate(`t${index}`, value)).sort(byScore);
          const at = new Map(list.map(({ tool: { id } }, index) => [id, index]));
          const similarity = (a: string, b: string): number => {
            const [low = 0, high = 0] = [at.get(a) ?? 0, at.get(b) ?? 0].sort((x, y) => x - y);
            return table[12 * low + high] ?? 0;
          };
          const { selected, displaced } = selectDiverse(list, limit, { lambda, similarity });
          const expected = compareAll(list, limit, lambda, similarity);
          expect(names(selected)).toEqual(names(expected.selected));
          expect([...displaced]).toEqual([...expected.displaced]);
        },
      ),
    );
  });

  it("compares only those that may come next", () => {
    const list = Array.from({ length: 50 }, (_, index) => candidate(`t${index}`, 1 - index / 100));
    let comparisons = 0;
    const similarity = (): number => {
      comparisons++;
      return 0;
    };
    expect(names(selectDiverse(list, 5, { lambda: 0.7, similarity }).selected)).toEqual(["t0", "t1", "t2", "t3", "t4"]);
    expect(comparisons).toBe(1 + 2 + 3 + 4);
  });
});

/** Maximal marginal relevance as a textbook has it. */
function compareAll(
  list: readonly Candidate[],
  limit: number,
  lambda: number,
  similarity: (a: string, b: string) => number,
): { readonly selected: readonly Candidate[]; readonly displaced: ReadonlyMap<string, string> } {
  if (list.length <= limit || lambda >= 1) return { selected: list.slice(0, limit), displaced: new Map() };
  const best = list[0]?.score ?? 0;
  const span = Math.max(0.05, best - (list.at(-1)?.score ?? 0));
  const selected: Candidate[] = [];
  const likest = ({ tool: { id } }: Candidate): { readonly likeness: number; readonly to: string } =>
    selected.reduce(
      (most, { tool }) => {
        const likeness = similarity(id, tool.id);
        return likeness > most.likeness ? { likeness, to: tool.id } : most;
      },
      { likeness: 0, to: "" },
    );
  while (selected.length < limit) {
    const values = list.map((one) =>
      selected.includes(one)
        ? -Infinity
        : lambda * (1 - (best - one.score) / span) - (1 - lambda) * likest(one).likeness,
    );
    const next = list[values.indexOf(Math.max(...values))];
    if (next) selected.push(next);
  }
  const gaveWay = list.slice(0, limit).filter((one) => !selected.includes(one));
  return { selected, displaced: new Map(gaveWay.map((one) => [one.tool.id, likest(one).to])) };
}

describe("nearDuplication", () => {
  it("is 0 up to the floor and 1 for a copy", () => {
    expect(nearDuplication(0)).toBe(0);
    expect(nearDuplication(0.9)).toBe(0);
    expect(nearDuplication(0.95)).toBeCloseTo(0.25, 12);
    expect(nearDuplication(1)).toBe(1);
    expect(nearDuplication(1.0001)).toBe(1);
  });
});
