export type ProgramSandbox = "quickjs" | "node" | "deno";

/** The limits of one program. A program that exceeds a limit is ended. */
export interface ProgramBounds {
  /** Processor time in milliseconds. */
  readonly cpuMs: number;
  /** Wall time in seconds, including the time in which the program waits for its calls. */
  readonly timeoutS: number;
  readonly memoryBytes: number;
  readonly calls: number;
  /** Maximum number of concurrent calls. Further calls wait. */
  readonly parallelCalls: number;
  /** Maximum size of the value, in bytes of JSON. A larger value is shortened. */
  readonly valueBytes: number;
  /** Maximum size of the printed output, in bytes. The rest is dropped. */
  readonly logBytes: number;
}

export interface BoundNamespace {
  /** The name of the global object; empty for tools that are global functions. */
  readonly name: string;
  /** Ids of tools by function name. */
  readonly tools: Readonly<Record<string, string>>;
}

/** A call that a program makes. Its arguments are JSON text. */
export interface GuestCall {
  readonly id: number;
  /** The tool's id, or `sleep`. */
  readonly tool: string;
  readonly args: string;
}

/** The outcome of a call for the program. `now` becomes the program's current time. */
export type GuestReply = { readonly id: number; readonly now: number } & (
  | { readonly value: string | undefined }
  | { readonly error: { readonly message: string; readonly code?: string; readonly status: string } }
);

/** A program that a host can run. */
export interface ProgramJob {
  readonly code: string;
  readonly namespaces: readonly BoundNamespace[];
  readonly input?: unknown;
  readonly bounds: ProgramBounds;
  /** The seed of the program's random numbers. */
  readonly seed: string;
  /** The program's current time at its start, in milliseconds since the epoch. */
  readonly now: number;
  readonly signal: AbortSignal;
  /** Identifies the caller. Programs that compute for long slow down only later programs of the same caller. */
  readonly caller: string;
  /** 1 for a program that no other run called. Each depth has its own places, so that no program waits for the program that called it. */
  readonly depth: number;
  /** Called with the calls of one step of the program, and the number of calls that it waits for. `reply` returns the outcomes. */
  onCalls(calls: readonly GuestCall[], waiting: number): void;
}

/** The outcome of a program. All of it comes from the program and is untrusted. */
export interface ProgramOutcome {
  /** JSON text; undefined if the program has no value. */
  readonly value?: string;
  readonly error?: { readonly message: string; readonly line?: number };
  readonly logs: readonly string[];
  /** Names the part that was cut from the value, and how to get the rest. */
  readonly truncated?: string;
}

export interface StartedProgram {
  reply(replies: readonly GuestReply[]): void;
  /** Rejects with CANCELLED when the signal fires. */
  readonly ended: Promise<ProgramOutcome>;
  /** Ends the program. `ended` then resolves with the output printed so far. */
  stop(reason: string): void;
}

/** Runs programs isolated from this process's own code: in threads, or in confined processes. */
export interface ProgramHost {
  readonly name: string;
  /** Rejects with SANDBOX_FAILED or LIBRARY_MISSING, and a fix, if programs cannot run here. */
  check(): Promise<void>;
  prepare(): void;
  start(job: ProgramJob): StartedProgram;
  close(): Promise<void>;
}
