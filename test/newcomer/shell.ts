import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { delimiter } from "node:path";
import { text } from "node:stream/consumers";

/** Runs programs in one folder, with one Node first on the PATH. */
export interface Shell {
  readonly folder: string;
  /** Runs a command line and returns what it printed. Throws with all of its output if it exits with anything but `code`, 0 by default. */
  run(line: string, options?: { readonly code?: number }): Promise<string>;
  /** Starts a program and resolves once it has printed text that matches. */
  start(line: string, ready: RegExp): Promise<{ readonly printed: string; stop(): Promise<void> }>;
}

const RUN_TIMEOUT_MS = 180_000;
const START_TIMEOUT_MS = 60_000;

/** Variables that a newcomer does not have: what npm sets for scripts, and what configures ToolArsenal. Where npm finds packages stays. */
const OF_THIS_RUN = /^(?:npm_(?!config_(?:registry|cache|userconfig|cafile)$)|TOOLARSENAL_|XDG_)/i;

export interface ShellPlace {
  readonly folder: string;
  readonly home: string;
  /** Folders of programs, the first one first. */
  readonly bin: readonly string[];
  /** Variables that this shell has besides. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The variables of a machine whose home is the folder `home`: nothing of the person who runs this leaks in. */
export function environmentOf({ home, bin, env = {} }: Omit<ShellPlace, "folder">): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_THIS_RUN.test(name))),
    PATH: [...bin, process.env["PATH"]].join(delimiter),
    HOME: home,
    USERPROFILE: home,
    NO_COLOR: "1",
    ...env,
  } as Readonly<Record<string, string>>;
}

/** A shell in a folder. */
export function createShell({ folder, ...place }: ShellPlace): Shell {
  const env = environmentOf(place);
  return {
    folder,
    async run(line, { code = 0 } = {}) {
      const began = performance.now();
      const child = spawn("bash", ["-c", line], {
        cwd: folder,
        env,
        stdio: ["ignore", "pipe", "pipe"],
        timeout: RUN_TIMEOUT_MS,
      });
      const ended = once(child, "close");
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const [status] = (await ended) as [number | null];
      console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  $ ${line}`);
      if (status !== code) throw new Error(`"${line}" exited with ${status}, expected ${code}.\n${stdout}\n${stderr}`);
      return stdout;
    },
    async start(line, ready) {
      console.log(`${"".padStart(10)}$ ${line} &`);
      const child = spawn("bash", ["-c", `exec ${line}`], {
        cwd: folder,
        env,
        stdio: ["ignore", "pipe", "pipe"],
        // A group of its own, so that what npx starts can be stopped too.
        detached: true,
      });
      let printed = "";
      const seen = Promise.withResolvers<void>();
      const read = (chunk: Buffer): void => {
        printed += chunk.toString();
        if (ready.test(printed)) seen.resolve();
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      child.once("exit", (status) => seen.reject(new Error(`"${line}" ended with ${status}.\n${printed}`)));
      const timer = setTimeout(
        () => seen.reject(new Error(`"${line}" never printed ${ready}.\n${printed}`)),
        START_TIMEOUT_MS,
      );
      try {
        await seen.promise;
      } catch (error) {
        await stopped(child);
        throw error;
      } finally {
        clearTimeout(timer);
      }
      return { printed, stop: () => stopped(child) };
    },
  };
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const closed = once(child, "close");
  process.kill(-child.pid, "SIGTERM");
  await closed;
}
