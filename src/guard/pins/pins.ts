import type { Principal } from "../principal.ts";
import type { Finding } from "../scan/finding.ts";
import type { Tool } from "../../tool/tool.ts";

/** The accepted version of each source: its tools and its instructions. */
export interface Pins {
  /** Returns the accepted version of a server's instructions for models, whatever the server offers now. Never rejects. */
  instructions(ensemble: string, offered: string | undefined): Promise<string | undefined>;
  /** Lists every item that a source has offered: accepted, changed or never accepted. */
  list(options?: ListPinsOptions): Promise<readonly Pin[]>;
  /**
   * Accepts the current version of a tool or of a server's instructions. Rejects with INPUT_INVALID if no item with that id is pending or its hash is
   * not `hash`, and with PERMISSION_DENIED if the principal lacks the role `approver`.
   */
  accept(id: string, by: Principal, options?: AcceptOptions): Promise<void>;
  /** Rejects the current version, so it no longer waits. A later change waits again. Fails like `accept`. */
  refuse(id: string, by: Principal, options?: Pick<AcceptOptions, "hash">): Promise<void>;
}

/** Which pins are listed. */
export interface ListPinsOptions {
  readonly id?: string | undefined;
  readonly states?: readonly Pin["state"][] | undefined;
  /** Shows whole values in `diff`, not excerpts. */
  readonly whole?: boolean | undefined;
  /** Also scans the items that wait for acceptance. */
  readonly findings?: boolean | undefined;
}

/** Blocks calls of tools that differ from the accepted version. In the mode `all`, a tool is hidden until an operator accepts it. */
export interface PinGuard extends Pins {
  /** Compares a source's offer with the accepted version, and stores new items. Never rejects. */
  review(offer: OfferedEnsemble): Promise<ReviewedEnsemble>;
  /** Returns why a tool may not be called now; undefined if it may. Fast for a tool without a pending change. */
  refusal(tool: Tool): string | undefined | Promise<string | undefined>;
  /**
   * Returns why the command of a configured server may not be started; undefined if it may. In the mode `all`, an operator must have accepted exactly
   * this command. Both modes report a changed command. Never rejects.
   */
  mayStart(ensemble: string, command: Readonly<Record<string, unknown>>): Promise<string | undefined>;
  /** Returns true for requests to a server without accepted items, such as `files.resources/read`: its resources and prompts are hidden. */
  hides(tool: Tool): boolean;
  /** Stops polling for acceptances by other processes. */
  close(): void;
}

/** How pins are accepted. */
export interface AcceptOptions {
  /** Confirms the hints of the tool (read-only, idempotent …), for exactly this definition. */
  readonly confirmAnnotations?: boolean;
  /** At least the first 16 digits of the hash from `list`. A version with another hash is not accepted. */
  readonly hash?: string;
}

export interface OfferedEnsemble {
  readonly ensemble: string;
  readonly tools: readonly Tool[];
  /** An MCP server's instructions for models; empty if it has none, omitted if unknown. */
  readonly instructions?: string;
}

export interface ReviewedEnsemble {
  /** The accepted versions, in the order of the offer. Without a pending change, that is the offered version. */
  readonly tools: readonly Tool[];
  /** The accepted instructions. Omitted if there are none, or they were not accepted. */
  readonly instructions?: string;
}

export const PIN_STATES = ["accepted", "changed", "new", "conflict"] as const;

/** A tool, the instructions of a server (`NAME#instructions`), or the command that starts it (`NAME#command`). */
export interface Pin {
  readonly id: string;
  readonly ensemble: string;
  /** `conflict`: the item is accepted, but the shared catalog has a different definition. No process that runs the tool uses that definition. */
  readonly state: (typeof PIN_STATES)[number];
  /** SHA-256 of the current version, in hexadecimal digits. The order of its parts is irrelevant. */
  readonly hash: string;
  /** Readable lines: `-` for the accepted version, `+` for the current one. Empty if the item is accepted. */
  readonly diff: readonly string[];
  /** When the item entered this state, in milliseconds since the epoch. */
  readonly seenAt: number;
  /** The person who accepted the item. Omitted if it was accepted on first sight, or is not accepted. */
  readonly acceptedBy?: string;
  /** The person who rejected exactly this version. */
  readonly refusedBy?: string;
  /** The scanner's findings, if they were requested and the item is not accepted. Omitted if definitions are not scanned. */
  readonly findings?: readonly PinFinding[];
}

/** A sign of an attack in the current version. */
export type PinFinding = Pick<Finding, "rule" | "severity" | "message" | "path" | "excerpt" | "hidden">;
