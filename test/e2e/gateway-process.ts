import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerEntry } from "./real-servers.ts";
import { MAIN } from "../kit/program.ts";

/** A server that already listens somewhere, as clients' configurations have it. */
export interface RemoteEntry {
  readonly type: "http" | "sse";
  readonly url: string;
  /** Calls that it takes at once. */
  readonly max_concurrent?: number;
}

/** How a gateway is started. */
export interface GatewayOptions {
  readonly servers: Readonly<Record<string, ServerEntry | RemoteEntry>>;
  readonly mode?: "static" | "dynamic" | "hybrid" | "code";
  /** Further sections of `arsenal.yaml`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** What ranks tools. The best there is where absent. */
  readonly tier?: "lexical" | "static" | "tuned";
  /** The command line's program. Defaults to `MAIN`. */
  readonly program?: string;
  /** Where it listens. A free port if omitted. */
  readonly port?: number;
  /** Options of Node itself. */
  readonly nodeOptions?: readonly string[];
  /** True gives it process ids of its own, as a container or another machine has them: nobody here can look it up. */
  readonly isElsewhere?: boolean;
}

/** The gateway as users run it: a process of its own. */
export interface GatewayProcess {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly pid: number;
  /** Everything it has written on stderr. */
  readonly log: () => string;
  /** Asks it to stop, and resolves with its exit code. */
  close(): Promise<number | null>;
}

/** The gateway's program and configuration file, for those who start it themselves. */
export function gatewayCommand(options: GatewayOptions, folder: string): ServerEntry {
  const config = join(folder, "arsenal.yaml");
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ ...options.settings, mcpServers: options.servers }));
  const mode = options.mode === undefined ? [] : ["--mode", options.mode];
  return { command: process.execPath, args: [options.program ?? MAIN, "serve", "--config", config, ...mode] };
}

/** Starts `toolarsenal serve --http` on a free port and resolves when every upstream has connected or failed. */
export async function startGateway(options: GatewayOptions): Promise<GatewayProcess> {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-gateway-"));
  const { command, args } = gatewayCommand(options, folder);
  const given = [command, ...(options.nodeOptions ?? []), ...args, "--http", "--port", String(options.port ?? 0)];
  const [program = "", ...line] = options.isElsewhere === true ? [...ELSEWHERE, ...given] : given;
  const child = spawn(program, line, {
    cwd: folder,
    env: { ...process.env, ...(options.tier === undefined ? {} : { TOOLARSENAL_TIER: options.tier }) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit") as Promise<[number | null]>;
  let log = "";
  child.stderr.on("data", (part: Buffer) => (log += part.toString()));
  const pid = (): number => (options.isElsewhere === true ? childOf(child) : undefined) ?? child.pid ?? 0;
  function signalGateway(signal: NodeJS.Signals): void {
    try {
      process.kill(pid(), signal);
    } catch {
      // It has just ended.
    }
  }
  async function close(): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) signalGateway("SIGTERM");
    const [code] = await exited;
    rmSync(folder, { recursive: true, force: true });
    return code;
  }
  try {
    const url = await printedUrl(child);
    await ready(url);
    return { url, pid: pid(), log: () => log, close };
  } catch (error) {
    await close();
    throw new Error(`The gateway did not start: ${String(error)}\n${log}`, { cause: error });
  }
}

const AS_ROOT = process.getuid?.() === 0 ? [] : ["--user", "--map-current-user"];
/** Runs a program with process ids of its own. Its files and its network are those of this machine. */
const ELSEWHERE = ["unshare", ...AS_ROOT, "--pid", "--fork", "--kill-child", "--mount-proc"];

/** Why no gateway can run elsewhere, which is printed; undefined if one can. */
export function elsewhereMissing(): string | undefined {
  const [program = "", ...line] = ELSEWHERE;
  if (spawnSync(program, [...line, "true"]).status === 0) return undefined;
  const why = "this machine gives no process ids of its own to a program (unshare --pid)";
  process.stderr.write(`All replicas are tested on one machine: ${why}.\n`);
  return why;
}

/** The only process that another one started. */
function childOf({ pid }: ChildProcess): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ", 1)[0]) || undefined;
  } catch {
    return undefined;
  }
}

/** The first address of loopback that the process prints. */
function printedUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    function look(part: Buffer): void {
      text += part.toString();
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (url !== undefined) resolve(url);
    }
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
    child.once("exit", (code) => reject(new Error(`it exited with ${code}`)));
  });
}

async function ready(url: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const response = await fetch(`${url}/readyz`);
    await response.body?.cancel();
    if (response.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("its upstreams had not settled after 60 s");
}
