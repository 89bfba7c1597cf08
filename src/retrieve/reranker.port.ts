import type { Tool } from "../tool/tool.ts";

/** Reorders a short list of tools, more precisely and more slowly than the search. */
export interface Reranker {
  readonly model: string;
  /** Returns one score in [0, 1] per tool, in the given order. */
  rerank(
    query: string,
    tools: readonly Tool[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly number[]>;
}
