import type { Tool } from "../tool/tool.ts";

/** Every registered tool with its index: the one place that is searched. Reads are in memory; writes go through the store. */
export interface Catalog {
  readonly size: number;
  /** Names the ranker that answers: `lexical`, or the embedder's model. */
  readonly tier: string;
  get(id: string): Tool | undefined;
  /** Tools with this bare name, whatever their namespace. */
  named(name: string): readonly Tool[];
  /** Every tool, in no promised order. */
  all(): IterableIterator<Tool>;
  /** Adds or replaces tools. Those whose content hash is unchanged are neither stored nor indexed again. */
  upsert(
    tools: readonly Tool[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly indexed: number; readonly unchanged: number }>;
  /** Returns how many there were. */
  delete(ids: readonly string[]): Promise<number>;
  /** The best tools for a text among those accepted, best first. The filter runs before the cut. */
  search(text: string, query: SearchQuery): Promise<SearchResult>;
  /** How alike two tools are, in [0, 1]. */
  similarity(a: string, b: string): number;
  healthCheck(): Promise<{ readonly store: boolean; readonly embedder?: boolean }>;
  close(): Promise<void>;
}

export interface SearchQuery {
  readonly limit: number;
  readonly accept: (tool: Tool) => boolean;
  readonly signal?: AbortSignal;
}

/** Hits, and how the time went. */
export interface SearchResult {
  readonly hits: readonly Hit[];
  readonly candidateCount: number;
  readonly filteredCount: number;
  readonly embeddingTimeMs: number;
  readonly searchTimeMs: number;
}

/** A tool and how well it fits a text. */
export interface Hit {
  readonly tool: Tool;
  /** Absolute, in [0, 1], comparable between requests, and in the same order as the fused rank within one. */
  readonly semanticScore: number;
  /** Words of the text found in the tool, heaviest first; computed when asked. */
  matchedTerms(): readonly { readonly term: string; readonly fields: readonly string[]; readonly share: number }[];
}
