/** Runs foreign code isolated from the program, with limits on its access and its resources. */
export interface Sandbox {
  readonly name: string;
  readonly kinds: readonly SandboxJob["kind"][];
  /** Returns whether the sandbox works on this machine; if not, the reason and the fix in sentences. */
  available(): Promise<true | string>;
  /**
   * Runs a job. Every failure of the code, including an exceeded limit, is an outcome. Rejects with SANDBOX_FAILED if the job cannot be started or
   * needs a feature that this sandbox lacks, and with CANCELLED soon after the signal fires. Afterwards, no part of the job is running.
   */
  run(job: SandboxJob): Promise<SandboxOutcome>;
}

/** Work for a sandbox: a program or JavaScript code. */
export type SandboxJob = CommandJob | JavaScriptJob;

/** A program and its arguments, which no shell interprets. */
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
  readonly input?: unknown;
  /** Functions of the program that the code can call, as `host.name(argument)`. Only `isolate` supports them. */
  readonly functions?: Readonly<Record<string, HostFunction>>;
}

/** A function of the program that sandboxed code can call. Takes and returns JSON data. If it throws, the code gets only the message. */
export type HostFunction = (argument: unknown, options: { readonly signal: AbortSignal }) => unknown;

/** The access and limits of a job. Everything that is not listed is denied. */
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
  /** The maximum duration, in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum processor time, in milliseconds. Operating systems round it up to whole seconds. */
  readonly cpuMs: number;
  /** The maximum memory in bytes, in addition to what the runtime itself needs. */
  readonly memoryBytes: number;
  /** The maximum total of stdout, stderr and result, in bytes. */
  readonly outputBytes: number;
}

/** Limits that suit a small piece of code. */
export const SANDBOX_LIMITS: SandboxLimits = {
  timeoutMs: 10_000,
  cpuMs: 5_000,
  memoryBytes: 64 * 1024 * 1024,
  outputBytes: 1024 * 1024,
};

/** The end of a job. Everything in it comes from the code, so it is untrusted. */
export interface SandboxOutcome {
  /** `failed`: the code ended with its own error. `timeout`: the time limit ended it. `killed`: another limit or a signal ended it. */
  readonly status: "ok" | "failed" | "timeout" | "killed";
  /** Only for programs that exited on their own. */
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The return value of JavaScript code, as JSON data. Omitted if there is none. */
  readonly result?: unknown;
  /** A sentence that explains any status except `ok`. */
  readonly reason?: string;
}
