import { existsSync } from "node:fs";
import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { showValue } from "../../../../errors/show-value.ts";
import type { StdioSettings } from "../settings.ts";

/** Says why a server's process could not be started, and what to do about it. */
export function spawnFailure({ command, cwd }: StdioSettings, cause: unknown): ArsenalError {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  // The system names the command also where it is the folder that is missing.
  if (code === "ENOENT" && cwd !== undefined && !existsSync(cwd))
    return failure(`The folder ${showValue(cwd)} in which ${showValue(command)} is to run does not exist.`, {
      field: "cwd",
      value: cwd,
      fix: "Create it, or change cwd.",
      cause,
    });
  if (code === "ENOENT")
    return failure(`The command ${showValue(command)} of the MCP server was not found.`, {
      field: "command",
      value: command,
      fix: `Is it installed? If it is, write its full path as the command.${forWindows()}`,
      cause,
    });
  if (code === "EACCES")
    return failure(`The command ${showValue(command)} of the MCP server may not be executed.`, {
      field: "command",
      value: command,
      fix: "Make the file executable, or name the program that runs it as the command and the file as its first argument.",
      cause,
    });
  const reason = cause instanceof Error ? cause.message : String(cause);
  return failure(`The command ${showValue(command)} of the MCP server could not be started: ${reason}.`, {
    field: "command",
    value: command,
    fix: `Run it in a terminal to see what is wrong.${forWindows()}`,
    cause,
  });
}

function failure(
  message: string,
  details: { readonly field: string; readonly value: string; readonly fix: string; readonly cause: unknown },
): ArsenalError {
  return new ArsenalError("TRANSPORT_FAILED", message, { ...details, beforeSend: true });
}

/** Scripts such as npx.cmd need the command interpreter, and no shell is started unasked. */
function forWindows(): string {
  return process.platform === "win32"
    ? ' A .cmd script is started with the command "cmd" and "/c" before its name.'
    : "";
}
