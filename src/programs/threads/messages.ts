import type { ProgramBounds, ProgramJob, ProgramOutcome } from "../program.ts";

export interface ThreadData {
  /** The compiled interpreter, a WebAssembly.Module. */
  readonly interpreter: object;
  readonly memoryBytes: number;
  /** Counts the messages to the thread. While its program waits for calls, the thread sleeps on this counter until the next message. */
  readonly wake: Int32Array<SharedArrayBuffer>;
}

/** A message to a thread: a start, results as text, or `drop`, which discards the program. */
export type ToThread =
  | ({
      readonly kind: "start";
      readonly isSlow: boolean;
      readonly seed: readonly number[];
      readonly bounds: ProgramBounds;
    } & Pick<ProgramJob, "code" | "namespaces" | "input" | "now">)
  | string
  | { readonly kind: "drop" };

/**
 * A message from a thread: a step of the program as text, or one of these objects. `isSlow`: the thread has the lowest priority from now on. `ms`:
 * the processor time of the program or of the preparation.
 */
export type FromThread =
  | { readonly kind: "ready"; readonly isSlow: boolean; readonly ms: number }
  | string
  | { readonly kind: "ended"; readonly outcome: ProgramOutcome; readonly isSlow: boolean; readonly ms: number };
