import type { SandboxLimits, SandboxOutcome } from "../../../execute/sandbox.port.ts";

/** What the thread of one job begins with. */
export interface ThreadStart {
  /** The compiled interpreter, a WebAssembly.Module. */
  readonly interpreter: object;
  readonly code: string;
  /** JSON text. */
  readonly input: string;
  /** Names of the functions that the code can call. */
  readonly functions: readonly string[];
  readonly limits: SandboxLimits;
}

/** What the thread says: the code wrote something, calls a function, or ended. Values are JSON text, absent where undefined. */
export type FromThread =
  | { readonly kind: "wrote"; readonly stream: "stdout" | "stderr"; readonly text: string }
  | { readonly kind: "call"; readonly id: number; readonly name: string; readonly argument?: string }
  | {
      readonly kind: "end";
      readonly status: SandboxOutcome["status"];
      readonly result?: string;
      readonly reason?: string;
    };

/** How a call of a function ended. */
export type ToThread =
  | { readonly id: number; readonly value?: string }
  | { readonly id: number; readonly error: string };
