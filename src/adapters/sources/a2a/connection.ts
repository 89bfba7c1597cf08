import { STATUS_CODES } from "node:http";
import type { Readable } from "node:stream";
import { ArsenalError, fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import { sideOfRpcError, sideOfStatus } from "../../../errors/blame.ts";
import type { ErrorCode } from "../../../errors/codes.ts";
import { messageOf } from "../../../errors/show-value.ts";
import { checkInCall } from "../../../guard/egress/check-url.ts";
import type { Egress, EgressResponse } from "../../../guard/egress/egress.ts";
import type { Redactor } from "../../../guard/redaction/redactor.ts";
import type { Clock } from "../../../observe/clock.ts";
import { asRecord, isPlainObject } from "../../../tool/json-schema.ts";
import type { EndedRequest, HandlerContext } from "../../../tool/handler.ts";
import { traceHeadersOf } from "../../../base/trace-headers.ts";
import { askedPause } from "../../service-request.ts";
import { type Authorize, authorized, placeOf } from "../credentials/authorize.ts";
import type { ClientTokens } from "../credentials/client-tokens.ts";
import type { Security } from "../credentials/security.ts";
import { createEventReader } from "../mcp/transports/read-events.ts";
import { readShortly } from "../openapi/call/read-answer.ts";
import { parseObject } from "../parse-object.ts";
import { type AgentInterface, type Outgoing, readUpdate, type Update, writeSend } from "./messages.ts";

export type Request =
  | { readonly kind: "send" | "stream"; readonly message: Outgoing }
  | { readonly kind: "get" | "cancel" | "subscribe"; readonly taskId: string }
  | { readonly kind: "card" };

export interface Agent {
  readonly name: string;
  /** The interface for calls. Changes once if the agent supports a later version than its card declares. */
  via: AgentInterface;
  readonly streaming: boolean;
  readonly egress: Egress;
  readonly authorize: Authorize;
  readonly tokens: ClientTokens;
  /** Removes secrets from error messages: agents may repeat the request in them. */
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly maxAnswerBytes: number;
  /** True if the operator wrote the address. It may then be on this machine or in a private network. */
  readonly isTrusted: (url: string) => boolean;
  /** Fires when the agent is disconnected, and cancels its running tasks. */
  readonly closing: AbortSignal;
  /** Registers work that disconnecting waits for, such as cancelling the task of an aborted call. */
  readonly inBackground: (work: Promise<void>) => void;
}

export interface RequestOptions extends Partial<Pick<HandlerContext, "beginRequest" | "caller">> {
  readonly signal: AbortSignal;
  readonly security: Security;
}

const LEGACY_METHODS = { get: "tasks/get", cancel: "tasks/cancel", subscribe: "tasks/resubscribe" };

const METHODS: Readonly<Record<AgentInterface["version"], Readonly<Partial<Record<Request["kind"], string>>>>> = {
  "1.0": {
    send: "SendMessage",
    stream: "SendStreamingMessage",
    get: "GetTask",
    cancel: "CancelTask",
    subscribe: "SubscribeToTask",
    card: "GetExtendedAgentCard",
  },
  "0.3": {
    ...LEGACY_METHODS,
    send: "message/send",
    stream: "message/stream",
    card: "agent/getAuthenticatedExtendedCard",
  },
  draft: { ...LEGACY_METHODS, send: "tasks/send", stream: "tasks/sendSubscribe" },
};

/** The longest part of a failed response that an error message quotes, in characters. */
const SHOWN_LENGTH = 1000;

/** Sends one request and yields the agent's updates. A stream yields several; any other response yields one. */
export async function* converse(request: Request, agent: Agent, options: RequestOptions): AsyncGenerator<Update> {
  const send = await prepare(request, agent, options);
  const sent = options.beginRequest?.();
  let answer: EgressResponse | undefined;
  let code: ErrorCode | undefined;
  try {
    answer = await send(traceHeadersOf(sent));
    if (answer.status >= 300) throw await toRefusal(answer, agent);
    if (/^text\/event-stream\b/i.test(answer.headers["content-type"] ?? "")) yield* readStream(answer, agent);
    else yield toUpdate(await readText(answer, agent), agent);
  } catch (error) {
    code = isArsenalError(error) ? error.code : "EXECUTION_FAILED";
    throw error;
  } finally {
    answer?.body.destroy();
    sent?.end({ ...attributesOf(request, agent.via), ...(answer && { status: answer.status }), ...(code && { code }) });
  }
}

/** Fetches the card for authenticated callers. Returns undefined if the agent refuses it; the public card is then used alone. */
export async function loadExtendedCard(
  agent: Agent,
  options: RequestOptions & { readonly maxBytes: number },
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { version, binding } = agent.via;
  if (version === "draft") return undefined;
  try {
    const send = await prepare({ kind: "card" }, { ...agent, maxAnswerBytes: options.maxBytes }, options);
    const answer = await send();
    const body = parseObject(await readText(answer, agent));
    const card = binding === "JSONRPC" ? body?.["result"] : body;
    return answer.status < 300 && isPlainObject(card) ? card : undefined;
  } catch (error) {
    // Calls report missing or refused credentials themselves. An unreachable agent is retried.
    if (isArsenalError(error) && error.code !== "TRANSPORT_FAILED" && !options.signal.aborted) return undefined;
    throw error;
  }
}

/** Builds a request with its credentials, and returns a function that sends it. Forgets a token that the agent refuses. */
async function prepare(request: Request, agent: Agent, { signal, security, caller }: RequestOptions) {
  const { name, via, egress, authorize, tokens, maxAnswerBytes, isTrusted } = agent;
  const { url, method, body } = via.binding === "JSONRPC" ? toRpc(request, via) : toHttp(request, via);
  // Checked first: a forbidden call must not request a token.
  checkInCall(new URL(url));
  const authorization = await authorize(security, name, { signal, caller });
  const isStream = request.kind === "stream" || request.kind === "subscribe";
  return async (trace?: ReturnType<typeof traceHeadersOf>): Promise<EgressResponse> => {
    const headers = {
      accept: isStream ? "text/event-stream, application/json" : "application/json",
      ...(via.version !== "draft" && { "a2a-version": via.version }),
      ...trace,
      ...(body && { "content-type": "application/json" }),
    };
    const { url: address, ...credentials } = authorized(url, headers, authorization);
    const answer = await egress.request(address, {
      method,
      ...credentials,
      ...(body && { body: JSON.stringify(body) }),
      signal,
      maxBytes: maxAnswerBytes,
      maxRedirects: 0,
      trusted: isTrusted(url),
    });
    if (answer.status >= 400 && authorization.token !== undefined) tokens.forget(authorization.token);
    return answer;
  };
}

/** Returns the trace attributes of a request. They are the same for every binding and version. */
function attributesOf(request: Request, { url, version }: AgentInterface): EndedRequest {
  const target = "message" in request ? request.message.skill : undefined;
  return {
    ...placeOf(url),
    method: METHODS["1.0"][request.kind] ?? "",
    ...(target !== undefined && { target }),
    ...(version !== "draft" && { protocolVersion: version }),
  };
}

interface AgentRequest {
  readonly url: string;
  readonly method: string;
  readonly body?: object;
}

let lastId = 0;

function toRpc(request: Request, via: AgentInterface): AgentRequest {
  const { url, version, tenant } = via;
  const id = "taskId" in request ? request.taskId : undefined;
  const params = "message" in request ? writeSend(request.message, via) : { tenant, id };
  const body = { jsonrpc: "2.0", id: ++lastId, method: METHODS[version][request.kind], params };
  return { url, method: "POST", body };
}

function toHttp(request: Request, via: AgentInterface): AgentRequest {
  const base = via.url.replace(/\/+$/, "");
  const prefix = via.version === "0.3" && !base.endsWith("/v1") ? "/v1" : "";
  const tenant = via.tenant === undefined ? "" : `/${encodeURIComponent(via.tenant)}`;
  const at = (path: string): string => `${base}${prefix}${tenant}${path}`;
  if (request.kind === "card")
    return { url: at(via.version === "0.3" ? "/card" : "/extendedAgentCard"), method: "GET" };
  if ("message" in request)
    return { url: at(`/message:${request.kind}`), method: "POST", body: writeSend(request.message, via) };
  const path = `/tasks/${encodeURIComponent(request.taskId)}`;
  if (request.kind === "cancel") return { url: at(`${path}:cancel`), method: "POST", body: {} };
  return { url: at(request.kind === "get" ? path : `${path}:subscribe`), method: "GET" };
}

async function* readStream(answer: EgressResponse, agent: Agent): AsyncGenerator<Update> {
  const events: string[] = [];
  let isTooLong = false;
  const reader = createEventReader({
    maxBytes: agent.maxAnswerBytes,
    onData: (data) => void events.push(data),
    onTooLong: () => void (isTooLong = true),
  });
  for await (const chunk of chunksOf(answer, agent)) {
    reader.push(chunk);
    if (isTooLong) throw tooLong(agent);
    for (const event of events.splice(0)) yield toUpdate(event, agent);
  }
}

async function readText(answer: EgressResponse, agent: Agent): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(answer, agent)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

async function* chunksOf({ body }: EgressResponse, agent: Agent): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body as Readable) yield chunk as Buffer;
  } catch (cause) {
    if (isArsenalError(cause) && cause.code === "PROTOCOL_ERROR") throw tooLong(agent, cause);
    const problem = `The answer of the agent ${agent.name} broke off: ${messageOf(cause)}`;
    throw new ArsenalError("TRANSPORT_FAILED", problem, { cause });
  }
}

