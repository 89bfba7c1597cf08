import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { ArsenalError, isArsenalError } from "../../../errors/arsenal-error.ts";
import { type Sandbox, SANDBOX_LIMITS, type SandboxJob, type SandboxOutcome } from "../../../execute/sandbox.port.ts";
import { findProgram } from "../../../system/find-program.ts";
import { runProcess, untilGone, withLimits } from "../subprocess/run-process.ts";
import { environment, runJob } from "../subprocess/subprocess.ts";

/** The bubblewrap program, and the files that its jobs can see. */
export interface BubblewrapSettings {
  /** Defaults to `bwrap` in PATH. */
  readonly program?: string;
  /** Folders with programs and libraries that jobs can read. Defaults to the folders of most Linux systems. */
  readonly systemFolders?: readonly string[];
}

/** The most processes and threads of a job. Node alone has about a dozen. */
const PROCESSES = 128;

/** Runs jobs in Linux namespaces through bubblewrap. They see programs, libraries and the given paths, but no network and no other processes. */
export function bubblewrapSandbox(settings: BubblewrapSettings = {}): Sandbox {
  const { program = "bwrap", systemFolders = SYSTEM_FOLDERS } = settings;
  let works: Promise<true | string> | undefined;

  async function start(job: SandboxJob): Promise<SandboxOutcome> {
    const { limits, signal } = job;
    const node = realpathSync(process.execPath);
    const isNode = job.kind === "javascript";
    const seen = bubblewrapArguments(job, isNode ? [...systemFolders, node] : systemFolders);
    const ended = await runJob(job, "bubblewrap", node, (argv, input) => {
      const confined = withLimits(argv, { ...limits, isNode, processes: PROCESSES });
      return runProcess({
        sandbox: "bubblewrap",
        argv: [findProgram(program) ?? program, "--info-fd", "3", ...seen, ...confined],
        // Set as bwrap's own environment, which the job inherits, so no value appears in the process list.
        env: environment(job),
        cwd: "/",
        input,
        limits,
        signal,
        afterEnd: allGone,
      });
    });
    return endedBySignal(ended);
  }

  /** Runs a test job, because an installed bwrap may lack the permission to create namespaces. */
  async function probe(): Promise<true | string> {
    if (process.platform !== "linux") return "Bubblewrap runs only on Linux. Use isolate or docker.";
    try {
      const { status, stderr, reason } = await start({ kind: "javascript", code: "", limits: SANDBOX_LIMITS });
      if (status === "ok") return true;
      const why = stderr.trim().split("\n").at(-1) ?? "";
      return `${program} cannot confine a program here: ${why === "" ? reason : why}. Allow user namespaces, or use isolate or docker.`;
    } catch (error) {
      if (!isArsenalError(error)) throw error;
      return `${program} cannot be started. Install it: apt-get install bubblewrap.`;
    }
  }

  /** Caches a success. A failure may have been fixed since. */
  async function available(): Promise<true | string> {
    works ??= probe();
    const answer = await works;
    if (answer !== true) works = undefined;
    return answer;
  }

  return {
    name: "bubblewrap",
    kinds: ["command", "javascript"],
    available,
    async run(job) {
      const answer = await available();
      if (answer !== true) throw new ArsenalError("SANDBOX_FAILED", answer, { field: "sandbox", beforeSend: true });
      return start(job);
    },
  };
}

/** Waits until every process of a job has ended. Bwrap ends before the first process of the namespace, which ends last. */
async function allGone(told: string): Promise<void> {
  const first = /"child-pid":\s*(?<pid>\d+)/.exec(told)?.groups?.["pid"];
  if (first === undefined) return;
  await untilGone(() => isLiving(first));
}

/** A process whose status was not collected is still listed, as a zombie. */
function isLiving(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat[stat.lastIndexOf(")") + 2] !== "Z";
  } catch {
    return false;
  }
}

/** Converts an exit code above 128, by which a program between us and the job reports a signal. @internal */
export function endedBySignal(ended: SandboxOutcome): SandboxOutcome {
  const { status, exitCode = 0, ...rest } = ended;
  if (status !== "failed" || exitCode <= 128) return ended;
  return { ...rest, status: "killed", reason: `It was ended by signal ${exitCode - 128}, as happens at a limit.` };
}

export { bubblewrapSandbox as create };

/** Programs and libraries of most systems. These folders contain no user data. @internal */
export const SYSTEM_FOLDERS: readonly string[] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/** Files that a program needs to resolve and verify servers. */
const NETWORK_FILES: readonly string[] = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl"];

/** Returns the arguments for bwrap: a file system with only the named paths, and separate namespaces. @internal */
export function bubblewrapArguments(
  job: Pick<SandboxJob, "read" | "write" | "network" | "limits">,
  programs: readonly string[],
): readonly string[] {
  const { read = [], write = [], network = false, limits } = job;
  const size = String(limits.memoryBytes);
  const parts: readonly (readonly string[])[] = [
    ["--unshare-all"],
    // Without its own user namespace, the job would keep our rights. Within one, it must not create another, in which it would be root.
    ["--unshare-user", "--disable-userns", "--cap-drop", "ALL"],
    network ? ["--share-net"] : [],
    ["--die-with-parent", "--new-session"],
    // The kernel settings in /proc/sys belong to root, even in a namespace. If root starts jobs, they could write them.
    ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"],
    // Files in memory count as memory.
    ["--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--size", size, "--tmpfs", "/tmp"],
    programs.flatMap(showing),
    (network ? NETWORK_FILES : []).flatMap((path) => ["--ro-bind-try", path, path]),
    read.flatMap((path) => ["--ro-bind", path, path]),
    write.flatMap((path) => ["--bind", path, path]),
    // The root is also a file system in memory.
    ["--remount-ro", "/", "--chdir", write[0] ?? "/tmp", "--"],
  ];
  return parts.flat();
}

/** Maps a system path. Links stay links. */
function showing(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}
