import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EmbeddedPostgres } from "../../src/adapters/postgres/client.ts";
import { openPostgres } from "../../src/adapters/postgres/postgres.ts";
import { oncePerRun, runFile } from "../kit/run-folder.ts";

/** A database inside this process, with the vector extension at hand unless `vector` is false. It has one connection. */
export async function pglite(
  options: { readonly vector?: boolean } = {},
): Promise<EmbeddedPostgres & { close(): Promise<void> }> {
  const { PGlite } = await import("@electric-sql/pglite");
  const { vector } = await import("@electric-sql/pglite-pgvector");
  const extensions = options.vector === false ? {} : { vector };
  // Making the files of an empty database takes seconds, so a run makes them once.
  const template = runFile("pglite.tar");
  if (template === undefined) return PGlite.create({ extensions });
  await oncePerRun("pglite", async () => {
    const empty = await PGlite.create();
    const files = await empty.dumpDataDir("none");
    writeFileSync(template, Buffer.from(await files.arrayBuffer()));
    await empty.close();
  });
  return PGlite.create({ extensions, loadDataDir: new Blob([readFileSync(template)]) });
}

/** A server of its own, in a temporary folder. */
export interface RealPostgres {
  /** With the administrator's password. */
  readonly url: string;
  /** For messages: "PostgreSQL 17". */
  readonly version: string;
  /** True if the vector extension can be created. */
  readonly hasVector: boolean;
  /** The URL of a new, empty database. */
  database(): Promise<string>;
  /** Stops the server in order; `start` starts it again with the same data. */
  stop(): Promise<void>;
  /** kill -9 of the server and all its processes. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops it for good and removes its folder. */
  remove(): Promise<void>;
}

/** An installed PostgreSQL. */
interface Installed {
  /** The folder it sees as `/`, which is another one if it lives in a folder made by `scripts/ci-services`. */
  readonly root: string;
  readonly version: string;
  readonly hasVector: boolean;
}

/** Where `scripts/ci-services` puts a Debian with PostgreSQL and pgvector. */
export const TRIXIE = join(import.meta.dirname, "../../node_modules/.cache/trixie");

/** Every PostgreSQL that can be started. The folder of its own needs chroot, which only root may call. */
function installed(): readonly Installed[] {
  const roots = process.getuid?.() === 0 ? ["/", TRIXIE] : ["/"];
  return roots.flatMap((root) => {
    const versions = join(root, "usr/lib/postgresql");
    const names = existsSync(versions) ? readdirSync(versions) : [];
    return names
      .filter((version) => existsSync(join(versions, version, "bin/postgres")))
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => {
        const control = join(root, "usr/share/postgresql", version, "extension/vector.control");
        return { root, version, hasVector: existsSync(control) };
      });
  });
}

/** Why there is no server to test with; undefined if there is one. Continuous integration must have it. */
export function postgresMissing(): string | undefined {
  if (installed().length > 0) return undefined;
  const why = "PostgreSQL is not installed: run scripts/ci-services as root";
  if (process.env["CI"] === "true") throw new Error(why);
  return why;
}

/**
 * Starts a server from this machine's PostgreSQL, or from the one with pgvector if that is asked for. Undefined, with a printed reason, if there is
 * none; with CI=true that is an error.
 */
