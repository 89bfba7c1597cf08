import type { SandboxLimits } from "../../../execute/sandbox.port.ts";

/** Address space that Node takes before any code runs. Most of it is reserved for compiled code and never used. */
const NODE_OWN_BYTES = 640 * 1024 * 1024;

/** Files a job may have open. */
const OPEN_FILES = 256;

/** Which limits the system keeps for a program. */
export interface ProcessLimits extends Pick<SandboxLimits, "cpuMs" | "memoryBytes"> {
  /** True where the program is our Node, which needs memory of its own. */
  readonly isNode: boolean;
  /** Processes and threads at once. Systems count those of a user, so it fits only where the user is the job's own. */
  readonly processes?: number;
}

/**
 * A command that puts limits on itself and becomes the program. A shell reads the numbers; the program and its arguments are handed through
 * as they are. A limit that the system does not know, or that is lower already, is passed over.
 */
export function withLimits(
  argv: readonly [string, ...string[]],
  { cpuMs, memoryBytes, isNode, processes }: ProcessLimits,
): readonly [string, ...string[]] {
  const kibibytes = Math.ceil((memoryBytes + (isNode ? NODE_OWN_BYTES : 0)) / 1024);
  const limits = [
    `ulimit -t ${Math.ceil(cpuMs / 1000)}`,
    // Private memory that can be written. The whole address space would be the stricter limit, but Node reserves far more than it uses.
    `ulimit -d ${kibibytes}`,
    // Blocks of 512 bytes, for each file that is written.
    `ulimit -f ${Math.ceil(memoryBytes / 512)}`,
    `ulimit -n ${OPEN_FILES}`,
    "ulimit -c 0",
    // Shells spell this one differently.
    ...(processes === undefined ? [] : [`ulimit -u ${processes} || ulimit -p ${processes}`]),
  ];
  return ["/bin/sh", "-c", `{ ${limits.join("; ")}; } 2>/dev/null; exec "$@"`, "sh", ...argv];
}
