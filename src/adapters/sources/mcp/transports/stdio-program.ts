import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { messageOf, showValue } from "../../../../errors/show-value.ts";
import { looksSecret } from "../../../../guard/secrets/looks-secret.ts";
import { findProgram } from "../../../../system/find-program.ts";
import type { McpServerSettings, StdioSettings } from "../settings.ts";

/**
 * Default of `mcp.env_passthrough`: environment variables that programs need for their files, the user's language, the terminal, and a company's
 * network. `*` matches the rest of a name.
 */
export const ENV_PASSTHROUGH: readonly string[] = [
  ...(process.platform === "win32"
    ? "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR"
    : "PATH HOME USER LOGNAME SHELL TERM LANG TMPDIR TEMP LC_* XDG_*"
  ).split(" "),
  ..."HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy".split(" "),
  ..."NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE npm_config_* NPM_CONFIG_*".split(
    " ",
  ),
];

/** Returns a child's whole environment: its declared variables and the inherited ones. A pattern never matches a secret. */
export function childEnvironment(
  declared: Readonly<Record<string, string>> = {},
  passed: readonly string[] = ENV_PASSTHROUGH,
  ours: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  // Windows ignores the case of names: PATH is often written Path.
  const fold = (name: string): string => (process.platform === "win32" ? name.toUpperCase() : name);
  const names = new Set(passed.map(fold));
  const prefixes = passed.flatMap((name) => (name.endsWith("*") ? [fold(name.slice(0, -1))] : []));
  const isPassed = ([name, value]: [string, string | undefined]): boolean =>
    value !== undefined &&
    (names.has(fold(name)) || (prefixes.some((prefix) => fold(name).startsWith(prefix)) && !looksSecret(name, value)));
  return { ...(Object.fromEntries(Object.entries(ours).filter(isPassed)) as Record<string, string>), ...declared };
}

const MEGABYTE = 1024 * 1024;

/**
 * Returns the command line of a server, wrapped in prlimit if it has limits. Memory is limited as data, not as address space, because runtimes such
 * as Node reserve far more addresses than they use. At its limit of processor time, a process gets SIGXCPU, and SIGKILL a second later.
 */
export function limitedCommand(
  settings: StdioSettings,
  path: string | undefined,
  name: string | undefined,
): readonly [string, ...string[]] {
  const { command, args = [], cwd = ".", limits } = settings;
  if (limits === undefined || limitsInWords(settings) === "") return [command, ...args];
  const prlimit = process.platform === "linux" ? findProgram("prlimit") : undefined;
  if (prlimit === undefined) {
    const problem = `The MCP server ${showValue(name ?? command)} has limits, which need ${process.platform === "linux" ? "the program prlimit" : "Linux"}.`;
    const fix = "Install util-linux on Linux, or remove limits.";
    throw new ArsenalError("TRANSPORT_FAILED", `${problem} ${fix}`, { field: "limits", fix, beforeSend: true });
  }
  const { memoryMb, cpuSeconds, openFiles } = limits;
  const given = [
    ...(memoryMb === undefined ? [] : [`--data=${memoryMb * MEGABYTE}`]),
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}:${cpuSeconds + 1}`]),
    ...(openFiles === undefined ? [] : [`--nofile=${openFiles}`]),
  ];
  // prlimit itself would start, so a missing command would look like a server that exited.
  if (findProgram(command.includes("/") ? resolve(cwd, command) : command, path) === undefined)
    throw spawnFailure(settings, Object.assign(new Error("It was not found."), { code: "ENOENT" }), name);
  return [prlimit, ...given, "--", command, ...args];
}

/** Returns a sentence about the limits of a server; empty if there are none. */
export function limitsInWords({ limits = {} }: StdioSettings): string {
  const { memoryMb, cpuSeconds, openFiles } = limits;
  const all = { memory_mb: memoryMb, cpu_seconds: cpuSeconds, open_files: openFiles };
  const set = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  return set.length === 0 ? "" : ` Its limits are ${set.join(", ")}.`;
}

/** The most lines and names that a message quotes. */
const [MOST_LINES, MOST_NAMES] = [3, 12] as const;

/** Names of variables that programs often need to start. */
const LIKELY = /PROXY|CERT|REGISTRY|INDEX|MIRROR|TOKEN|KEY/;

/** Keeps the last stderr lines of a program, and explains why it may not have started in time. */
export function createStartLog(
  transport: McpServerSettings["transport"],
  parts: { readonly envPassthrough?: readonly string[] | undefined; readonly onStderr?: (line: string) => void },
) {
  const lines: string[] = [];
  return {
    onStderr(line: string): void {
      if (lines.push(line) > MOST_LINES) lines.shift();
      parts.onStderr?.(line);
    },
    explain(): string {
      if (transport.kind !== "stdio")
        return ". Check that it runs and answers at its url, or raise its connect_timeout_ms.";
      const wrote =
        lines.length === 0
          ? "It wrote nothing to stderr."
          : `It last wrote to stderr: ${showValue(lines.join("\n"), 600)}.`;
      const passed = childEnvironment(transport.env, parts.envPassthrough);
      const withheld = Object.keys(process.env)
        .filter((name) => !Object.hasOwn(passed, name) && /^[A-Z][A-Z0-9_]+$/.test(name))
        .sort((one, other) => Number(LIKELY.test(other)) - Number(LIKELY.test(one)));
      const names =
        withheld.slice(0, MOST_NAMES).join(", ") +
        (withheld.length > MOST_NAMES ? ` and ${withheld.length - MOST_NAMES} more` : "");
      const without =
        names === ""
          ? ""
          : ` It did not inherit these environment variables: ${names}. If it needs one of them, add it to the server's env or to mcp.env_passthrough.`;
      return `. ${wrote}${without}`;
    },
  };
}

/** The error for a server whose process could not be started. */
export function spawnFailure({ command, cwd }: StdioSettings, cause: unknown, name: string | undefined): ArsenalError {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const failure = (message: string, fix: string, field = "command", value = command): ArsenalError =>
    new ArsenalError("TRANSPORT_FAILED", message, { field, value, fix, cause, beforeSend: true });
  const shown = showValue(command);
  const whose = name === undefined ? "the MCP server" : `the MCP server ${showValue(name)}`;
  // The system names the command even if the folder is missing.
  if (code === "ENOENT" && cwd !== undefined && !existsSync(cwd)) {
    const message = `The working directory ${showValue(cwd)} of ${shown} does not exist.`;
    return failure(message, "Create it, or change cwd.", "cwd", cwd);
  }
  // Scripts such as npx.cmd need the command interpreter. A shell is started only if it is requested.
  const isWindows = process.platform === "win32";
  const hint = isWindows ? ' A .cmd script is started with the command "cmd" and "/c" before its name.' : "";
  if (code === "ENOENT")
    return failure(
      `The command ${shown} of ${whose} was not found.`,
      `Install it, or write its full path as the command.${hint}`,
    );
  if (code === "EACCES")
    return failure(
      `The command ${shown} of ${whose} may not be executed.`,
      "Make the file executable, or name the program that runs it as the command and the file as its first argument.",
    );
  return failure(
    `The command ${shown} of ${whose} could not be started: ${messageOf(cause)}.`,
    `Run it in a terminal to see what is wrong.${hint}`,
  );
}
