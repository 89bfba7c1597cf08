import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { fixable } from "../../errors/arsenal-error.ts";
import { findProgram } from "../../system/find-program.ts";

export type ProgramRuntime = "node" | "deno";

export interface ConfinedRuntime {
  readonly bubblewrap: string;
  /** Readable files and folders of this machine, with their paths in the sandbox. */
  readonly shown: readonly (readonly [from: string, to: string])[];
  readonly env: Readonly<Record<string, string>>;
  readonly argv: readonly [string, ...string[]];
}

const PROGRAM = "/program";
const RUNTIME = "/runtime";
const PARSER = `${RUNTIME}/parser.mjs`;

/** The folder of the guest's code, in the sources and in the build. */
const GUEST = new URL("../guest/", import.meta.url);

/** Finds a runtime on this machine. Throws, with a fix, if the runtime or the parser of programs is missing. */
export function findRuntime(
  runtime: ProgramRuntime,
  { denoPath, memoryBytes }: { readonly denoPath?: string | undefined; readonly memoryBytes: number },
): ConfinedRuntime {
  const bubblewrap = findBubblewrap(runtime);
  const entry = `${PROGRAM}/guest-process.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`;
  const program = runtime === "node" ? process.execPath : findDeno(denoPath);
  const shown = [
    [fileURLToPath(GUEST), PROGRAM],
    [findParser(), PARSER],
    [realpathSync(program), `${RUNTIME}/${runtime}`],
  ] as const;
  const mebibytes = Math.max(16, Math.ceil(memoryBytes / (1024 * 1024)));
  const heap = [`--max-old-space-size=${mebibytes}`, "--max-semi-space-size=8"];
  if (runtime === "node") {
    const reads = [`--allow-fs-read=${PROGRAM}`, `--allow-fs-read=${RUNTIME}`];
    const flags = ["--permission", ...reads, ...heap, "--no-warnings"];
    return { bubblewrap, shown, env: {}, argv: [`${RUNTIME}/node`, ...flags, entry, PARSER] };
  }
  const flags = ["--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm", "--no-check"];
  return {
    bubblewrap,
    shown,
    // Deno compiles the guest into a folder in memory.
    env: { DENO_DIR: "/tmp/deno", DENO_NO_UPDATE_CHECK: "1", DENO_NO_PACKAGE_JSON: "1", NO_COLOR: "1" },
    argv: [
      `${RUNTIME}/deno`,
      "run",
      ...flags,
      `--allow-read=${PROGRAM},${RUNTIME}`,
      `--v8-flags=${heap.join(",")}`,
      entry,
      PARSER,
    ],
  };
}

function findBubblewrap(runtime: ProgramRuntime): string {
  const found = process.platform === "linux" ? findProgram("bwrap") : undefined;
  if (found !== undefined) return found;
  const problem = `programs.sandbox is ${runtime}, which needs bubblewrap on Linux, and bwrap is not on the PATH.`;
  const fix = "Install it (apt-get install bubblewrap), or use quickjs.";
  throw fixable("SANDBOX_FAILED", problem, fix, { field: "programs.sandbox", value: runtime, beforeSend: true });
}

function findDeno(path: string | undefined): string {
  const found = findProgram(path ?? "deno");
  if (found !== undefined) return found;
  const where = path === undefined ? "in PATH" : `at ${path}`;
  const fix = "Install Deno (https://docs.deno.com), set programs.deno_path to its program, or use quickjs.";
  throw fixable("SANDBOX_FAILED", `programs.sandbox is deno, but deno was not found ${where}.`, fix, {
    field: path === undefined ? "programs.sandbox" : "programs.deno_path",
    value: path ?? "deno",
    beforeSend: true,
  });
}

function findParser(): string {
  try {
    const main = fileURLToPath(import.meta.resolve("acorn"));
    return `${dirname(main)}/acorn.mjs`;
  } catch (cause) {
    const problem = "programs.sandbox needs the parser acorn, which is not installed:";
    throw fixable("LIBRARY_MISSING", problem, "npm install acorn", { field: "programs.sandbox", cause });
  }
}
