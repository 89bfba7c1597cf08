/** The runtimes that programs can run in. */
export type ProgramSandbox = "quickjs" | "node" | "deno";

/** The bounds of one program. A program that exceeds one is ended. */
export interface ProgramBounds {
  /** Milliseconds of processor time. */
  readonly cpuMs: number;
  /** Seconds from start to end, with the time in which it waits for its calls. */
  readonly timeoutS: number;
  readonly memoryBytes: number;
  readonly calls: number;
  /** The most calls at the same time. Further calls wait. */
  readonly parallelCalls: number;
  /** The most bytes of its value, as JSON. A larger value is cut. */
  readonly valueBytes: number;
  /** The most bytes that it prints. The rest is dropped. */
  readonly logBytes: number;
}

/** The tools of a namespace that a program can call, by the name that the program uses. */
export interface BoundNamespace {
  /** The name of the global object; empty for tools that are functions of their own. */
  readonly name: string;
  /** Ids of tools by the name of their function. */
  readonly tools: Readonly<Record<string, string>>;
}

/** A call that a program makes. Its arguments are JSON text. */
export interface GuestCall {
  readonly id: number;
  /** The tool's id, or `sleep`. */
  readonly tool: string;
  readonly args: string;
}

/** The outcome of a call for the program. `now` is the program's time from then on. */
export type GuestReply = { readonly id: number; readonly now: number } & (
  | { readonly value: string | undefined }
  | { readonly error: { readonly message: string; readonly code?: string; readonly status: string } }
);

/** A program that a host can run. */
export interface ProgramJob {
  readonly code: string;
  readonly namespaces: readonly BoundNamespace[];
  /** JSON data that the program finds as `input`. */
  readonly input?: unknown;
  readonly bounds: ProgramBounds;
  /** The seed of the program's random numbers. */
  readonly seed: string;
  /** The program's time at its start, in milliseconds since the epoch. */
  readonly now: number;
  readonly signal: AbortSignal;
  /** Identifies the caller: programs that compute for long slow down the later ones of the same caller alone. */
  readonly caller: string;
  /** 1 for a program that no other run called. Each depth has places of its own: a program never waits for the place of the one that called it. */
  readonly depth: number;
  /** Called with the calls of one step of the program, and the number of calls that it waits for. Replies go to `reply`. */
  onCalls(calls: readonly GuestCall[], waiting: number): void;
}

/** The end of a program. Everything in it comes from the program and is untrusted. */
export interface ProgramOutcome {
  /** JSON text; undefined if the program has no value. */
  readonly value?: string;
  readonly error?: { readonly message: string; readonly line?: number };
  readonly logs: readonly string[];
  /** Names the part that was cut from the value, and how to get the rest. */
  readonly truncated?: string;
}

/** A program that runs. */
export interface StartedProgram {
  reply(replies: readonly GuestReply[]): void;
  /** Rejects with CANCELLED when the signal fires. */
  readonly ended: Promise<ProgramOutcome>;
  /** Ends the program at once. `ended` then resolves with what it printed so far. */
  stop(reason: string): void;
}

/** Runs programs apart from this process's own code: in threads, or in confined processes. */
export interface ProgramHost {
  readonly name: string;
  /** Rejects with SANDBOX_FAILED or LIBRARY_MISSING, and the fix, if programs cannot run here. */
  check(): Promise<void>;
  /** Gets ready for the first program. */
  prepare(): void;
  start(job: ProgramJob): StartedProgram;
  close(): Promise<void>;
}
