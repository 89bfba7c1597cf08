import { toolFields } from "../../../catalog/tool-text.ts";
import type { Tool } from "../../../tool/tool.ts";
import { readWords, type ToolWords } from "../tool-words.ts";
import { getNewest, setNewest } from "../../../base/remember.ts";

export interface KeptTool {
  readonly tool: Tool;
  readonly words: ToolWords;
}

const KEPT_TOOLS = 1_000;
const KEPT_TERMS = 100_000;
const KEPT_COUNTS = 1_000;

export type SearchCache = ReturnType<typeof createKept>;

/** Creates a bounded cache between searches, because a conversation finds the same tools repeatedly. */
export function createKept() {
  /** By slot. A slot's tool never changes. */
  const tools = new Map<number, KeptTool>();
  /** The number of tools with a term, by the term's key. */
  const documents = new Map<string, number>();
  /** The number of accepted tools, by filter. */
  const counts = new Map<string, number>();
  let known = -1;
  return {
    documents,
    counts,
    /** Drops entries that a new revision makes invalid. */
    follow(revision: number) {
      if (revision !== known || documents.size > KEPT_TERMS) documents.clear();
      if (revision !== known || counts.size > KEPT_COUNTS) counts.clear();
      known = revision;
    },
    tool: (slot: number) => getNewest(tools, slot),
    add(slot: number, body: string): KeptTool {
      const tool = JSON.parse(body) as Tool;
      return setNewest(tools, slot, { tool, words: readWords(toolFields(tool)) }, KEPT_TOOLS);
    },
  };
}
