import { spawn } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "../repo/project.ts";
import { matchOutput, type PageStep, updatedOutput } from "./page-steps.ts";
import { MAIN } from "./program.ts";

/** A folder with an installed package, to follow the pages as a stranger does. Defaults to the sources. */
const INSTALLED = process.env["TOOLARSENAL_INSTALLED"];
const STEP_MS = 300_000;

type Commands = Extract<PageStep, { kind: "commands" }>;

/** A reader who follows a page in an empty folder, in one shell. */
export interface PageSession {
  readonly folder: string;
  /** Takes a step and returns its output. Throws if that is not the output that the page shows. */
  take(step: PageStep): Promise<string>;
  /** Ends every program that the page started, and removes the folder. */
  close(): Promise<void>;
}

/**
 * Opens a shell in an empty folder, with these variables, in which `npx toolarsenal` and `import "toolarsenal"` are this package.
 * With `environment` nothing is installed: the page does that, with those variables only, and every command without shown output must succeed.
 * With `onUpdate` an output that differs is not an error if the page can be updated: it is called with what to show instead.
 */
export async function openPageSession(
  variables: Readonly<Record<string, string>> = {},
  environment?: Readonly<Record<string, string>>,
  onUpdate?: (update: { readonly line: number; readonly shown: string; readonly output: string }) => void,
): Promise<PageSession> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolarsenal-page-")));
  const work = join(folder, "work");
  for (const name of ["work", "home", "bin"]) mkdirSync(join(folder, name));
  if (environment === undefined) installInto(folder);
  const env: NodeJS.ProcessEnv = environment ?? {
    PATH: `${join(folder, "bin")}:${dirname(process.execPath)}:${process.env["PATH"]}`,
    HOME: join(folder, "home"),
    NO_COLOR: "1",
    ...variables,
    ...(INSTALLED === undefined && { NODE_OPTIONS: "--conditions=toolarsenal:source" }),
  };
  const shell = spawn("bash", { cwd: work, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  const ended = new Promise<void>((resolve) => shell.once("close", () => resolve()));
  let output = "";
  let onOutput = (): void => undefined;
  const read = (chunk: Buffer): void => {
    output += String(chunk);
    onOutput();
  };
  shell.stdout.on("data", read);
  shell.stderr.on("data", read);

  /** The folder that the shell is in, and how its last commands ended. */
  let here = work;
  let status = 0;
  const ports = new Map<string, string>();
  const ids = new Map<string, string>();
  /** The commands that go on running, each with the file that has their output. */
  const logs: (readonly [string, string])[] = [];

  /** Writes what a page says as it is in this run: free ports, and the ids of this run. */
  async function inThisRun(text: string): Promise<string> {
    for (const [port] of text.matchAll(/\b80[89]\d\b/g)) if (!ports.has(port)) ports.set(port, await freePort());
    return replaceAll(text, [...ports, ...ids]);
  }

  function onThePage(text: string): string {
    const asRead = [...ports].map(([shown, actual]) => [actual, shown] as const);
    return replaceAll(text, [...asRead, [work, "/home/you/project"], ["npm run -s cli --", "npx toolarsenal"]]);
  }

  /** Runs commands in the shell and returns their output. */
  function run(commands: string): Promise<string> {
    output = "";
    return new Promise((resolve, reject) => {
      const overdue = setTimeout(() => reject(new Error(`${commands} never ended, but printed\n${output}`)), STEP_MS);
      onOutput = () => {
        const end = /page step ended, (?<status>\d+), in (?<at>.*)\n$/.exec(output);
        if (end?.groups === undefined) return;
        clearTimeout(overdue);
        status = Number(end.groups["status"]);
        here = end.groups["at"] ?? here;
        resolve(onThePage(output.slice(0, end.index)));
      };
      shell.stdin.write(`{ ${commands}} 2>&1 </dev/null\necho "page step ended, $?, in $PWD"\n`);
    });
  }

  /** Waits until a program in the background has printed something. */
  async function waitFor(log: string, isThere: (printed: string) => boolean): Promise<string> {
    for (const until = Date.now() + STEP_MS; ; await delay(20)) {
      const printed = onThePage(readFileSync(log, "utf8"));
      if (isThere(printed)) return printed;
      if (Date.now() > until) throw new Error(`It printed only\n${printed}`);
    }
  }

  /** Compares the output with the one on the page, and remembers the ids of this run. */
  function compare({ line, output: shown }: Pick<Commands, "line" | "output">, printed: string): string {
    if (shown === undefined) return printed;
    const updated =
      onUpdate !== undefined && matchOutput(shown, printed) === undefined && updatedOutput(shown, printed);
    const found = matchOutput(typeof updated === "string" ? updated : shown, printed);
    if (found === undefined) throw new Error(`Line ${line} of the page shows\n${shown}\nand it printed\n${printed}`);
    if (typeof updated === "string") onUpdate?.({ line, shown, output: updated });
    for (const [id, actual] of found) ids.set(id, actual);
    return printed;
  }

  return {
    folder: work,
    async take(step) {
      if (step.kind === "file") {
        mkdirSync(dirname(join(here, step.path)), { recursive: true });
        writeFileSync(join(here, step.path), await inThisRun(step.text));
        return "";
      }
      if (step.kind === "log") {
        const [, log = ""] = logs.find(([commands]) => commands.includes(step.commands)) ?? [];
        const shown = `…\n${step.output}…\n`;
        return compare(
          { ...step, output: shown },
          await waitFor(log, (printed) => matchOutput(shown, printed) !== undefined),
        );
      }
      const commands = await inThisRun(withPort(step.text));
      const { until } = step;
      if (until === undefined) {
        const printed = await run(commands);
        if (environment !== undefined && step.output === undefined && status !== 0)
          throw new Error(`Line ${step.line} of the page ended with ${status}:\n${printed}`);
        return compare(step, printed);
      }
      const log = join(folder, `log-${logs.length}`);
      writeFileSync(log, "");
      logs.push([step.text, log]);
      await run(`{ ${commands.trim()} ; } </dev/null >${log} 2>&1 &\n`);
      return compare(step, await waitFor(log, (printed) => printed.includes(until)));
    },
    async close() {
      if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, "SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** `serve` listens on 8080 unless the page says otherwise, and 8080 is one of the ports that are replaced. */
function withPort(commands: string): string {
  return commands.replaceAll(/toolarsenal serve(?![^\n]*--(?:port|stdio))/g, "toolarsenal serve --port 8080");
}

function replaceAll(text: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

/** Puts the package where Node finds it, and a command `npx` that runs its program. */
function installInto(folder: string): void {
  const main = INSTALLED === undefined ? MAIN : join(INSTALLED, "node_modules/toolarsenal/dist/cli/main.js");
  for (const name of ["npx", "toolarsenal"]) {
    const path = join(folder, "bin", name);
    writeFileSync(path, `#!/bin/sh\n${name === "npx" ? "shift\n" : ""}exec "${process.execPath}" "${main}" "$@"\n`);
    chmodSync(path, 0o755);
  }
  const modules = join(folder, "work/node_modules");
  if (INSTALLED !== undefined) return symlinkSync(join(INSTALLED, "node_modules"), modules);
  mkdirSync(modules);
  symlinkSync(ROOT, join(modules, "toolarsenal"));
}

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}
