import { ArsenalError, fixable, isArsenalError } from "../../../../errors/arsenal-error.ts";
import { sideOfStatus } from "../../../../errors/blame.ts";
import { certificateFix, NOT_CONNECTED } from "../../../../guard/egress/check-url.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { parseObject } from "../../parse-object.ts";
import { RpcError } from "../../../../mcp/protocol.ts";

const expired = new WeakSet<object>();
const unreached = new WeakSet<object>();
const refused = new WeakSet<object>();

/** True if the server reported that the session no longer exists. */
export function isSessionExpired(error: unknown): boolean {
  return error instanceof Error && expired.has(error);
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof Error && unreached.has(error);
}

/** True for a JSON-RPC error in a response with HTTP status 4xx. */
export function isRefusedByStatus(error: RpcError): boolean {
  return refused.has(error);
}

export function httpStatusOf(error: unknown): number | undefined {
  return error instanceof Error && "status" in error && typeof error.status === "number" ? error.status : undefined;
}

/**
 * Explains why a request was not answered. `inSession`: the request named a session, so a 404 may mean that the session is gone. The server may still
 * have acted.
 */
export function toFailure(
  given: unknown,
  request: { readonly server: string; readonly method: string; readonly inSession: boolean },
): Error {
  const error = withoutWrapping(given);
  if (isArsenalError(error) || error instanceof RpcError) return error;
  const { server, method, inSession } = request;
  const cause = error;
  const what = `${method} on the MCP server "${server}"`;
  const status = httpStatusOf(error);

  if (status !== undefined) {
    const text = httpTextOf(error);
    if (inSession && isGoneSession(status, text)) {
      const reason = `${what} was answered with HTTP ${status}: the session no longer exists at the server`;
      return mark(expired, unknownOutcome(reason, cause));
    }
    const fault = sideOfStatus(status);
    const body = toRpcError(text);
    if (body !== undefined) return fault === "caller" ? mark(refused, body) : body;
    const refusal = `${what} was refused with HTTP ${status}. ${fixOf(status)}`;
    if (fault === "caller") return new ArsenalError("TRANSPORT_FAILED", refusal, { fault, cause });
    return unknownOutcome(`${what} was answered with HTTP ${status}`, cause);
  }
  if (isUnauthorized(error)) {
    const message = `${what} needs authorization. ${fixOf(401)}`;
    // The server received and refused the request, so a retry cannot help.
    return new ArsenalError("TRANSPORT_FAILED", message, { answered: true, cause });
  }
  const code = systemCodeOf(error);
  if (code !== undefined && (NOT_CONNECTED.has(code) || isConnecting(error))) {
    const fix = certificateFix(error) ?? "Check that it runs and its address is right.";
    const message = `${what} was not sent: the server cannot be reached (${code}). ${fix}`;
    return mark(unreached, new ArsenalError("TRANSPORT_FAILED", message, { beforeSend: true, cause }));
  }
  if (isUnreadable(error)) {
    const message = `${what} was answered with something that is not JSON-RPC: ${reasonOf(error)}`;
    return new ArsenalError("PROTOCOL_ERROR", message, { cause });
  }
  return unknownOutcome(`${what} was sent, and its answer was lost: ${reasonOf(error)}`, cause);
}

/** Creates the error for a request that was sent but will not be answered. */
export function unknownOutcome(what: string, cause?: unknown): ArsenalError {
  const message = `${what.replace(/\.$/, "")}. It may have taken effect: check before repeating it.`;
  return new ArsenalError("OUTCOME_UNKNOWN", message, { cause });
}

export function toConnectFailure(given: unknown, server: string): Error {
  const error = withoutWrapping(given);
  if (isArsenalError(error)) return error;
  const status = httpStatusOf(error);
  const reason = status === undefined ? reasonOf(error) : `it answered HTTP ${status}`;
  const fix = certificateFix(error) ?? (isUnauthorized(error) ? fixOf(401) : fixOf(status));
  const problem = `The MCP server "${server}" cannot be connected: ${reason}.`;
  const isRefused = isUnauthorized(error) || (status !== undefined && sideOfStatus(status) === "caller");
  const details = { field: server, cause: error, ...(isRefused && { fault: "caller" as const }) };
  return fixable("TRANSPORT_FAILED", problem, fix, details);
}

/** Extracts a login error that the SDK's client wrapped in its own error. */
function withoutWrapping(error: unknown): unknown {
  return error instanceof Error && error.name === "UnauthorizedError" && isArsenalError(error.cause)
    ? error.cause
    : error;
}

/** Combines the message of an error with that of its cause, because `fetch` puts the real reason into the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const inner = cause instanceof Error && cause.message !== "" ? cause.message : systemCodeOf(cause);
  return inner === undefined || error.message.includes(inner) ? error.message : `${error.message} (${inner})`;
}

/** Some servers answer 400 where the protocol requires 404, and mention the session in the text. */
function isGoneSession(status: number, text: string | undefined): boolean {
  return status === 404 || (status === 400 && /\bsession\b/i.test(text ?? ""));
}

function fixOf(status: number | undefined): string {
  if (status === 401) return "Give it a token: headers with Authorization, or oauth.";
  if (status === 403) return "Check that its token allows this, and that the server accepts requests from here.";
  if (status === 404 || status === 405) return "Check the address.";
  if (status === 429) return "Try again later, or less often.";
  return "Check that it runs and can be reached.";
}

function mark<Marked extends Error>(set: WeakSet<object>, error: Marked): Marked {
  set.add(error);
  return error;
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof Error && (error.name === "UnauthorizedError" || httpStatusOf(error) === 401);
}

function isUnreadable(error: unknown): boolean {
  return (
    error instanceof SyntaxError ||
    (error instanceof Error &&
      (/^\$?ZodError$/.test(error.name) || (error as { code?: unknown }).code === "CLIENT_HTTP_UNEXPECTED_CONTENT"))
  );
}

function systemCodeOf(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as { code?: unknown };
    if (typeof code === "string") return code;
    if (each instanceof AggregateError && each.errors.length > 0) return systemCodeOf(each.errors[0]);
  }
  return undefined;
}

function isConnecting(error: unknown): boolean {
  return error instanceof Error && (error as { syscall?: unknown }).syscall === "connect";
}

function httpTextOf(error: unknown): string | undefined {
  const { data } = error as { data?: unknown };
  return isPlainObject(data) && typeof data["text"] === "string" ? data["text"] : undefined;
}

function toRpcError(text: string | undefined): RpcError | undefined {
  const error = parseObject(text ?? "")?.["error"];
  if (!isPlainObject(error)) return undefined;
  const { code, message, data } = error;
  return typeof code === "number" && typeof message === "string" ? new RpcError({ code, message, data }) : undefined;
}