export async function realPostgres(options: { readonly vector?: boolean } = {}): Promise<RealPostgres | undefined> {
  const found = installed().find(({ hasVector }) => hasVector || options.vector !== true);
  if (found === undefined) {
    const reason = `No PostgreSQL${options.vector === true ? " with pgvector" : ""} on this machine: run scripts/ci-services as root.`;
    if (process.env["CI"] === "true") throw new Error(reason);
    process.stderr.write(`Skipped: ${reason}\n`);
    return undefined;
  }
  const { root, version } = found;
  const folder = join("tmp", `ta-pg-${randomBytes(4).toString("hex")}`);
  const outside = root === "/" ? mkdtempSync(join(tmpdir(), "ta-pg-")) : join(root, folder);
  const inside = root === "/" ? outside : `/${folder}`;
  mkdirSync(outside, { recursive: true });
  // The path of a socket may have 107 bytes, and a checkout may lie deep.
  const socket = root === "/" ? outside : join(tmpdir(), basename(folder));
  if (socket !== outside) symlinkSync(outside, socket);
  const as = serverUser(root);
  if (as) chownSync(outside, as.uid, as.gid);

  const program = (name: string): string => `/usr/lib/postgresql/${version}/bin/${name}`;
  /** In its own root, as a user that is not root: PostgreSQL refuses to run as root. */
  function command(name: string, ...args: readonly string[]): readonly [string, string[]] {
    if (root !== "/") {
      const user = `--userspec=${as?.uid}:${as?.gid}`;
      return ["chroot", [user, root, program(name), ...args]];
    }
    if (!as) return [program(name), [...args]];
    return ["setpriv", [`--reuid=${as.uid}`, `--regid=${as.gid}`, "--clear-groups", program(name), ...args]];
  }

  const passwordFile = join(outside, "password");
  function initialize(): void {
    writeFileSync(passwordFile, randomBytes(9).toString("hex"));
    if (as) chownSync(passwordFile, as.uid, as.gid);
    const init = ["-D", `${inside}/data`, "-U", "postgres", "-A", "scram-sha-256", `--pwfile=${inside}/password`];
    runToEnd(...command("initdb", ...init, "-E", "UTF8", "--locale=C", "--no-sync"));
  }
  // A run makes the files of an empty server once, and each server starts with a copy.
  const template = runFile(`postgres-${version}`);
  if (template === undefined) initialize();
  else {
    await oncePerRun(`postgres-${version}`, async () => {
      initialize();
      mkdirSync(template);
      runToEnd("cp", ["-a", join(outside, "data"), passwordFile, template]);
    });
    if (!existsSync(passwordFile)) runToEnd("cp", ["-a", join(template, "data"), join(template, "password"), outside]);
  }
  const password = readFileSync(passwordFile, "utf8");

  const url = (database: string): string => `postgres://postgres:${password}@/${database}?host=${socket}`;
  const admin = (): ReturnType<typeof openPostgres> =>
    openPostgres({ url: url("postgres"), what: "A test", field: "url" });
  let server: ChildProcess | undefined;
  let log = "";
  let databases = 0;

  async function start(): Promise<void> {
    // A folder's file system needs no flush: what a killed server wrote is still in the machine's memory.
    const settings = ["fsync=off", "listen_addresses=", "max_connections=200", "dynamic_shared_memory_type=mmap"];
    const [name, args] = command(
      "postgres",
      "-D",
      `${inside}/data`,
      "-k",
      inside,
      ...settings.flatMap((each) => ["-c", each]),
    );
    const child = spawn(name, args, { cwd: "/", stdio: ["ignore", "ignore", "pipe"] });
    server = child;
    // A run that is stopped must not leave it behind.
    const abandon = (): boolean => child.kill("SIGQUIT");
    process.once("exit", abandon);
    child.once("exit", () => process.removeListener("exit", abandon));
    await new Promise<void>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", () => reject(new Error(`PostgreSQL did not start: ${log}`)));
      child.stderr.on("data", (text: Buffer) => {
        log = `${log}${String(text)}`.slice(-20_000);
        if (/database system is ready to accept connections/.test(String(text))) resolve();
      });
    });
  }

  async function end(signal: "SIGINT" | "SIGKILL"): Promise<void> {
    const child = server;
    server = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    const others = signal === "SIGKILL" ? childrenOf(child.pid ?? 0) : [];
    child.kill(signal);
    // They would answer on, until they notice that the server is gone.
    for (const pid of others) process.kill(pid, "SIGKILL");
    await exited;
    while (others.some(isRunning)) await nextTurn();
  }

  await start();
  const started: RealPostgres = {
    url: url("postgres"),
    version: `PostgreSQL ${version}`,
    hasVector: found.hasVector,
    async database() {
      const name = `test_${++databases}`;
      const postgres = admin();
      await postgres.query(`CREATE DATABASE ${name}`);
      await postgres.close();
      return url(name);
    },
    stop: () => end("SIGINT"),
    kill: () => end("SIGKILL"),
    start,
    async remove() {
      await end("SIGINT");
      if (socket !== outside) rmSync(socket);
      rmSync(outside, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  return started;
}

/** Runs a program and throws if it fails. */
function runToEnd(program: string, args: readonly string[]): void {
  const { status, stderr, stdout } = spawnSync(program, args, { encoding: "utf8", cwd: "/" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}${stdout}`);
}

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

/** False for a process that ended, also if nobody has taken note yet. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Who runs the server: the owner of this process, or the user that the package made if that is root. */
function serverUser(root: string): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(join(root, "var/lib/postgresql"));
  return { uid, gid };
}
