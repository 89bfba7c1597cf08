import { ArsenalError, type ErrorDetails, fixable } from "../errors/arsenal-error.ts";
import type { ErrorCode } from "../errors/codes.ts";
import type { FetchedResponse } from "./fetched.ts";

/** The gateway's response to a refused request. */
export interface ReadProblem {
  readonly error: ArsenalError;
  /** The result of a call that was refused before it ran. */
  readonly result: unknown;
}

/** Reads `application/problem+json`, or a proxy's response. A request that the gateway cannot parse gets the code `malformed`. */
export async function readProblem(
  response: FetchedResponse,
  malformed: ErrorCode = "INPUT_INVALID",
): Promise<ReadProblem> {
  const { status } = response;
  const body = problemIn(await response.text());
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterMs = body.retryAfterMs ?? (Number.isFinite(seconds) ? seconds * 1000 : undefined);
  // A gateway that responds with Retry-After has not started the request.
  const beforeSend = body.beforeSend ?? (retryAfterMs !== undefined && (status === 429 || status === 503));
  const message = body.detail ?? `The gateway answered ${status}.`;
  const details = { ...detailsOf(body), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const given = body.code ?? codeOf(status);
  const code = given === "INPUT_INVALID" ? malformed : given;
  const error = new ArsenalError(code, message, { ...details, ...(beforeSend && { beforeSend }) });
  return { error, result: body.result };
}

export function toStreamedError(data: string): ArsenalError {
  const { code = "TRANSPORT_FAILED", detail = "The gateway broke off its answer.", ...details } = problemIn(data);
  return new ArsenalError(code, detail, detailsOf(details));
}

export function toArsenalError(
  data: ErrorDetails & { readonly code: ErrorCode; readonly message: string },
): ArsenalError {
  return new ArsenalError(data.code, data.message, detailsOf(data));
}

/** Returns the JSON of a successful response; undefined if the response has no body. */
export async function readJson(response: FetchedResponse): Promise<unknown> {
  const text = await response.text();
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const fix = "Check that url is the address of a ToolArsenal gateway.";
    throw fixable("PROTOCOL_ERROR", "The answer is not JSON.", fix, { cause });
  }
}

interface ProblemBody extends ErrorDetails {
  readonly code?: ErrorCode;
  readonly detail?: string;
  readonly result?: unknown;
}

/** The host's own errors, before a request reaches the API, are `{ error: { message } }`. A proxy may respond with any text. */
function problemIn(text: string): ProblemBody {
  try {
    const body = JSON.parse(text) as ProblemBody & {
      readonly error?: ErrorDetails & { readonly code?: unknown; readonly message?: string };
    };
    if (body.error?.message === undefined) return body;
    const { code, message, ...details } = body.error;
    return { ...details, detail: message, ...(typeof code === "string" && { code: code as ErrorCode }) };
  } catch {
    return {};
  }
}

function detailsOf(given: ErrorDetails): ErrorDetails {
  const { field, value, fix, issues, retryAfterMs, beforeSend, answered, fault } = given;
  const details = { field, value, fix, issues, retryAfterMs, beforeSend, answered, fault };
  return Object.fromEntries(Object.entries(details).filter(([, detail]) => detail !== undefined));
}

/** Returns the error code for the status of a response that contains no code. */
function codeOf(status: number): ErrorCode {
  if (status === 401) return "UNAUTHENTICATED";
  if (status === 403) return "PERMISSION_DENIED";
  if (status === 404 || status === 405) return "PROTOCOL_ERROR";
  if (status === 429) return "RATE_LIMITED";
  if (status === 503) return "SOURCE_UNAVAILABLE";
  return status >= 500 ? "TRANSPORT_FAILED" : "INPUT_INVALID";
}
