import { present } from "../../base/present.ts";
import { randomUUID } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { ArsenalError, type ErrorDetails, isArsenalError } from "../../errors/arsenal-error.ts";
import { ERROR_CODES, type ErrorCode } from "../../errors/codes.ts";
import { showValue } from "../../errors/show-value.ts";
import { toWire } from "../../errors/to-wire.ts";
import { visibleText } from "../../errors/visible-text.ts";
import { answerText } from "./answer.ts";

/** A refused request as a problem of RFC 9457, sent as `application/problem+json`. */
export interface Problem extends Pick<ErrorDetails, "field" | "value" | "fix" | "issues" | "retryAfterMs"> {
  /** `urn:toolarsenal:error:TOOL_NOT_FOUND` */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** A description of this occurrence. */
  readonly detail: string;
  readonly code: ErrorCode;
  /** The value of the header `X-Request-Id`. */
  readonly requestId: string;
  /** The result of a call that was refused before it ran. */
  readonly result?: unknown;
}

/** Maximum length of a repeated value that a caller sent, as JSON. */
const SHOWN = 200;

/** Converts an error to a problem. Details of foreign errors are hidden. */
export function toProblem(
  thrown: unknown,
  requestId: string,
  more: { readonly status?: number; readonly result?: unknown } = {},
): Problem {
  const error = isArsenalError(thrown) ? thrown : new ArsenalError("INTERNAL_ERROR", "The gateway failed to answer.");
  const { code, message, details } = error;
  const { status = toWire(code).httpStatus, result } = more;
  const { field, value, fix, issues, retryAfterMs } = details;
  return present({
    type: `urn:toolarsenal:error:${code}`,
    title: ERROR_CODES[code],
    status,
    detail: message,
    code,
    fix,
    field,
    value: shortened(value),
    issues: issues?.map((issue) => ({ ...issue, ...("value" in issue && { value: shortened(issue.value) }) })),
    requestId,
    retryAfterMs,
    result,
  });
}

/** Answers with a problem, and adds `retry-after` if the time is known. */
export function answerWithProblem(response: ServerResponse, problem: Problem, headers?: OutgoingHttpHeaders): void {
  const { status, requestId, retryAfterMs } = problem;
  answerText(response, status, visibleText(JSON.stringify(problem)), {
    ...(retryAfterMs !== undefined && { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }),
    ...headers,
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    "x-request-id": requestId,
  });
}

/** Refuses a method that a path does not support, and lists the supported ones. */
export function refuseMethodWithProblem(request: IncomingMessage, response: ServerResponse, allow: string): void {
  const error = new ArsenalError("INPUT_INVALID", `This path takes ${allow} only.`, { fix: `Use ${allow}.` });
  answerWithProblem(response, toProblem(error, requestIdOf(request), { status: 405 }), { allow });
}

/** Returns the caller's id of a request if it is short and printable. Otherwise creates an id, which later calls return too. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const given = headers["x-request-id"];
  if (typeof given === "string" && /^[\x21-\x7e]{1,128}$/.test(given)) return given;
  return (headers["x-request-id"] = randomUUID());
}

/** Codes for the host's own refusals, which happen before a surface gets the request. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  500: "INTERNAL_ERROR",
  503: "CLOSED",
};

export function refuseWithProblem(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message }: { readonly status: number; readonly message: string },
  headers?: OutgoingHttpHeaders,
): void {
  const error = new ArsenalError(CODES[status] ?? "INPUT_INVALID", message);
  answerWithProblem(response, toProblem(error, requestIdOf(request), { status }), headers);
}

function shortened(value: unknown): unknown {
  if (typeof value !== "object" && typeof value !== "string") return typeof value === "bigint" ? String(value) : value;
  const text = showValue(value, SHOWN);
  return text.endsWith("…") ? text : value;
}
