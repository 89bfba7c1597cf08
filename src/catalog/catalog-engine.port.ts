import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";

/**
 * Stores tools and their vectors, and searches them by words and by meaning. Filters apply before ranking. An engine only gathers evidence;
 * `retrieve/` fuses and scores it, the same way for every engine. A remote engine never requires the process to hold the whole catalog.
 */
export interface CatalogEngine {
  readonly name: string;
  /** Creates the storage that the engine needs. Idempotent. Called first. */
  open(options?: EngineOptions): Promise<void>;
  /** Adds tools, and replaces tools with the same id. All or nothing. Skips tools whose content hash is unchanged. */
  put(tools: readonly Tool[], options?: EngineOptions): Promise<PutTools>;
  /** Removes tools and their vectors. Returns the number of removed tools. */
  delete(ids: readonly string[], options?: EngineOptions): Promise<number>;
  /** Returns the tools with these ids, in this order, without unknown ids. */
  get(ids: readonly string[], options?: EngineOptions): Promise<readonly Tool[]>;
  /** Returns a page of tools, ordered by id. */
  list(query?: ListQuery): Promise<ToolPage>;
  count(query?: EngineOptions & { readonly filter?: ToolFilter }): Promise<number>;
  /** Stores vectors of one model, of unit length, and replaces a tool's previous ones. Ignores entries whose tool is missing or has another hash. */
  putVectors(model: string, entries: readonly ToolVectors[], options?: EngineOptions): Promise<void>;
  /** Returns the ids of tools without vectors of this model for their current text, in order. */
  withoutVectors(
    model: string,
    query: EngineOptions & { readonly after?: string; readonly limit: number },
  ): Promise<readonly string[]>;
  /** Returns the models for which any tool has vectors, sorted. */
  models(options?: EngineOptions): Promise<readonly string[]>;
  /** Removes every vector of a model. The catalog's revision does not change. */
  deleteVectors(model: string, options?: EngineOptions): Promise<void>;
  /** Returns the evidence for one request, in one round trip. Filters apply before `limit`. */
  search(query: EngineQuery): Promise<EngineAnswer>;
  /** Returns the changes after a revision, so that other processes can follow. */
  changes(since: number, options?: EngineOptions): Promise<EngineChanges>;
  /** Returns true if the engine can be read and written now. Never rejects. */
  healthCheck(options?: EngineOptions): Promise<boolean>;
  /** Writes pending changes and releases resources. Safe to call twice. */
  close(): Promise<void>;
}

/** The options of every engine method. */
export interface EngineOptions {
  readonly signal?: AbortSignal;
}

/** The outcome of `put`. */
export interface PutTools {
  /** Ids that were new or changed. */
  readonly changed: readonly string[];
  /** The new revision of the catalog. Revisions only grow. */
  readonly revision: number;
}

/** The filter and the page of a list of tools. */
export interface ListQuery extends EngineOptions {
  readonly filter?: ToolFilter;
  /** Only tools with a greater id: the `next` of the previous page, or any id. */
  readonly cursor?: string;
  /** The maximum number of tools. Defaults to 1000. */
  readonly limit?: number;
}

/** A page of tools. */
export interface ToolPage {
  readonly tools: readonly Tool[];
  /** The id of the last tool, as the cursor of the next page. Omitted on the last page. */
  readonly next?: string;
}

/** The vectors of one tool: of its text first, then of its examples. */
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
  /** The tools that the caller may see. Others are neither returned nor counted. Defaults to every tool. */
  readonly visible?: ToolFilter;
  /** The number of candidates per ranker, for each text or vector. */
  readonly limit: number;
  /** Texts for word search: the request, then the request with the previous turns if there are any. */
  readonly texts: readonly string[];
  /** Vectors for semantic search, possibly from several models. */
  readonly vectors?: readonly ModelVector[];
  /** Tools to score even if no ranker finds them. The filters apply to them as well. */
  readonly besides?: readonly string[];
}

/** The vector of a text, of unit length, and its model. */
export interface ModelVector {
  readonly model: string;
  readonly vector: Float32Array;
}

/** An engine's evidence for a request. */
export interface EngineAnswer {
  /** Every tool that a ranker found, with the scores of all rankers. Unordered. */
  readonly candidates: readonly EngineCandidate[];
  /** The number of tools that both filters accept, and that `visible` accepts. */
  readonly accepted: number;
  readonly total: number;
  /** For each vector of the query, the number of accepted tools that have a vector of its model. */
  readonly embedded: readonly number[];
  /** Tools and namespaces whose names the first text contains. */
  readonly named: { readonly tools: ReadonlySet<string>; readonly namespaces: ReadonlySet<string> };
  /** The duration of filtering, word search and vector search, in milliseconds. Omitted by engines that do not measure it. */
  readonly timings?: { readonly filterMs: number; readonly lexicalMs: number; readonly denseMs: number };
  /** Returns a function that lists the words of the text that occur in a candidate, heaviest first. */
  matchedTerms(text: string): (id: string) => readonly MatchedTerm[];
  /** Returns the similarity of the words of two candidates, without the words of their namespaces, in [0, 1]; 1 for copies. */
  similarity(a: string, b: string): number;
  /** Returns the similarity of the mean of a namespace's vectors to the query's vector at this index; undefined if there are few namespaces. */
  namespaceFit(namespace: string, vector: number): NamespaceFit | undefined;
}

/** A tool and its scores from each ranker. */
export interface EngineCandidate {
  readonly tool: Tool;
  /** For each text, the share of its weight that the tool's words cover, in [0, 1]. It is 1 only if the text is the tool's name. */
  readonly coverage: readonly number[];
  /** The cosine of each vector with the tool, in [-1, 1]; undefined if the tool has no vector of its model. Cosines of examples count 0.95. */
  readonly cosines: readonly (number | undefined)[];
}

/** A word of a text that occurs in a tool. */
export interface MatchedTerm {
  readonly term: string;
  readonly fields: readonly string[];
  readonly share: number;
}

/** The fit of a namespace to a request. */
export interface NamespaceFit {
  readonly cosine: number;
  /** The similarity of the namespace's tools to each other, in [0, 1]. */
  readonly trust: number;
}

/** The changes of a catalog after a revision. */
export interface EngineChanges {
  readonly revision: number;
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  /** True if the engine no longer has these changes. Then everything must be read again. */
  readonly incomplete?: boolean;
  /** True if only this process can change these tools, so there are no changes to follow. */
  readonly alone?: boolean;
}
