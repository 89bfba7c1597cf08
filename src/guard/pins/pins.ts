import type { Principal } from "../principal.ts";
import type { Tool } from "../../tool/tool.ts";

/**
 * What each tool of a source was when it was accepted. A tool that is something else now is not called, and in the mode `all` nobody knows
 * of a tool before an operator accepted it.
 */
export interface Pins {
  /** Compares what a source offers with what is accepted, and keeps what is seen for the first time. */
  review(offer: OfferedEnsemble): Promise<ReviewedEnsemble>;
  /** Why a tool may not be called now; undefined where it may. Cheap for a tool that nothing waits for. */
  refusal(tool: Tool): string | undefined | Promise<string | undefined>;
  /** Everything that was seen, by id: accepted, changed or never accepted. */
  list(): Promise<readonly Pin[]>;
  /** Accepts what a tool, or the instructions of a server, is now. Rejects with NOT_FOUND's reason where nothing of that id waits. */
  accept(id: string, by: Principal): Promise<void>;
}

/** All that one source says at once. */
export interface OfferedEnsemble {
  readonly ensemble: string;
  readonly tools: readonly Tool[];
  /** What an MCP server tells models about itself. */
  readonly instructions?: string;
}

/** What may be registered. */
export interface ReviewedEnsemble {
  /** In the order they were offered: each as it was accepted, which is what was offered unless it changed. */
  readonly tools: readonly Tool[];
  /** As they were accepted; absent where there are none, or they are not accepted. */
  readonly instructions?: string;
}

/** One tool, or the instructions of one server (`NAME#instructions`), that was seen. */
export interface Pin {
  readonly id: string;
  readonly state: "accepted" | "changed" | "new";
  /** Readable lines, `-` for what was accepted and `+` for what is there now; empty unless changed. */
  readonly diff: readonly string[];
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
}
