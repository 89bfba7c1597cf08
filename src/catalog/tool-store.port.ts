import type { Tool } from "../tool/tool.ts";

/** Keeps tool definitions. Handlers, health and indexes are kept elsewhere. */
export interface ToolStore {
  /** Creates what the store needs. Idempotent; called before anything else. */
  open(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Adds tools, replacing those with the same id. All or nothing. */
  put(tools: readonly Tool[], options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** The tools with these ids, in their order; unknown ids are left out. */
  get(ids: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<readonly Tool[]>;
  /** Removes tools. Returns how many there were. */
  delete(ids: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<number>;
  /** Tools ordered by id. */
  list(query?: ListQuery): Promise<readonly Tool[]>;
  count(query?: { readonly namespace?: string; readonly signal?: AbortSignal }): Promise<number>;
  /** True where the store can be read and written now. Never rejects. */
  healthCheck(options?: { readonly signal?: AbortSignal }): Promise<boolean>;
  /** Writes out what is pending and releases what is held. Safe to call twice. */
  close(): Promise<void>;
}

/** Which part of a store to list. */
export interface ListQuery {
  readonly namespace?: string;
  /** At most this many; all where absent. */
  readonly limit?: number;
  readonly offset?: number;
  readonly signal?: AbortSignal;
}
