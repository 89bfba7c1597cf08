import type { Tool } from "../tool/tool.ts";

/** Orders a short list of tools a second time, more precisely and more slowly. */
export interface Reranker {
  readonly model: string;
  /** One score in [0, 1] for each tool, in the order given. */
  rerank(
    query: string,
    tools: readonly Tool[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly number[]>;
}
