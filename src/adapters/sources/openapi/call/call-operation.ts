import { STATUS_CODES } from "node:http";
import { ArsenalError, fixable, isArsenalError } from "../../../../errors/arsenal-error.ts";
import { messageOf } from "../../../../errors/show-value.ts";
import { checkInCall } from "../../../../guard/egress/check-url.ts";
import type { Egress, EgressResponse } from "../../../../guard/egress/egress.ts";
import type { Redactor } from "../../../../guard/redaction/redactor.ts";
import type { Clock } from "../../../../observe/clock.ts";
import type { Handler } from "../../../../tool/handler.ts";
import { traceHeadersOf } from "../../../../base/trace-headers.ts";
import { askedPause } from "../../../service-request.ts";
import { type Authorize, authorized, placeOf } from "../../credentials/authorize.ts";
import type { ClientTokens } from "../../credentials/client-tokens.ts";
import type { ReadOperation } from "../read/read-document.ts";
import { buildRequest } from "./build-request.ts";
import type { OpenFolder } from "./files.ts";
import { readAnswer, readShortly } from "./read-answer.ts";

/** Shared by the operations of one document. */
export interface CallParts {
  readonly egress: Egress;
  readonly authorize: Authorize;
  readonly tokens: ClientTokens;
  /** Removes secrets from error messages: servers may repeat the request in them. */
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly files?: OpenFolder | undefined;
  readonly maxAnswerBytes: number;
}

/** The longest part of a failed response that an error message quotes, in characters. */
const SHOWN_LENGTH = 2000;
/** Methods that are safe to repeat. */
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PUT", "DELETE"]);

/** Creates a handler that calls one operation: builds the request, adds credentials, sends it and reads the response. */
export function createHandler(operation: ReadOperation, parts: CallParts): Handler {
  const { egress, authorize, tokens, files, maxAnswerBytes } = parts;
  const { title, method, path, accept, security } = operation;
  return async (args, { signal, caller, beginRequest }) => {
    const { base, trusted } = operation.server();
    // Checked first: a forbidden call must not request a token.
    checkInCall(new URL(base));
    const { target, headers, cookies, body } = await buildRequest(operation, args, files);
    const authorization = await authorize(security, title, { signal, caller });
    const sent = beginRequest?.();
    const own = {
      ...traceHeadersOf(sent),
      accept,
      ...headers,
      ...(body && { "content-type": body.contentType }),
      ...(body?.length !== undefined && { "content-length": String(body.length) }),
    };
    const { url, ...credentials } = authorized(base + target, own, authorization, cookies);
    const told = { ...placeOf(base), method, target: path };
    let answer: EgressResponse | undefined;
    try {
      answer = await egress.request(url, {
        method,
        ...credentials,
        ...(body && { body: body.content }),
        signal,
        maxBytes: maxAnswerBytes,
        ...(trusted && { allowPrivate: true, publicRedirects: true }),
      });
      const { status } = answer;
      if (status < 400) {
        const read = await readAnswer(answer);
        sent?.end({ ...told, status });
        return read;
      }
      if (status === 401) await authorization.expire?.();
      if (status === 401 && authorization.token !== undefined) tokens.forget(authorization.token);
      throw await toReported(answer, title, parts);
    } catch (error) {
      const failure = toFailure(error, operation, signal);
      const code = isArsenalError(failure) ? failure.code : "EXECUTION_FAILED";
      sent?.end({ ...told, ...(answer && { status: answer.status }), code });
      throw failure;
    }
  };
}

/** Converts an error response of the API. */
async function toReported(answer: EgressResponse, title: string, parts: CallParts): Promise<ArsenalError> {
  const { status, headers } = answer;
  const { clock, redactor } = parts;
  const body = await readShortly(answer, SHOWN_LENGTH, redactor).catch(() => "");
  const shown = `${title} answered ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
  const retryAfterMs = status === 429 || status === 503 ? askedPause(headers, clock) : undefined;
  return new ArsenalError("EXECUTION_FAILED", body === "" ? shown : `${shown}: ${body}`, {
    value: { status, ...(body !== "" && { body }) },
    answered: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** The error for a request without a response, or with an unreadable one. */
function toFailure(error: unknown, { title, method }: ReadOperation, signal: AbortSignal): unknown {
  if (signal.aborted) return new ArsenalError("CANCELLED", `${title} was cancelled`, { cause: error });
  // Any other error: the connection broke while the response was read.
  if (isArsenalError(error) && (error.code !== "TRANSPORT_FAILED" || error.details.beforeSend === true)) return error;
  const what = `${title} was sent, and its answer was lost: ${messageOf(error)}`;
  if (REPEATABLE.has(method)) return new ArsenalError("TRANSPORT_FAILED", what, { cause: error });
  const fix = "Check whether it took effect before you call it again.";
  return fixable("OUTCOME_UNKNOWN", `${what}. It may have taken effect.`, fix, { cause: error });
}
