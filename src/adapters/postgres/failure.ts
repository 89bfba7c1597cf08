import { type ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";

/** The part of the system that uses a connection, for error messages. */
export interface PostgresUse {
  /** The subject of messages: "The catalog". */
  readonly what: string;
  /** The setting with the URL. */
  readonly field: string;
}

/** Returns the error code of the server or the operating system. */
export function codeOf(error: unknown): string {
  const { code, errors } = (error ?? {}) as { readonly code?: unknown; readonly errors?: readonly unknown[] };
  // Node tries every address of a name and wraps the failures.
  if (code === undefined && errors?.[0] !== undefined) return codeOf(errors[0]);
  return typeof code === "string" ? code : "";
}

/** True if another transaction conflicted. A retry is safe and usually succeeds. */
export function isConflict(error: unknown): boolean {
  return ["40001", "40P01"].includes(codeOf(isArsenalError(error) ? error.cause : error));
}

/** True if the server was unreachable or disconnected, and so may recover. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  if (AWAY.has(code) || code.startsWith("08")) return true;
  return (
    code === "" && error instanceof Error && /connection terminated|timeout exceeded|not queryable/i.test(error.message)
  );
}

const AWAY = new Set(
  "ECONNREFUSED ECONNRESET EPIPE ENOENT ENOTFOUND EAI_AGAIN ETIMEDOUT EHOSTUNREACH ENETUNREACH 57P01 57P02 57P03".split(
    " ",
  ),
);

/** Describes the failure, its cause and the fix. `place` is the URL without its password. */
export function postgresFailure(cause: unknown, place: string, { what, field }: PostgresUse): ArsenalError {
  if (isArsenalError(cause)) return cause;
  const message = messageOf(cause);
  const fix = fixFor(codeOf(cause), message, field, isAway(cause));
  return fixable("STORE_FAILED", `${what} cannot use PostgreSQL at ${place}: ${message}.`, fix, { field, cause });
}

function messageOf(cause: unknown): string {
  const { errors } = (cause ?? {}) as { readonly errors?: readonly unknown[] };
  if (cause instanceof Error && cause.message === "" && errors?.[0] !== undefined) return messageOf(errors[0]);
  return (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "");
}

function fixFor(code: string, message: string, field: string, away: boolean): string {
  switch (code) {
    case "28P01":
    case "28000":
      return `Check the user and the password in ${field}.`;
    case "3D000":
      return `Create the database (CREATE DATABASE …), or name another one in ${field}.`;
    case "42501":
      return "Grant the user the right to do that, or let an administrator run it once.";
    case "25006":
      return `This server is a read-only replica. Name the primary in ${field}.`;
    case "53100":
      return "The server's disk is full. Free some space; nothing was written.";
    case "53300":
      return "The server has no free connections. Raise its max_connections, or put a connection pooler in front of it.";
    case "57P03":
      return "The server is starting or stopping. The next use retries.";
  }
  if (message.includes("password must be a string")) return `Put a password into ${field}.`;
  if (away) return `Check that the server is running and that ${field} is its address. The next use retries.`;
  return "Check the server's log.";
}