export function tooLong({ name, maxAnswerBytes }: Agent, cause?: unknown): ArsenalError {
  const problem = `The agent ${name} answered with more than ${maxAnswerBytes} bytes.`;
  const fix = "Ask for less, or raise max_answer_bytes of the agent.";
  return fixable("RESULT_TOO_LARGE", problem, fix, { field: "maxAnswerBytes", cause });
}

function toUpdate(text: string, agent: Agent): Update {
  const answer = parseObject(text);
  if (answer === undefined) throw notProtocol(agent, "which is not a JSON object");
  if (isPlainObject(answer["error"])) throw refusedBy(agent, answer["error"]);
  const update = readUpdate("result" in answer ? answer["result"] : answer);
  if (update === undefined) throw notProtocol(agent, "which holds neither a task nor a message");
  return update;
}

function notProtocol({ name }: Agent, what: string): ArsenalError {
  const fix = "Check that the address in its card is an A2A endpoint.";
  return fixable("PROTOCOL_ERROR", `The agent ${name} gave an answer ${what}.`, fix);
}

/** Converts an error response of the agent, over JSON-RPC or HTTP+JSON. */
function refusedBy({ name, redactor }: Agent, error: Readonly<Record<string, unknown>>): ArsenalError {
  const { code, message, status } = error;
  const said = redactor.text(typeof message === "string" ? message : "it gave no reason").slice(0, SHOWN_LENGTH);
  const value = { ...(code !== undefined && { code }), ...(typeof status === "string" && { status }) };
  const shown = typeof code === "number" ? ` (${code})` : "";
  const details = { value, answered: true, ...(isFailure(code) && { fault: "tool" as const }) };
  return new ArsenalError("EXECUTION_FAILED", `The agent ${name} refused${shown}: ${said}`, details);
}

