import { randomUUID } from "node:crypto";
import { fixable } from "../../../errors/arsenal-error.ts";
import { type Sandbox, SANDBOX_LIMITS, type SandboxJob, type SandboxOutcome } from "../../../execute/sandbox.port.ts";
import { endedBySignal } from "../bubblewrap/bubblewrap.ts";
import { runProcess } from "../subprocess/run-process.ts";
import { runJob } from "../subprocess/subprocess.ts";

/** The container engine and the image. */
export interface DockerSettings {
  /** The image of jobs, which must already be present. JavaScript needs an image with Node 22.19 or newer. Defaults to `node:24-slim`. */
  readonly image?: string;
  /** The command line. Defaults to `docker`; `podman` accepts the same arguments. */
  readonly program?: string;
}

/** Exit code of the command line if the container could not be started. */
const NOT_STARTED = 125;

/** The time that the engine may take to start and to clean up, in milliseconds. The job's own time is added. */
const ENGINE_MS = 10_000;

/** Runs each job in its own container, without network and capabilities, with a read-only file system and with limits that the kernel enforces. */
export function dockerSandbox(settings: DockerSettings = {}): Sandbox {
  const { image = "node:24-slim", program = "docker" } = settings;

  const ask = (...argv: readonly string[]): Promise<SandboxOutcome> =>
    runProcess({
      sandbox: "docker",
      argv: [program, ...argv],
      env: engineEnvironment(),
      cwd: "/",
      input: "",
      limits: { ...SANDBOX_LIMITS, timeoutMs: ENGINE_MS },
    });

  async function start(job: SandboxJob, argv: readonly string[], input: string): Promise<SandboxOutcome> {
    const name = `toolarsenal-${randomUUID()}`;
    const ended = await runProcess({
      sandbox: "docker",
      argv: [program, ...dockerArguments(job, { image, name, user: containerUser() }), ...argv],
      env: { ...engineEnvironment(), ...job.env },
      cwd: "/",
      input,
      limits: job.limits,
      signal: job.signal,
      // The container is a child of the engine. Ending the command line leaves it running.
      onKill: async () => void (await ask("rm", "--force", name)),
    });
    if (ended.exitCode === NOT_STARTED) {
      const problem = `The container could not be started: ${lastLine(ended.stderr)}.`;
      const fix = "See available() for what is missing.";
      throw fixable("SANDBOX_FAILED", problem, fix, { field: "sandbox", beforeSend: true });
    }
    return endedBySignal(ended);
  }

  return {
    name: "docker",
    kinds: ["command", "javascript"],
    async available() {
      try {
        const engine = await ask("info");
        if (engine.status !== "ok")
          return `${program} cannot reach its container engine: ${lastLine(engine.stderr)}. Start the engine.`;
        const found = await ask("image", "inspect", image);
        return found.status === "ok" ? true : `The image ${image} was not found. Pull it: ${program} pull ${image}.`;
      } catch {
        return `${program} cannot be started. Install Docker, or use isolate.`;
      }
    },
    run: (job) => runJob(job, "docker", "node", (argv, input) => start(job, argv, input)),
  };
}

/** Returns our own user, so jobs can write to permitted paths. If that is root, returns an unprivileged user. */
function containerUser(): string {
  const [id, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  return id === 0 ? "65534:65534" : `${id}:${group}`;
}

function engineEnvironment(): Record<string, string> {
  const names = "PATH HOME DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT DOCKER_CERT_PATH XDG_RUNTIME_DIR".split(" ");
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.replace(/\W+$/, "") ?? "";
}

export { dockerSandbox as create };

const PROCESSES = 128;

/** The memory of Node itself, in addition to the memory of the job's code. */
const NODE_OWN_BYTES = 128 * 1024 * 1024;

/**
 * Returns the arguments for `docker` that run one job in its own container, up to and including the image. They contain no values of variables.
 * @internal
 */
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
    // A swap limit equal to the memory limit means no swap.
    ["--memory", memory, "--memory-swap", memory, "--cpus", "1", "--pids-limit", String(PROCESSES)],
    ["--ulimit", `cpu=${Math.ceil(limits.cpuMs / 1000)}`, "--ulimit", "core=0"],
    ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", user],
    read.flatMap((path) => ["--volume", `${path}:${path}:ro`]),
    write.flatMap((path) => ["--volume", `${path}:${path}`]),
    ["--workdir", write[0] ?? "/tmp"],
    // The command line takes the values from its own environment, which no process list shows.
    Object.keys(env).flatMap((variable) => ["--env", variable]),
    [image],
  ];
  return parts.flat();
}
