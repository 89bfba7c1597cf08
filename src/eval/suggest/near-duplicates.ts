import { setImmediate as nextTurn } from "node:timers/promises";
import { createLexicalIndex } from "../../catalog/lexical/lexical-index.ts";
import { toolFields } from "../../catalog/tool-text.ts";
import { splitWords } from "../../tool/split-words.ts";
import type { Work } from "../answer-queries.ts";
import type { KnownTool } from "../known-tools.ts";

/** The similarity of tools by the words in the catalog, in [0, 1]; 1 for copies. */
export type Likeness = ReturnType<typeof createLikeness>;

export interface AlikePair {
  readonly a: string;
  readonly b: string;
  readonly similarity: number;
}

/** From this similarity on, the order of two tools is arbitrary. Retrieval treats them as copies. */
export const NEAR_DUPLICATE = 0.9;

const NEIGHBOURS = 6;
/** The number of words of a tool that search for its neighbours. A copy contains all of them. */
const PROBE_WORDS = 16;

/** Creates the measure of similarity for the tools of a set. */
export function createLikeness(tools: ReadonlyMap<string, KnownTool>) {
  const index = createLexicalIndex();
  for (const { id, tool } of tools.values()) index.upsert(id, toolFields(tool));
  return {
    of: (a: string, b: string): number => index.similarity(a, b),
    /** Returns pairs with at least this similarity, most similar first. Compares each tool with the few tools that its own words find. */
    async pairs({ least, signal, onProgress }: Work & { readonly least: number }): Promise<readonly AlikePair[]> {
      const found = new Map<string, AlikePair>();
      let done = 0;
      for (const { id, tool } of tools.values()) {
        if (++done % 50 === 0) await nextTurn();
        signal.throwIfAborted();
        const probe = [...splitWords(tool.name), ...tool.description.split(/\s+/)].slice(0, PROBE_WORDS).join(" ");
        for (const hit of index.search(probe, { limit: NEIGHBOURS })) {
          if (hit.id === id) continue;
          const [a, b] = id < hit.id ? [id, hit.id] : [hit.id, id];
          const key = JSON.stringify([a, b]);
          const similarity = found.get(key)?.similarity ?? index.similarity(a, b);
          if (similarity >= least) found.set(key, { a, b, similarity });
        }
        onProgress(done);
      }
      return [...found.values()].toSorted(
        (one, other) => other.similarity - one.similarity || compareText(one.a, other.a) || compareText(one.b, other.b),
      );
    },
  };
}

/** Compares texts in an order that is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
