import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";

/**
 * Stores tools and their vectors, and searches them by words and by meaning after filtering. It gathers evidence; `retrieve/` fuses and scores
 * it the same way for every engine. A remote engine never makes the process hold the whole catalog.
 */
export interface CatalogEngine {
  readonly name: string;
  /** Creates the storage that the engine needs. Idempotent; called before anything else. */
  open(options?: EngineOptions): Promise<void>;
  /** Adds tools, replacing those with the same id, all or nothing. Tools with an unchanged content hash are skipped. */
  put(tools: readonly Tool[], options?: EngineOptions): Promise<PutTools>;
  /** Removes tools and their vectors. Returns the number of tools removed. */
  delete(ids: readonly string[], options?: EngineOptions): Promise<number>;
  /** The tools with these ids, in this order; unknown ids are left out. */
  get(ids: readonly string[], options?: EngineOptions): Promise<readonly Tool[]>;
  /** A page of tools, ordered by id. */
  list(query?: ListQuery): Promise<ToolPage>;
  count(query?: EngineOptions & { readonly filter?: ToolFilter }): Promise<number>;
  /** Keeps vectors of unit length of one model, replacing a tool's earlier ones. Entries whose tool is gone or has another hash are ignored. */
  putVectors(model: string, entries: readonly ToolVectors[], options?: EngineOptions): Promise<void>;
  /** Ids of tools without vectors of this model for their current text, ordered by id. */
  withoutVectors(
    model: string,
    query: EngineOptions & { readonly after?: string; readonly limit: number },
  ): Promise<readonly string[]>;
  /** The models that any tool has vectors of, sorted. */
  models(options?: EngineOptions): Promise<readonly string[]>;
  /** Removes every vector of a model. The catalog's revision stays. */
  deleteVectors(model: string, options?: EngineOptions): Promise<void>;
  /** The evidence for one request, in one round trip. The filter runs before the cut. */
  search(query: EngineQuery): Promise<EngineAnswer>;
  /** Returns the changes after a revision, so that another process can follow. */
  changes(since: number, options?: EngineOptions): Promise<EngineChanges>;
  /** True if the engine can be read and written now. Never rejects. */
  healthCheck(options?: EngineOptions): Promise<boolean>;
  /** Writes pending changes and releases resources. Safe to call twice. */
  close(): Promise<void>;
}

/** The options of each method of an engine. */
export interface EngineOptions {
  readonly signal?: AbortSignal;
}

/** The outcome of `put`. */
export interface PutTools {
  /** Ids that were new or changed. */
  readonly changed: readonly string[];
  /** The revision of the catalog from now on. Revisions only grow. */
  readonly revision: number;
}

/** The conditions of a list of tools. */
export interface ListQuery extends EngineOptions {
  readonly filter?: ToolFilter;
  /** Only tools whose id is after this one: the `next` of the previous page, or any id. */
  readonly cursor?: string;
  /** At most this many. Defaults to 1000. */
  readonly limit?: number;
}

/** A page of tools. */
export interface ToolPage {
  readonly tools: readonly Tool[];
  /** The id of the page's last tool, at which the next page continues. Omitted on the last page. */
  readonly next?: string;
}

/** The vectors of one tool: its text first, then its examples. */
export interface ToolVectors {
  readonly id: string;
  /** The hash of the text that was embedded. */
  readonly contentHash: string;
  readonly vectors: readonly Float32Array[];
}

/** One request to an engine. */
export interface EngineQuery extends EngineOptions {
  /** The tools to search. Defaults to every tool. */
  readonly filter?: ToolFilter;
  /** The tools that the caller may see: no other tool is returned or counted. Defaults to every tool. */
  readonly visible?: ToolFilter;
  /** The number of candidates from each ranker for each text or vector. */
  readonly limit: number;
  /** Texts to search for by words: the request, then the request with the turns before it if there are any. */
  readonly texts: readonly string[];
  /** Vectors to search for. They may come from several models. */
  readonly vectors?: readonly ModelVector[];
  /** Tools to score even if no ranker finds them, if the filters accept them. */
  readonly besides?: readonly string[];
}

/** A text's vector of unit length, and the model it comes from. */
export interface ModelVector {
  readonly model: string;
  readonly vector: Float32Array;
}

/** An engine's evidence for a request. */
export interface EngineAnswer {
  /** Every tool that a ranker found, each scored by all rankers. Unordered. */
  readonly candidates: readonly EngineCandidate[];
  /** How many tools both filters accept, and how many `visible` accepts. */
  readonly accepted: number;
  readonly total: number;
  /** For each vector of the query: how many of the accepted tools have a vector of its model. */
  readonly embedded: readonly number[];
  /** Tools and namespaces that the first text names literally. */
  readonly named: { readonly tools: ReadonlySet<string>; readonly namespaces: ReadonlySet<string> };
  /** How long filtering, searching by words and searching by vectors took, in milliseconds. Omitted by engines that do not measure it. */
  readonly timings?: { readonly filterMs: number; readonly lexicalMs: number; readonly denseMs: number };
  /** Returns a function that lists the words of the text found in a candidate, heaviest first. Computed on demand. */
  matchedTerms(text: string): (id: string) => readonly MatchedTerm[];
  /** The similarity of the words of two candidates, without the words of their namespaces, in [0, 1]; 1 for copies. */
  similarity(a: string, b: string): number;
  /**
   * The similarity of the mean of a namespace's vectors to the query's vector at this index; undefined if there are too few namespaces to compare.
   */
  namespaceFit(namespace: string, vector: number): NamespaceFit | undefined;
}

/** A tool and its scores from each ranker. */
export interface EngineCandidate {
  readonly tool: Tool;
  /** For each text: the share of its weight that the tool's words cover, in [0, 1]; 1 only if the text is the tool's name. */
  readonly coverage: readonly number[];
  /** For each vector: its cosine with the tool, in [-1, 1]; undefined if the tool has no vector of its model. An example counts 0.95 of its cosine. */
  readonly cosines: readonly (number | undefined)[];
}

/** A word of a text found in a tool. */
export interface MatchedTerm {
  readonly term: string;
  readonly fields: readonly string[];
  readonly share: number;
}

/** The fit of a namespace to a request. */
export interface NamespaceFit {
  readonly cosine: number;
  /** The similarity of its tools to each other, in [0, 1]. */
  readonly trust: number;
}

/** The changes since a revision. */
export interface EngineChanges {
  readonly revision: number;
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  /** True if the engine no longer has these changes: everything must be read again. */
  readonly incomplete?: boolean;
  /** True if no other process can change these tools, so that following them is unnecessary. */
  readonly alone?: boolean;
}
