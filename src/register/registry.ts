import type { Handler } from "../tool/handler.ts";
import type { Tool } from "../tool/tool.ts";

/** Tools with what runs them. Registering is immediate; indexing happens at the next `sync`. */
export interface Registry {
  /** Takes tools in; a later one replaces an earlier one of the same id. */
  add(entries: readonly Registration[]): void;
  /** Registrations not yet in the catalog. */
  readonly pending: number;
  /** Puts pending registrations into the catalog. Concurrent calls share one run. Returns how many were indexed. */
  sync(options?: { readonly signal?: AbortSignal }): Promise<number>;
  /** The tool a caller means: an id, a qualified name, or a bare name that only one tool has. */
  find(name: string): Found;
  delete(id: string): Promise<boolean>;
}

/** A tool and what runs it. A tool without a handler can be found but not called. */
export interface Registration {
  readonly tool: Tool;
  readonly handler?: Handler;
}

export type Found =
  | { readonly found: true; readonly tool: Tool; readonly handler: Handler | undefined }
  /** The reason is for the caller: unknown, ambiguous or another version, with the nearest name. */
  | { readonly found: false; readonly reason: string };
