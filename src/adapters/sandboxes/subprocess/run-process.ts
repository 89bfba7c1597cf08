import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import type { Worker } from "node:worker_threads";
import { ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import type { SandboxLimits, SandboxOutcome } from "../../../execute/sandbox.port.ts";
import { createMark } from "../../../system/marked-processes.ts";
import { isGroupAlive, signalGroup } from "../../../system/process-group.ts";
import { createWatchdog } from "../../../system/watchdog.ts";
import { setTimeout as sleep } from "node:timers/promises";

export interface ProcessJob {
  /** The name in errors. */
  readonly sandbox: string;
  readonly argv: readonly [program: string, ...rest: string[]];
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input: string;
  readonly limits: Pick<SandboxLimits, "timeoutMs" | "outputBytes">;
  readonly signal?: AbortSignal | undefined;
  /** Ends processes that the program started elsewhere. Called and awaited if the program is killed. */
  readonly onKill?: () => Promise<void>;
  /** Awaited after the program's end. Receives the program's output on descriptor 3, which is open only if this function is given. */
  readonly afterEnd?: (told: string) => Promise<void>;
}

/** How long to wait for the pipes after the program's end. Killed members of the group may still hold them. */
const PIPES_CLOSE_MS = 250;

/** Shared by the whole process. Its shell stays for a while, because the next program often follows soon. */
const watchdog = createWatchdog(undefined, { lingerMs: 10_000 });

/**
 * Runs a program in its own process group, without a shell. When it ends, the whole group is killed. On Linux, processes that left the group are also
 * killed, unless they cleared their environment. The group does not outlive this process, even if this process is killed.
 */
export function runProcess(job: ProcessJob): Promise<SandboxOutcome> {
  const { argv, env, cwd, input, limits, signal, sandbox } = job;
  if (signal?.aborted) return Promise.reject(cancelled(sandbox));
  return new Promise((resolve, reject) => {
    const [program, ...rest] = argv;
    const stdio = Array.from({ length: job.afterEnd === undefined ? 3 : 4 }, () => "pipe" as const);
    const mark = createMark();
    const options = { env: { ...env, ...mark.env }, cwd, detached: true, stdio };
    const child = watchdog.launch(() => spawn(program, rest, options) as ChildProcessWithoutNullStreams);
    let stopped: StopReason | undefined;
    let swept: Promise<void> | undefined;
    let room = limits.outputBytes;

    const stop = (why: StopReason): void => {
      if (stopped !== undefined) return;
      stopped = why;
      killGroup(child);
      swept = job.onKill?.();
    };
    const gather = (stream: Readable): (() => string) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => {
        if (room > 0) chunks.push(chunk.subarray(0, room));
        room -= chunk.length;
        if (room < 0) stop("output");
      });
      return () => Buffer.concat(chunks).toString("utf8");
    };
    const stdout = gather(child.stdout);
    const stderr = gather(child.stderr);
    let told = "";
    child.stdio[3]?.on("data", (chunk: Buffer) => (told += chunk.toString("latin1")));
    const timer = setTimeout(() => stop("timeout"), limits.timeoutMs);
    const onAbort = (): void => stop("cancelled");
    signal?.addEventListener("abort", onAbort, { once: true });
    const release = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };

    // A program may end before it has read its input. The closed pipe is not an error.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.on("error", (cause) => {
      release();
      const problem = `The sandbox "${sandbox}" could not start ${program}: ${cause.message}.`;
      const fix = `Check that ${program} is installed and may be run.`;
      reject(fixable("SANDBOX_FAILED", problem, fix, { field: "argv", value: program, cause, beforeSend: true }));
    });
    child.on("exit", (exitCode, signalName) => {
      // Children of the program must not outlive it.
      killGroup(child);
      release();
      finish(exitCode, signalName).then(resolve, reject);
    });
    const finish = async (exitCode: number | null, signalName: string | null): Promise<SandboxOutcome> => {
      const { pid } = child;
      const gone = pid === undefined ? [] : [mark.endAll(pid), untilGone(() => isGroupAlive(pid))];
      await Promise.all([closed(child), swept, ...gone]);
      if (pid !== undefined) watchdog.forget(pid);
      await job.afterEnd?.(told);
      const written = { stdout: stdout(), stderr: stderr() };
      if (stopped === "cancelled") throw cancelled(sandbox);
      if (stopped === "timeout") return { ...written, status: "timeout", reason: tookTooLong(limits) };
      if (stopped === "output") return { ...written, status: "killed", reason: saidTooMuch(limits) };
      if (exitCode === null)
        return { ...written, status: "killed", reason: `It was ended by ${signalName}, as happens at a limit.` };
      if (exitCode === 0) return { ...written, status: "ok", exitCode };
      return { ...written, status: "failed", exitCode, reason: `It ended with exit code ${exitCode}.` };
    };
  });
}

type StopReason = "timeout" | "output" | "cancelled";

function tookTooLong({ timeoutMs }: Pick<SandboxLimits, "timeoutMs">): string {
  return `It did not end within ${timeoutMs} ms.`;
}

