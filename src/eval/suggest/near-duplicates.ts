import { setImmediate as nextTurn } from "node:timers/promises";
import { createLexicalIndex } from "../../catalog/lexical/lexical-index.ts";
import { toolFields } from "../../catalog/tool-text.ts";
import { splitWords } from "../../tool/split-words.ts";
import type { Work } from "../answer-queries.ts";
import type { KnownTool } from "../known-tools.ts";

/** The similarity of tools by the catalog's measure of words: in [0, 1], 1 for copies. */
export type Likeness = ReturnType<typeof createLikeness>;

export interface AlikePair {
  readonly a: string;
  readonly b: string;
  readonly similarity: number;
}

/** The order of two tools this similar is arbitrary. Retrieval treats tools from this similarity up as copies. */
export const NEAR_DUPLICATE = 0.9;

const NEIGHBOURS = 6;
/** The number of words that search for neighbours; a copy shares the first ones. */
const PROBE_WORDS = 16;

/** Measures the similarity of the tools of a set. */
export function createLikeness(tools: ReadonlyMap<string, KnownTool>) {
  const index = createLexicalIndex();
  for (const { id, tool } of tools.values()) index.upsert(id, toolFields(tool));
  return {
    of: (a: string, b: string): number => index.similarity(a, b),
    /** Pairs with at least this similarity, most similar first. Each tool is compared with the few tools that its own words find. */
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

/** An order of texts that is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
