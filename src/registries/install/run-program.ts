import { execFile } from "node:child_process";
import { childEnvironment } from "../../adapters/sources/mcp/transports/stdio-program.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { clip } from "../../guard/scan/finding.ts";
import { findProgram } from "../../system/find-program.ts";

const TIMEOUT_MS = 300_000;
const MAX_OUTPUT = 16 * 1024 * 1024;

/** Runs a package manager without a shell and returns its standard output. Throws SOURCE_UNAVAILABLE with the end of its error output. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: {
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly cwd: string;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<string> {
  const { environment, cwd, signal } = options;
  const path = findProgram(program, environment["PATH"]) ?? program;
  const env = childEnvironment({}, undefined, environment as NodeJS.ProcessEnv);
  return new Promise((resolve, reject) => {
    execFile(
      path,
      [...args],
      { cwd, env, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT, encoding: "utf8", ...(signal && { signal }) },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const last = stderr.trim().split("\n").slice(-6).join(" ");
        const problem = `${program} ${args[0] ?? ""} failed: ${clip(last === "" ? error.message : last)}.`;
        reject(
          fixable("SOURCE_UNAVAILABLE", problem, `Run ${program} yourself to see more.`, {
            field: program,
            cause: error,
          }),
        );
      },
    );
  });
}
