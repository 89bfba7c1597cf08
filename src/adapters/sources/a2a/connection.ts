import { STATUS_CODES } from "node:http";
import type { Readable } from "node:stream";
import { ArsenalError, isArsenalError } from "../../../errors/arsenal-error.ts";
import type { ErrorCode } from "../../../errors/codes.ts";
import { checkInCall } from "../../../guard/egress/check-url.ts";
import type { Egress, EgressResponse } from "../../../guard/egress/egress.ts";
import type { Redactor } from "../../../guard/redaction/redactor.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { EndedRequest, HandlerContext } from "../../../tool/handler.ts";
import { traceHeadersOf } from "../../../tool/trace-headers.ts";
import type { Authorization, Authorize } from "../credentials/authorize.ts";
import type { ClientTokens } from "../credentials/client-tokens.ts";
import type { Security } from "../credentials/security.ts";
import { createEventReader } from "../mcp/transports/read-events.ts";
import { readShortly } from "../openapi/call/read-answer.ts";
import { parseObject } from "../parse-object.ts";
import { type AgentInterface, type Outgoing, readUpdate, type Update, writeSend } from "./messages.ts";

/** What can be asked of an agent. */
export type Request =
  | { readonly kind: "send" | "stream"; readonly message: Outgoing }
  | { readonly kind: "get" | "cancel" | "subscribe"; readonly taskId: string };

/** What an agent is reached by. */
export interface AgentParts {
  readonly name: string;
  readonly egress: Egress;
  readonly authorize: Authorize;
  readonly tokens: ClientTokens;
  /** Agents repeat what they were sent. */
  readonly redactor: Redactor;
  readonly maxAnswerBytes: number;
  /** Whether the operator wrote an address, so that it may be on this machine or a private network. */
  readonly isTrusted: (url: string) => boolean;
}

/** For which call a request is made. */
export interface RequestOptions extends Pick<HandlerContext, "beginRequest" | "caller"> {
  readonly signal: AbortSignal;
  readonly security: Security;
}

/** Names of the JSON-RPC methods, by version. */
const METHODS: Readonly<Record<AgentInterface["version"], Readonly<Record<Request["kind"], string>>>> = {
  "1.0": {
    send: "SendMessage",
    stream: "SendStreamingMessage",
    get: "GetTask",
    cancel: "CancelTask",
    subscribe: "SubscribeToTask",
  },
  "0.3": {
    send: "message/send",
    stream: "message/stream",
    get: "tasks/get",
    cancel: "tasks/cancel",
    subscribe: "tasks/resubscribe",
  },
  draft: {
    send: "tasks/send",
    stream: "tasks/sendSubscribe",
    get: "tasks/get",
    cancel: "tasks/cancel",
    subscribe: "tasks/resubscribe",
  },
};

/** Characters of a failed answer that its error repeats. */
const SHOWN_LENGTH = 1000;

/** Sends one request and yields what the agent answers: one update, or those of a stream until it ends. */
export async function* converse(
  request: Request,
  via: AgentInterface,
  parts: AgentParts,
  options: RequestOptions,
): AsyncGenerator<Update> {
  const { name, egress, authorize, tokens, maxAnswerBytes, isTrusted } = parts;
  const { signal, security, caller } = options;
  const { url, method, body } = via.binding === "JSONRPC" ? toRpc(request, via) : toHttp(request, via);
  // Before a token is asked for on behalf of a call that may not be made.
  checkInCall(new URL(url));
  const authorization = await authorize(security, name, { signal, caller });
  const isStream = request.kind === "stream" || request.kind === "subscribe";
  const sent = options.beginRequest?.();
  let answer: EgressResponse | undefined;
  let code: ErrorCode | undefined;
  try {
    answer = await egress.request(withQuery(url, authorization), {
      method,
      headers: {
        accept: isStream ? "text/event-stream, application/json" : "application/json",
        "user-agent": "toolarsenal",
        ...(via.version === "draft" ? {} : { "a2a-version": via.version }),
        ...traceHeadersOf(sent),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...authorization.headers,
        ...cookieOf(authorization),
      },
      secretHeaders: Object.keys(authorization.headers),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
      maxBytes: maxAnswerBytes,
      maxRedirects: 0,
      trusted: isTrusted(url),
    });
    if (answer.status >= 400 && authorization.token !== undefined) tokens.forget(authorization.token);
    if (answer.status >= 300) throw await toRefusal(answer, parts);
    if (/^text\/event-stream\b/i.test(answer.headers["content-type"] ?? "")) yield* readStream(answer, parts);
    else yield toUpdate(await readText(answer, parts), parts);
  } catch (error) {
    code = isArsenalError(error) ? error.code : "EXECUTION_FAILED";
    throw error;
  } finally {
    answer?.body.destroy();
    sent?.end({ ...toldOf(request, via), ...(answer && { status: answer.status }), ...(code && { code }) });
  }
}