export function saidTooMuch({ outputBytes }: Pick<SandboxLimits, "outputBytes">): string {
  return `It wrote more than ${outputBytes} bytes.`;
}

export function cancelled(sandbox: string): ArsenalError {
  return new ArsenalError("CANCELLED", `The job in the sandbox "${sandbox}" was cancelled.`);
}

/** `detached` made the program the leader of its group, so the group has its id. */
function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) signalGroup(pid, "SIGKILL");
}

async function closed(child: ChildProcess): Promise<void> {
  const timer = setTimeout(() => child.stdio.forEach((stream) => stream?.destroy()), PIPES_CLOSE_MS);
  await once(child, "close");
  clearTimeout(timer);
}

/** Parses JSON from foreign code. Drops `__proto__`, which could change the prototype of an object it is copied into. Throws if the text is not JSON. */
export function readForeign(text: string): unknown {
  if (!text.includes("__proto__") && !text.includes("\\u")) return JSON.parse(text);
  return JSON.parse(text, (key, value: unknown) => (key === "__proto__" ? undefined : value));
}

export type End = Pick<SandboxOutcome, "status" | "reason" | "result">;

/** Reads the outcome of code that wrote `{ result }` or `{ error }` as JSON. */
export function readEnd(text: string): End {
  try {
    const frame = readForeign(text) as { readonly result?: unknown; readonly error?: unknown } | null;
    if (frame?.error !== undefined) return { status: "failed", reason: String(frame.error) };
    return { status: "ok", ...(frame !== null && "result" in frame && { result: frame.result }) };
  } catch {
    return { status: "failed", reason: "Its result cannot be read." };
  }
}

/** Follows a thread until it ends: by `settle`, by the time limit, by a crash, on its own (`lost`), or by cancellation. */
export function followThread(
  worker: Worker,
  job: Pick<ProcessJob, "sandbox" | "limits" | "signal"> & { readonly lost: End },
  listen: (thread: {
    readonly settle: (end: End) => void;
    readonly written: { stdout: string; stderr: string };
    /** Aborted when the outcome is settled. Later messages of the thread are ignored. */
    readonly ended: AbortSignal;
  }) => void,
): Promise<SandboxOutcome> {
  const { sandbox, limits, signal, lost } = job;
  return new Promise((resolve, reject) => {
    const written = { stdout: "", stderr: "" };
    const ending = new AbortController();
    let ended: End | undefined;
    const settle = (end: End): void => {
      ended ??= end;
      ending.abort();
      void worker.terminate();
    };
    const timer = setTimeout(() => settle({ status: "timeout", reason: tookTooLong(limits) }), limits.timeoutMs);
    const onAbort = (): void => settle({ status: "killed" });
    signal?.addEventListener("abort", onAbort, { once: true });
    listen({ settle, written, ended: ending.signal });
    worker.on("error", (error) => settle({ status: "killed", reason: error.message }));
    worker.on("exit", () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      if (signal?.aborted) reject(cancelled(sandbox));
      else resolve({ ...written, ...(ended ?? lost) });
    });
  });
}

/** How long to wait for killed processes to end, and the polling interval, in milliseconds. */
const GONE_WITHIN_MS = 2_000;
const LOOK_EVERY_MS = 5;

/** Waits until killed processes that are not our children have ended. The system does not report their end, so they are polled. */
export async function untilGone(isLiving: () => boolean): Promise<void> {
  for (let waited = 0; waited < GONE_WITHIN_MS && isLiving(); waited += LOOK_EVERY_MS) await sleep(LOOK_EVERY_MS);
}

/** The address space of Node before any code runs. Most of it is reserved for compiled code and never used. */
const NODE_OWN_BYTES = 640 * 1024 * 1024;

const OPEN_FILES = 256;

/** Returns a shell command that sets limits, then becomes the program. Skips limits that are unsupported or already lower. */
export function withLimits(
  argv: readonly [string, ...string[]],
  limited: Pick<SandboxLimits, "cpuMs" | "memoryBytes"> & {
    /** True if the program is our Node, which needs additional memory. */
    readonly isNode: boolean;
    /** The most processes and threads. Systems count them per user, so set this only if the user runs nothing else. */
    readonly processes?: number;
  },
): readonly [string, ...string[]] {
  const { cpuMs, memoryBytes, isNode, processes } = limited;
  const kibibytes = Math.ceil((memoryBytes + (isNode ? NODE_OWN_BYTES : 0)) / 1024);
  const limits = [
    `ulimit -t ${Math.ceil(cpuMs / 1000)}`,
    // Limits private writable memory. Limiting the whole address space would be stricter, but Node reserves far more than it uses.
    `ulimit -d ${kibibytes}`,
    // In blocks of 512 bytes, for each written file.
    `ulimit -f ${Math.ceil(memoryBytes / 512)}`,
    `ulimit -n ${OPEN_FILES}`,
    "ulimit -c 0",
    // Shells have different names for this option.
    ...(processes === undefined ? [] : [`ulimit -u ${processes} || ulimit -p ${processes}`]),
  ];
  return ["/bin/sh", "-c", `{ ${limits.join("; ")}; } 2>/dev/null; exec "$@"`, "sh", ...argv];
}
