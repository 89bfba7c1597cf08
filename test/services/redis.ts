import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A Redis server of a test's own, in a folder of its own. */
export interface RedisService {
  readonly url: string;
  readonly port: number;
  /** Ends it as `kill -9` does. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with what it kept on the disk if it was started with `appendonly`. */
  restart(): Promise<void>;
  /** It takes connections and answers nothing until it is resumed. */
  pause(): void;
  resume(): void;
  /** Sends a command with `redis-cli`. */
  command(...command: readonly string[]): string;
  stop(): Promise<void>;
}

/** Why there is no server to test with, which is printed; undefined if there is one. Continuous integration must have it. */
export function redisMissing(): string | undefined {
  if (spawnSync("redis-server", ["--version"]).status === 0) return undefined;
  const why = "redis-server is not installed: run scripts/ci-services";
  if (process.env["CI"] === "true") throw new Error(why);
  process.stderr.write(`Nothing is tested on Redis: ${why}\n`);
  return why;
}

/** Starts a server on a free port. `settings` are those of redis.conf. Nothing is kept on the disk unless they say so. */
export async function startRedis(settings: Readonly<Record<string, string>> = {}): Promise<RedisService> {
  const folder = mkdtempSync(join(tmpdir(), "arsenal-redis-"));
  const port = await freePort();
  const all = { port: String(port), bind: "127.0.0.1", dir: folder, save: "", daemonize: "no", ...settings };
  const given = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const started = spawn("redis-server", given, { stdio: ["ignore", "pipe", "inherit"] });
    child = started;
    let printed = "";
    for await (const chunk of started.stdout) {
      printed += String(chunk);
      if (printed.includes("Ready to accept connections")) break;
    }
    if (started.exitCode !== null) throw new Error(`redis-server ended: ${printed}`);
  }

  async function kill(): Promise<void> {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    running.kill("SIGKILL");
    await once(running, "exit");
  }

  await start();
  const { requirepass } = settings;
  return {
    url: requirepass === undefined ? `redis://127.0.0.1:${port}` : `redis://:${requirepass}@127.0.0.1:${port}`,
    port,
    kill,
    restart: start,
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    command(...command) {
      const login = requirepass === undefined ? [] : ["-a", requirepass, "--no-auth-warning"];
      return spawnSync("redis-cli", ["-p", String(port), ...login, ...command], { encoding: "utf8" }).stdout;
    },
    async stop() {
      child?.kill("SIGCONT");
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A port that nobody listens on: Redis cannot pick one by itself. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