/** What traces say of a request, whichever binding and version it is made in. */
function toldOf(request: Request, { url, version }: AgentInterface): EndedRequest {
  const { hostname, port, protocol } = new URL(url);
  const skill = "message" in request ? request.message.skill : undefined;
  return {
    method: METHODS["1.0"][request.kind],
    ...(skill === undefined ? {} : { target: skill }),
    transport: "http",
    address: hostname,
    port: Number(port) || (protocol === "https:" ? 443 : 80),
    ...(version === "draft" ? {} : { protocolVersion: version }),
  };
}

interface Written {
  readonly url: string;
  readonly method: string;
  readonly body?: object;
}

let lastId = 0;

function toRpc(request: Request, via: AgentInterface): Written {
  const tenant = via.tenant === undefined ? {} : { tenant: via.tenant };
  const params = "message" in request ? writeSend(request.message, via) : { ...tenant, id: request.taskId };
  const body = { jsonrpc: "2.0", id: ++lastId, method: METHODS[via.version][request.kind], params };
  return { url: via.url, method: "POST", body };
}

function toHttp(request: Request, via: AgentInterface): Written {
  const base = via.url.replace(/\/+$/, "");
  const prefix = via.version === "0.3" && !base.endsWith("/v1") ? "/v1" : "";
  const tenant = via.tenant === undefined ? "" : `/${encodeURIComponent(via.tenant)}`;
  const at = (path: string): string => `${base}${prefix}${tenant}${path}`;
  if ("message" in request) {
    const body = writeSend(request.message, via);
    return { url: at(`/message:${request.kind}`), method: "POST", body };
  }
  const path = `/tasks/${encodeURIComponent(request.taskId)}`;
  if (request.kind === "get") return { url: at(path), method: "GET" };
  if (request.kind === "subscribe") return { url: at(`${path}:subscribe`), method: "GET" };
  return { url: at(`${path}:cancel`), method: "POST", body: {} };
}

function withQuery(url: string, { query }: Authorization): string {
  return query.length === 0 ? url : `${url}${url.includes("?") ? "&" : "?"}${query.join("&")}`;
}

function cookieOf({ cookies, headers }: Authorization): { readonly cookie?: string } {
  const all = [...cookies, headers["cookie"]].filter((each) => each !== undefined);
  return all.length === 0 ? {} : { cookie: all.join("; ") };
}

async function* readStream(answer: EgressResponse, parts: AgentParts): AsyncGenerator<Update> {
  const events: string[] = [];
  let isTooLong = false;
  const reader = createEventReader({
    maxBytes: parts.maxAnswerBytes,
    onData: (data) => void events.push(data),
    onTooLong: () => void (isTooLong = true),
  });
  for await (const chunk of chunksOf(answer, parts)) {
    reader.push(chunk);
    if (isTooLong) throw tooLong(parts);
    for (const event of events.splice(0)) yield toUpdate(event, parts);
  }
}

async function readText(answer: EgressResponse, parts: AgentParts): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(answer, parts)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

async function* chunksOf({ body }: EgressResponse, parts: AgentParts): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body as Readable) yield chunk as Buffer;
  } catch (cause) {
    if (isArsenalError(cause) && cause.code === "PROTOCOL_ERROR") throw tooLong(parts, cause);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ArsenalError("TRANSPORT_FAILED", `The answer of the agent ${parts.name} broke off: ${why}`, { cause });
  }
}