/** True for the codes of JSON-RPC and HTTP that mean the agent failed. A2A's own codes, -32099 to -32001, come from a working agent. */
function isFailure(code: unknown): boolean {
  if (typeof code !== "number" || (code >= -32099 && code <= -32001)) return false;
  return (code >= 400 ? sideOfStatus(code) : sideOfRpcError(code)) === "tool";
}

async function toRefusal(answer: EgressResponse, { name, redactor, clock }: Agent): Promise<ArsenalError> {
  const { status, headers } = answer;
  if (status < 400) {
    const problem = `The agent ${name} redirected the call to ${headers["location"] ?? "nowhere"}.`;
    const fix = "Set endpoint to the address that it redirects to, if you trust it.";
    return fixable("PROTOCOL_ERROR", problem, fix, { field: "endpoint", answered: true, fault: "tool" });
  }
  const body = await readShortly(answer, SHOWN_LENGTH, redactor).catch(() => "");
  const told = parseObject(body) ?? {};
  const error = isPlainObject(told["error"]) ? told["error"] : told;
  const said = typeof error["message"] === "string" ? error["message"] : body;
  const shown = `HTTP ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
  const message = `The agent ${name} answered ${shown}${said === "" ? "" : `: ${said}`}`;
  const retryAfterMs = status === 429 || status === 503 ? askedPause(headers, clock) : undefined;
  const details = {
    value: { code: error["code"] ?? status, status },
    answered: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
  if (status !== 401 && status !== 403) return new ArsenalError("EXECUTION_FAILED", message, details);
  const problem = /[.!?]$/.test(message) ? message : `${message}.`;
  return fixable("EXECUTION_FAILED", problem, "Check the agent's credentials and headers.", details);
}

/** Codes and HTTP statuses for an unsupported operation. The agent did nothing. */
const UNKNOWN_OPERATION: ReadonlySet<unknown> = new Set([-32601, -32004, 404, 405, 501]);

/** True if the agent does not support the operation, and so did nothing. */
export function isUnknownOperation(error: unknown): boolean {
  if (!isArsenalError(error) || error.details.answered !== true) return false;
  const { code, status } = asRecord(error.details.value);
  return UNKNOWN_OPERATION.has(code) || UNKNOWN_OPERATION.has(status);
}
