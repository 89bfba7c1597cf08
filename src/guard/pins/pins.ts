import type { Principal } from "../principal.ts";
import type { Tool } from "../../tool/tool.ts";

/** What was accepted of each source: its tools and its instructions. */
export interface Pins {
  /** A server's instructions as they may be passed on: those accepted, whatever it says now. Never rejects. */
  instructions(ensemble: string, offered: string | undefined): Promise<string | undefined>;
  /** Everything that was seen, by id: accepted, changed or never accepted. */
  list(): Promise<readonly Pin[]>;
  /**
   * Accepts a tool, or a server's instructions, as they are now. Rejects with INPUT_INVALID if nothing with that id waits or its hash is not
   * `hash`, and with PERMISSION_DENIED if the principal lacks the role `approver`.
   */
  accept(id: string, by: Principal, options?: AcceptOptions): Promise<void>;
}

/** Keeps tools that are not what was accepted from being called. In the mode `all`, a tool is hidden until an operator accepts it. */
export interface PinGuard extends Pins {
  /** Compares what a source offers with what is accepted, and keeps what is seen for the first time. Never rejects. */
  review(offer: OfferedEnsemble): Promise<ReviewedEnsemble>;
  /** Why a tool may not be called now; undefined if it may. Cheap for a tool that nothing waits for. */
  refusal(tool: Tool): string | undefined | Promise<string | undefined>;
  /**
   * Why the command of a configured server may not be started; undefined if it may. In the mode `all`, somebody must have accepted exactly this command.
   * A command that changed is reported in either mode. Never rejects.
   */
  mayStart(ensemble: string, command: Readonly<Record<string, unknown>>): Promise<string | undefined>;
  /** True for a request such as `files.resources/read` to a server of which nothing is accepted yet: its resources and prompts are hidden. */
  hides(tool: Tool): boolean;
  /** Ends the look for what other processes accept. */
  close(): void;
}

export interface AcceptOptions {
  /** Vouches for the hints of the tool (read-only, idempotent …), for exactly this definition. */
  readonly confirmAnnotations?: boolean;
  /** The first digits of the hash that `list` gave, sixteen or more: what came after that is not accepted. */
  readonly hash?: string;
}

/** All that one source says at once. */
export interface OfferedEnsemble {
  readonly ensemble: string;
  readonly tools: readonly Tool[];
  /** What an MCP server tells models about itself; empty if it says nothing, absent if that is not known. */
  readonly instructions?: string;
}

/** What may be registered. */
export interface ReviewedEnsemble {
  /** In the order they were offered: each as it was accepted, which is what was offered unless it changed. */
  readonly tools: readonly Tool[];
  /** As they were accepted; absent if there are none, or they are not accepted. */
  readonly instructions?: string;
}

export const PIN_STATES = ["accepted", "changed", "new", "conflict"] as const;

/** One tool, the instructions of one server (`NAME#instructions`), or the command that starts it (`NAME#command`), that was seen. */
export interface Pin {
  readonly id: string;
  /** The source that it belongs to. */
  readonly ensemble: string;
  /** `conflict`: it is accepted, but the shared catalog holds another definition, which no process that runs the tool uses. */
  readonly state: (typeof PIN_STATES)[number];
  /** SHA-256 in hexadecimal digits of what is there now, whatever the order of its parts. */
  readonly hash: string;
  /** Readable lines, `-` for what was accepted and `+` for what is there now; empty if it is accepted. */
  readonly diff: readonly string[];
  /** Milliseconds since the epoch: since when it is in this state. */
  readonly seenAt: number;
  /** Who accepted it; absent if it was accepted at first sight, or is not. */
  readonly acceptedBy?: string;
}
