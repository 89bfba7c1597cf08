import type { SandboxJob } from "../../../execute/sandbox.port.ts";

/** Processes and threads of a job at once. */
const PROCESSES = 128;

/** What Node needs for itself, beside the memory of the code it runs. */
const NODE_OWN_BYTES = 128 * 1024 * 1024;

/** What `docker` is told to run one job in a container of its own, up to and with the image. Values of variables are not in it. */
export function dockerArguments(
  job: Pick<SandboxJob, "kind" | "read" | "write" | "network" | "limits" | "env">,
  { image, name, user }: { readonly image: string; readonly name: string; readonly user: string },
): readonly string[] {
  const { read = [], write = [], network = false, limits, env = {} } = job;
  const memory = String(limits.memoryBytes + (job.kind === "javascript" ? NODE_OWN_BYTES : 0));
  const parts: readonly (readonly string[])[] = [
    ["run", "--rm", "--interactive", "--name", name, "--pull", "never", "--init"],
    ["--network", network ? "bridge" : "none"],
    ["--read-only", "--tmpfs", `/tmp:rw,noexec,nosuid,nodev,size=${limits.memoryBytes}`],
    // As much swap as memory means none.
    ["--memory", memory, "--memory-swap", memory, "--cpus", "1", "--pids-limit", String(PROCESSES)],
    ["--ulimit", `cpu=${Math.ceil(limits.cpuMs / 1000)}`, "--ulimit", "core=0"],
    ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", user],
    read.flatMap((path) => ["--volume", `${path}:${path}:ro`]),
    write.flatMap((path) => ["--volume", `${path}:${path}`]),
    ["--workdir", write[0] ?? "/tmp"],
    // The command line takes the values from its own environment, which no list of processes shows.
    Object.keys(env).flatMap((variable) => ["--env", variable]),
    [image],
  ];
  return parts.flat();
}
