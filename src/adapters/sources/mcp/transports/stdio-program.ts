import { existsSync } from "node:fs";
import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { messageOf, showValue } from "../../../../errors/show-value.ts";
import type { StdioSettings } from "../settings.ts";

/** Variables that programs need for their files, the user's language and the terminal. None of them is a secret. */
const NEEDED: readonly string[] = (
  process.platform === "win32"
    ? "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR"
    : "PATH HOME USER LOGNAME SHELL TERM LANG TMPDIR TEMP"
).split(" ");

/** A child's whole environment: its declared variables, and of ours only those that every program needs. */
export function childEnvironment(
  declared: Readonly<Record<string, string>> = {},
  ours: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const names = [...NEEDED, ...Object.keys(ours).filter((key) => key.startsWith("LC_"))];
  const needed = names.flatMap((name) => (ours[name] === undefined ? [] : [[name, ours[name]] as const]));
  return { ...Object.fromEntries(needed), ...declared };
}

/** The error for a server's process that could not be started, with a fix. */
export function spawnFailure({ command, cwd }: StdioSettings, cause: unknown): ArsenalError {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const failure = (message: string, fix: string, field = "command", value = command): ArsenalError =>
    new ArsenalError("TRANSPORT_FAILED", message, { field, value, fix, cause, beforeSend: true });
  const shown = showValue(command);
  // The system names the command even if the folder is missing.
  if (code === "ENOENT" && cwd !== undefined && !existsSync(cwd)) {
    const message = `The folder ${showValue(cwd)} in which ${shown} is to run does not exist.`;
    return failure(message, "Create it, or change cwd.", "cwd", cwd);
  }
  // Scripts such as npx.cmd need the command interpreter, and no shell is started unasked.
  const isWindows = process.platform === "win32";
  const hint = isWindows ? ' A .cmd script is started with the command "cmd" and "/c" before its name.' : "";
  if (code === "ENOENT")
    return failure(
      `The command ${shown} of the MCP server was not found.`,
      `Is it installed? If it is, write its full path as the command.${hint}`,
    );
  if (code === "EACCES")
    return failure(
      `The command ${shown} of the MCP server may not be executed.`,
      "Make the file executable, or name the program that runs it as the command and the file as its first argument.",
    );
  return failure(
    `The command ${shown} of the MCP server could not be started: ${messageOf(cause)}.`,
    `Run it in a terminal to see what is wrong.${hint}`,
  );
}
