import type { Principal } from "../principal.ts";
import type { Finding } from "../scan/finding.ts";
import type { Tool } from "../../tool/tool.ts";

/** The accepted version of each source: its tools and its instructions. */
export interface Pins {
  /** A server's instructions for models: the accepted version, whatever it offers now. Never rejects. */
  instructions(ensemble: string, offered: string | undefined): Promise<string | undefined>;
  /** Every item seen, by id: accepted, changed or never accepted. */
  list(options?: ListPinsOptions): Promise<readonly Pin[]>;
  /**
   * Accepts a tool, or a server's instructions, in its current version. Rejects with INPUT_INVALID if nothing with that id is pending or its hash is
   * not `hash`, and with PERMISSION_DENIED if the principal lacks the role `approver`.
   */
  accept(id: string, by: Principal, options?: AcceptOptions): Promise<void>;
  /** Keeps refusing the current version, so that it no longer waits. A later change waits again. Rejects as `accept` does. */
  refuse(id: string, by: Principal, options?: Pick<AcceptOptions, "hash">): Promise<void>;
}

/** Which pins are listed. */
export interface ListPinsOptions {
  /** Only the item with this id. */
  readonly id?: string | undefined;
  /** Only items in one of these states. */
  readonly states?: readonly Pin["state"][] | undefined;
  /** Whole values in `diff`, not excerpts. */
  readonly whole?: boolean | undefined;
  /** Also scans the items that are not accepted. */
  readonly findings?: boolean | undefined;
}

/** Blocks calls of tools that differ from the accepted version. In the mode `all`, a tool is hidden until an operator accepts it. */
export interface PinGuard extends Pins {
  /** Compares a source's offer with the accepted version, and stores new items. Never rejects. */
  review(offer: OfferedEnsemble): Promise<ReviewedEnsemble>;
  /** Why a tool may not be called now; undefined if it may. Cheap for a tool without a pending change. */
  refusal(tool: Tool): string | undefined | Promise<string | undefined>;
  /**
   * Why the command of a configured server may not be started; undefined if it may. In the mode `all`, an operator must have accepted exactly this
   * command. A changed command is reported in both modes. Never rejects.
   */
  mayStart(ensemble: string, command: Readonly<Record<string, unknown>>): Promise<string | undefined>;
  /** Returns true for a request such as `files.resources/read` to a server without any accepted item: its resources and prompts are hidden. */
  hides(tool: Tool): boolean;
  /** Stops polling for acceptances of other processes. */
  close(): void;
}

/** How pins are accepted. */
export interface AcceptOptions {
  /** Confirms the hints of the tool (read-only, idempotent …), for exactly this definition. */
  readonly confirmAnnotations?: boolean;
  /** The first digits of the hash from `list`, sixteen or more: later versions are not accepted. */
  readonly hash?: string;
}

/** The complete offer of one source. */
export interface OfferedEnsemble {
  readonly ensemble: string;
  readonly tools: readonly Tool[];
  /** An MCP server's instructions for models; empty if it has none, omitted if unknown. */
  readonly instructions?: string;
}

/** The items that may be registered. */
export interface ReviewedEnsemble {
  /** In the order of the offer: each in the accepted version, which is the offered one unless it changed. */
  readonly tools: readonly Tool[];
  /** The accepted instructions; omitted if there are none, or they are not accepted. */
  readonly instructions?: string;
}

export const PIN_STATES = ["accepted", "changed", "new", "conflict"] as const;

/** A tool, the instructions of a server (`NAME#instructions`), or the command that starts it (`NAME#command`). */
export interface Pin {
  readonly id: string;
  /** The source of the item. */
  readonly ensemble: string;
  /** `conflict`: it is accepted, but the shared catalog has a different definition, which no process that runs the tool uses. */
  readonly state: (typeof PIN_STATES)[number];
  /** SHA-256 in hexadecimal digits of the current version, independent of the order of its parts. */
  readonly hash: string;
  /** Readable lines, `-` for the accepted version and `+` for the current one; empty if it is accepted. */
  readonly diff: readonly string[];
  /** Milliseconds since the epoch when it entered this state. */
  readonly seenAt: number;
  /** The person who accepted it; omitted if it was accepted on first sight, or is not. */
  readonly acceptedBy?: string;
  /** The person who decided to keep refusing exactly this version. */
  readonly refusedBy?: string;
  /** The scanner's findings in an item that is not accepted, if they were requested. Omitted if definitions are not scanned. */
  readonly findings?: readonly PinFinding[];
}

/** A sign of an attack in the current version. */
export type PinFinding = Pick<Finding, "rule" | "severity" | "message" | "path" | "excerpt" | "hidden">;
