import type { BoundNamespace, GuestCall, GuestReply, ProgramOutcome } from "../program.ts";

/** A message to the process of a program: one line of JSON on its standard input. */
export type ToGuest =
  | {
      readonly kind: "start";
      readonly code: string;
      readonly namespaces: readonly BoundNamespace[];
      readonly input?: unknown;
      readonly seed: readonly number[];
      readonly now: number;
      readonly calls: number;
      readonly valueBytes: number;
      readonly logBytes: number;
    }
  | { readonly kind: "replies"; readonly replies: readonly GuestReply[] };

/** A message from the process of a program: one line of JSON on its standard output. `step`: the program waits for this many calls. */
export type FromGuest =
  | { readonly kind: "ready" }
  | { readonly kind: "print"; readonly line: string }
  | { readonly kind: "step"; readonly calls: readonly GuestCall[]; readonly waiting: number }
  | { readonly kind: "ended"; readonly outcome: Omit<ProgramOutcome, "logs"> };
