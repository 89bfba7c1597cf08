import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { constants, setPriority } from "node:os";
import { bubblewrapArguments, SYSTEM_FOLDERS } from "../../adapters/sandboxes/bubblewrap/bubblewrap.ts";
import { withLimits } from "../../adapters/sandboxes/subprocess/run-process.ts";
import { signalGroup } from "../../system/process-group.ts";
import type { FromGuest, ToGuest } from "../guest/process-messages.ts";
import type { ProgramBounds } from "../program.ts";
import type { ConfinedRuntime } from "./runtimes.ts";

/** Maximum number of threads and processes. The runtimes have about a dozen threads. */
const PROCESSES = 128;

/** Allowance for the runtime itself in the operating system's limit of processor time, which is a second line of defence. */
const OWN_CPU_MS = 10_000;

/** How much of the end of the process's standard error is kept, in bytes. */
const MOST_ERROR = 4_096;

/** Length of one clock tick in `/proc`, in milliseconds. Linux has used 100 ticks per second on every platform for decades. */
const TICK_MS = 10;
const PAGE_BYTES = 4_096;

export interface ProcessUsage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

/** A sandboxed process that runs one program. */
export interface ConfinedProcess {
  send(message: ToGuest): void;
  /** Undefined if the process has ended. */
  usage(): ProcessUsage | undefined;
  /** Sets whether the gateway's process stays alive for this process. */
  hold(isHeld: boolean): void;
  kill(): void;
}

/** Starts a runtime in bubblewrap: no network, no environment variables, and no files except the runtime's and the system's libraries. */
export function startConfined(
  { bubblewrap, shown, env, argv }: ConfinedRuntime,
  bounds: Pick<ProgramBounds, "cpuMs" | "memoryBytes">,
  on: {
    message(message: FromGuest): void;
    /** Called once when the process has ended, for any reason. */
    lost(why: string): void;
  },
): ConfinedProcess {
  const { memoryBytes } = bounds;
  const limits = { cpuMs: bounds.cpuMs + OWN_CPU_MS, memoryBytes, timeoutMs: 0, outputBytes: 0 };
  const child = spawn(
    bubblewrap,
    [
      "--info-fd",
      "3",
      "--as-pid-1",
      "--clearenv",
      ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
      ...shown.flatMap(([from, to]) => ["--ro-bind", from, to]),
      ...bubblewrapArguments({ limits }, SYSTEM_FOLDERS),
      ...withLimits(argv, { ...limits, isNode: true, processes: PROCESSES }),
    ],
    { env: {}, cwd: "/", detached: true, stdio: ["pipe", "pipe", "pipe", "pipe"] },
  );
  const [stdin, stdout, stderr, info] = child.stdio as unknown as readonly [Writable, Readable, Readable, Readable];
  let isLost = false;
  let pid: number | undefined;
  let told = "";
  let errors = "";
  let line: Buffer[] = [];
  let length = 0;

  function lost(why: string): void {
    if (isLost) return;
    isLost = true;
    kill();
    on.lost(why);
  }

  function kill(): void {
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
  }

  function read(text: string): void {
    if (isLost) return;
    let message: FromGuest;
    try {
      message = JSON.parse(text) as FromGuest;
      if (!isMessage(message)) throw new Error("not a message");
    } catch {
      return lost("it wrote something that is not a message of a program");
    }
    on.message(message);
  }

  stdout.on("data", (chunk: Buffer) => {
    let rest = chunk;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const text = Buffer.concat([...line, rest.subarray(0, at)]).toString("utf8");
      rest = rest.subarray(at + 1);
      line = [];
      length = 0;
      read(text);
    }
    if (rest.length > 0) line.push(rest);
    length += rest.length;
    if (length > memoryBytes) lost("it wrote a message that is larger than its memory");
  });
  stderr.on("data", (chunk: Buffer) => (errors = (errors + chunk.toString("utf8")).slice(-MOST_ERROR)));
  info.on("data", (chunk: Buffer) => {
    told += chunk.toString("latin1");
    const found = /"child-pid":\s*(?<pid>\d+)/.exec(told)?.groups?.["pid"];
    if (found === undefined || pid !== undefined) return;
    pid = Number(found);
    // A program that computes must not slow down the gateway.
    try {
      setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // The process has already ended.
    }
  });
  stdin.on("error", () => {});
  child.on("error", (error) => lost(error.message));
  child.on("close", (code, signal) => lost(reasonOf(errors, signal ?? `exit code ${code}`)));

  return {
    send(message) {
      if (!isLost) stdin.write(`${JSON.stringify(message)}\n`);
    },
    usage: () => (pid === undefined ? undefined : usageOf(pid)),
    hold(isHeld) {
      const how = isHeld ? "ref" : "unref";
      child[how]();
      // The pipes of a child are sockets.
      for (const stream of child.stdio) (stream as unknown as { ref?(): void; unref?(): void } | null)?.[how]?.();
    },
    kill() {
      isLost = true;
      kill();
    },
  };
}

/** Checks the members that are used, because a program that left its realm can write anything. */
function isMessage(message: unknown): message is FromGuest {
  if (typeof message !== "object" || message === null) return false;
  const { kind, calls, waiting, line, outcome } = message as Record<string, unknown>;
  switch (kind) {
    case "ready":
      return true;
    case "print":
      return typeof line === "string";
    case "step":
      return Number.isInteger(waiting) && Array.isArray(calls) && calls.every(isCall);
    case "ended":
      return typeof outcome === "object" && outcome !== null && isOutcome(outcome as Record<string, unknown>);
    default:
      return false;
  }
}

function isCall(call: unknown): boolean {
  const { id, tool, args } = (call ?? {}) as Record<string, unknown>;
  return Number.isInteger(id) && typeof tool === "string" && typeof args === "string";
}

function isOutcome({ value, truncated, error }: Record<string, unknown>): boolean {
  const isText = (given: unknown): boolean => given === undefined || typeof given === "string";
  if (error === undefined) return isText(value) && isText(truncated);
  const { message, line } = (error ?? {}) as Record<string, unknown>;
  return typeof message === "string" && (line === undefined || Number.isInteger(line));
}

/** Returns the reason why a runtime ended, from its last line of output. */
function reasonOf(errors: string, end: string): string {
  if (/out of memory|allocation failed|bad_alloc/i.test(errors)) return "out of memory";
  const lines = errors.trim().split("\n");
  const last = lines.findLast((line) => /error|denied|cannot|permission|bwrap/i.test(line)) ?? lines.at(-1) ?? "";
  return last === "" ? `its process ended with ${end}` : last.slice(0, 300);
}

function usageOf(pid: number): ProcessUsage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [user, system, resident] = [fields[11], fields[12], fields[21]].map(Number) as [number, number, number];
    return { cpuMs: (user + system) * TICK_MS, memoryBytes: resident * PAGE_BYTES };
  } catch {
    return undefined;
  }
}
