import { randomUUID } from "node:crypto";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { SANDBOX_LIMITS, type Sandbox, type SandboxJob, type SandboxOutcome } from "../../../execute/sandbox.port.ts";
import { endedBySignal } from "../bubblewrap/bubblewrap.ts";
import { runProcess } from "../subprocess/run-process.ts";
import { programOf } from "../subprocess/subprocess.ts";
import { dockerArguments } from "./docker-arguments.ts";

/** Which engine, and which image. */
export interface DockerSettings {
  /** The image jobs run in; it must be there already. JavaScript needs one with Node 22.19 or newer. Default `node:24-slim`. */
  readonly image?: string;
  /** The command line. Default `docker`; `podman` takes the same arguments. */
  readonly program?: string;
}

/** Exit code of the command line where the container could not be started. */
const NOT_STARTED = 125;

/** What the engine needs to begin and to clean up, in milliseconds; a job's own time comes on top. */
const ENGINE_MS = 10_000;

/** Runs each job in a container of its own: no network, a file system that cannot be written, no capabilities, limits that the kernel keeps. */
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
    const { limits, signal } = job;
    const ended = await runProcess({
      sandbox: "docker",
      argv: [program, ...dockerArguments(job, { image, name, user: user() }), ...argv],
      env: { ...engineEnvironment(), ...job.env },
      cwd: "/",
      input,
      limits,
      ...(signal === undefined ? {} : { signal }),
      // The container is the engine's child, not ours: ending the command line leaves it running.
      onKill: async () => void (await ask("rm", "--force", name)),
    });
    if (ended.exitCode === NOT_STARTED) throw failed(lastLine(ended.stderr));
    return endedBySignal(ended);
  }

  return {
    name: "docker",
    kinds: ["command", "javascript"],
    async available() {
      try {
        const engine = await ask("info");
        if (engine.status !== "ok") return `No engine answers ${program}: ${lastLine(engine.stderr)}. Start it.`;
        const found = await ask("image", "inspect", image);
        return found.status === "ok" ? true : `The image ${image} is not there. Fetch it: ${program} pull ${image}.`;
      } catch {
        return `${program} cannot be started. Install Docker, or use isolate.`;
      }
    },
    async run(job) {
      if (job.kind === "command") return start(job, job.argv, job.input ?? "");
      const node = programOf(job, "docker");
      return node.toOutcome(await start(job, ["node", ...node.arguments], node.input));
    },
  };
}

/** Ourselves, so that jobs can write where we let them; nobody instead of root. */
function user(): string {
  const [id, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  return id === 0 ? "65534:65534" : `${id}:${group}`;
}

/** Where the engine is and who may use it. */
function engineEnvironment(): Record<string, string> {
  const names = [
    "PATH",
    "HOME",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_CERT_PATH",
    "XDG_RUNTIME_DIR",
  ];
  const entries = names.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.replace(/\W+$/, "") ?? "";
}

function failed(why: string): ArsenalError {
  const message = `The container could not be started: ${why}. See available() for what is missing.`;
  return new ArsenalError("SANDBOX_FAILED", message, { field: "sandbox", beforeSend: true });
}

export { dockerSandbox as create };
