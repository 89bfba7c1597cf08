import { STATUS_CODES } from "node:http";
import { ArsenalError, fixable, isArsenalError } from "../../../../errors/arsenal-error.ts";
import { messageOf } from "../../../../errors/show-value.ts";
import { checkInCall } from "../../../../guard/egress/check-url.ts";
import type { Egress, EgressResponse } from "../../../../guard/egress/egress.ts";
import type { Redactor } from "../../../../guard/redaction/redactor.ts";
import type { Clock } from "../../../../observe/clock.ts";
import type { EndedRequest, Handler } from "../../../../tool/handler.ts";
import { traceHeadersOf } from "../../../../tool/trace-headers.ts";
import type { Authorization, Authorize } from "../../credentials/authorize.ts";
import { buildRequest, type BuiltRequest, type RequestPlan } from "./build-request.ts";
import type { ClientTokens } from "../../credentials/client-tokens.ts";
import { askedPause } from "../../../retry-after.ts";
import { readAnswer, readShortly } from "./read-answer.ts";
import type { Security } from "../../credentials/security.ts";
import type { Server } from "../read/servers.ts";

/** What one operation is called by. */
export interface OperationPlan extends RequestPlan {
  /** `GET /pets/{id}` */
  readonly title: string;
  readonly security: Security;
  readonly accept: string;
  /** Throws CONFIG_INVALID where the settings and the document do not say. */
  readonly server: () => Server;
}

/** What the operations of one document share. */
export interface CallParts {
  readonly egress: Egress;
  readonly authorize: Authorize;
  readonly tokens: ClientTokens;
  /** Servers repeat what they were sent. */
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly filesFrom?: string | undefined;
  readonly maxAnswerBytes: number;
}

/** Characters of a failed answer that its error repeats. */
const SHOWN_LENGTH = 2000;
/** Methods that do no more the second time. */
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PUT", "DELETE"]);

/** Calls one operation: builds the request, adds credentials, sends it and reads the answer. */
export function createHandler(plan: OperationPlan, parts: CallParts): Handler {
  const { egress, authorize, tokens, filesFrom, maxAnswerBytes } = parts;
  return async (args, { signal, caller, beginRequest }) => {
    const { base, trusted } = plan.server();
    // Before anything is asked for on behalf of a call that may not be made.
    checkInCall(new URL(base));
    const request = await buildRequest(plan, args, filesFrom);
    const authorization = await authorize(plan.security, plan.title, { signal, caller });
    const sent = beginRequest?.();
    let status: number | undefined;
    try {
      const answer = await egress.request(toUrl(base, request, authorization), {
        method: request.method,
        headers: {
          ...traceHeadersOf(sent),
          ...toHeaders(plan, request, authorization),
        },
        secretHeaders: Object.keys(authorization.headers),
        ...(request.body === undefined ? {} : { body: request.body.content }),
        signal,
        maxBytes: maxAnswerBytes,
        ...(trusted ? { allowPrivate: true, publicRedirects: true } : {}),
      });
      ({ status } = answer);
      if (answer.status < 400) {
        const read = await readAnswer(answer);
        sent?.end(ended(plan, base, { status }));
        return read;
      }
      if (answer.status === 401 && authorization.token !== undefined) tokens.forget(authorization.token);
      throw await toReported(answer, plan, parts);
    } catch (error) {
      const failure = toFailure(error, plan, signal);
      const code = isArsenalError(failure) ? failure.code : "EXECUTION_FAILED";
      sent?.end(ended(plan, base, { ...(status !== undefined && { status }), code }));
      throw failure;
    }
  };
}

/** What traces say of a request that has ended. */
function ended({ title }: OperationPlan, base: string, how: Pick<EndedRequest, "status" | "code">): EndedRequest {
  const { hostname, port, protocol } = new URL(base);
  const [method = "", target = ""] = title.split(" ");
  const address = { address: hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
  return { method, target, transport: "http", ...address, ...how };
}

function toUrl(base: string, { target }: BuiltRequest, { query }: Authorization): string {
  if (query.length === 0) return base + target;
  return `${base}${target}${target.includes("?") ? "&" : "?"}${query.join("&")}`;
}

function toHeaders(
  plan: OperationPlan,
  { headers, cookies, body }: BuiltRequest,
  given: Authorization,
): Record<string, string> {
  const allCookies = [...cookies, ...given.cookies, given.headers["cookie"]].filter((each) => each !== undefined);
  return {
    accept: plan.accept,
    "user-agent": "toolarsenal",
    ...headers,
    ...(body === undefined ? {} : { "content-type": body.contentType }),
    ...(body?.length === undefined ? {} : { "content-length": String(body.length) }),
    // Last: no argument can take the place of a credential.
    ...given.headers,
    ...(allCookies.length === 0 ? {} : { cookie: allCookies.join("; ") }),
  };
}

/** An error that the API itself answered with. */
async function toReported(
  answer: EgressResponse,
  { title }: OperationPlan,
  { clock, redactor }: CallParts,
): Promise<ArsenalError> {
  const { status, headers } = answer;
  const body = await readShortly(answer, SHOWN_LENGTH, redactor).catch(() => "");
  const reason = STATUS_CODES[status] === undefined ? "" : ` ${STATUS_CODES[status]}`;
  const retryAfterMs = status === 429 || status === 503 ? askedPause(headers, clock) : undefined;
  const message = `${title} answered ${status}${reason}${body === "" ? "" : `: ${body}`}`;
  return new ArsenalError("EXECUTION_FAILED", message, {
    value: { status, ...(body === "" ? {} : { body }) },
    answered: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** What became of a request that was not answered, or whose answer could not be read. */
function toFailure(error: unknown, { title, method }: OperationPlan, signal: AbortSignal): unknown {
  if (signal.aborted) return new ArsenalError("CANCELLED", `${title} was cancelled`, { cause: error });
  // Any other error: the connection broke while the answer was read.
  if (isArsenalError(error) && (error.code !== "TRANSPORT_FAILED" || error.details.beforeSend === true)) return error;
  const what = `${title} was sent, and its answer was lost: ${messageOf(error)}`;
  if (REPEATABLE.has(method)) return new ArsenalError("TRANSPORT_FAILED", what, { cause: error });
  const fix = "Check whether it took effect before you call it again.";
  return fixable("OUTCOME_UNKNOWN", `${what}. It may have taken effect.`, fix, { cause: error });
}