function tooLong({ name, maxAnswerBytes }: AgentParts, cause?: unknown): ArsenalError {
  const fix = "Ask for less, or raise max_answer_bytes of the agent.";
  const message = `The agent ${name} answered with more than ${maxAnswerBytes} bytes. ${fix}`;
  return new ArsenalError("RESULT_TOO_LARGE", message, { field: "maxAnswerBytes", fix, cause });
}

function toUpdate(text: string, parts: AgentParts): Update {
  const answer = parseObject(text);
  if (answer === undefined) throw notProtocol(parts, "which is not a JSON object");
  if (isPlainObject(answer["error"])) throw refusedBy(parts, answer["error"]);
  const update = readUpdate("result" in answer ? answer["result"] : answer);
  if (update === undefined) throw notProtocol(parts, "which holds neither a task nor a message");
  return update;
}

function notProtocol({ name }: AgentParts, what: string): ArsenalError {
  const fix = "Check that the address in its card is an A2A endpoint.";
  return new ArsenalError("PROTOCOL_ERROR", `The agent ${name} gave an answer ${what}. ${fix}`, { fix });
}

/** An error that the agent itself answered with, over JSON-RPC or HTTP+JSON. */
function refusedBy({ name, redactor }: AgentParts, error: Readonly<Record<string, unknown>>): ArsenalError {
  const { code, message, status } = error;
  const said = redactor.text(typeof message === "string" ? message : "it gave no reason").slice(0, SHOWN_LENGTH);
  const value = { ...(code === undefined ? {} : { code }), ...(typeof status === "string" ? { status } : {}) };
  const shown = typeof code === "number" ? ` (${code})` : "";
  return new ArsenalError("EXECUTION_FAILED", `The agent ${name} refused${shown}: ${said}`, { value, answered: true });
}

async function toRefusal(answer: EgressResponse, parts: AgentParts): Promise<ArsenalError> {
  const { status, headers } = answer;
  const { name, redactor } = parts;
  const shown = `HTTP ${status}${STATUS_CODES[status] === undefined ? "" : ` ${STATUS_CODES[status]}`}`;
  if (status < 400) {
    const fix = "Set endpoint to the address that it redirects to, if you trust it.";
    const message = `The agent ${name} redirected the call to ${headers["location"] ?? "nowhere"}. ${fix}`;
    return new ArsenalError("PROTOCOL_ERROR", message, { field: "endpoint", fix, answered: true });
  }
  const body = await readShortly(answer, SHOWN_LENGTH, redactor).catch(() => "");
  const told = parseObject(body);
  const error = isPlainObject(told?.["error"]) ? told["error"] : told;
  const said = typeof error?.["message"] === "string" ? error["message"] : body;
  const seconds = status === 429 || status === 503 ? Number(headers["retry-after"]) : Number.NaN;
  const fix = status === 401 || status === 403 ? "Check the agent's credentials and headers." : undefined;
  const message = `The agent ${name} answered ${shown}${said === "" ? "" : `: ${said}`}`;
  return new ArsenalError(
    "EXECUTION_FAILED",
    fix === undefined ? message : `${message}${/[.!?]$/.test(message) ? "" : "."} ${fix}`,
    {
      value: { code: error?.["code"] ?? status, status },
      answered: true,
      ...(fix === undefined ? {} : { fix }),
      ...(Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {}),
    },
  );
}

/** Codes and statuses with which an agent says that it knows no such operation, so that nothing happened. */
const UNKNOWN_OPERATION: ReadonlySet<unknown> = new Set([-32601, -32004, 404, 405, 501]);

/** True if the agent does not know the operation: it did nothing. */
export function isUnknownOperation(error: unknown): boolean {
  if (!isArsenalError(error) || error.details.answered !== true || !isPlainObject(error.details.value)) return false;
  const { code, status } = error.details.value;
  return UNKNOWN_OPERATION.has(code) || UNKNOWN_OPERATION.has(status);
}
