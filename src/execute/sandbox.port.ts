/** Runs foreign code isolated from the program, with limits on what the code may touch and how much of the machine it may take. */
export interface Sandbox {
  readonly name: string;
  /** The kinds of job it can run. */
  readonly kinds: readonly SandboxJob["kind"][];
  /** Returns whether the sandbox works on this machine; if not, the reason and the fix in sentences. */
  available(): Promise<true | string>;
  /**
   * Everything that the code does, breaks or exceeds is an outcome. Rejects with SANDBOX_FAILED if the job cannot be started or needs something
   * that this sandbox cannot give, and with CANCELLED soon after the signal fires. No part of the job keeps running afterwards.
   */
  run(job: SandboxJob): Promise<SandboxOutcome>;
}

/** A piece of work for a sandbox. */
export type SandboxJob = CommandJob | JavaScriptJob;

/** A program and its arguments. No shell reads them. */
export interface CommandJob extends JobBounds {
  readonly kind: "command";
  readonly argv: readonly [program: string, ...rest: string[]];
  /** The program's stdin. Defaults to empty. */
  readonly input?: string;
}

/** JavaScript. Its return value is the result. */
export interface JavaScriptJob extends JobBounds {
  readonly kind: "javascript";
  /** The body of an async function with the one parameter `input`. */
  readonly code: string;
  /** JSON data. */
  readonly input?: unknown;
  /** Functions of the program that the code can call, as `host.name(argument)`. Only `isolate` has them. */
  readonly functions?: Readonly<Record<string, HostFunction>>;
}

/**
 * A function of the program that confined code can call. JSON data goes in and comes out; if the function throws, the code gets only the message.
 */
export type HostFunction = (argument: unknown, options: { readonly signal: AbortSignal }) => unknown;

/** The access and limits of a job. The job gets nothing that is not listed. */
export interface JobBounds {
  /** Environment variables, in addition to `PATH` and `LANG`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute paths of folders and files that the job may read. */
  readonly read?: readonly string[];
  /** Absolute paths of folders that the job may read and write. */
  readonly write?: readonly string[];
  readonly network?: boolean;
  readonly limits: SandboxLimits;
  readonly signal?: AbortSignal;
}

/** The resource limits of a job. */
export interface SandboxLimits {
  /** Milliseconds from the start to the end. */
  readonly timeoutMs: number;
  /** Milliseconds of computing. Systems count whole seconds, so there it is rounded up. */
  readonly cpuMs: number;
  /** Bytes of memory, in addition to what the runtime needs for itself. */
  readonly memoryBytes: number;
  /** Bytes of stdout, stderr and result together. */
  readonly outputBytes: number;
}

/** Limits for a small piece of code. */
export const SANDBOX_LIMITS: SandboxLimits = {
  timeoutMs: 10_000,
  cpuMs: 5_000,
  memoryBytes: 64 * 1024 * 1024,
  outputBytes: 1024 * 1024,
};

/** The end of a job. Everything in it comes from the code and is untrusted. */
export interface SandboxOutcome {
  /** `failed`: the code ended with an error of its own. `timeout`: time ran out. `killed`: another limit, or a signal, ended it. */
  readonly status: "ok" | "failed" | "timeout" | "killed";
  /** Only for a program that ended by itself. */
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The return value of JavaScript, as JSON data; omitted if it returned nothing. */
  readonly result?: unknown;
  /** The reason why the status is not `ok`, as a sentence. */
  readonly reason?: string;
}
