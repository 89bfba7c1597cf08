import { ArsenalError, isArsenalError } from "../../../../errors/arsenal-error.ts";
import { sideOfRpcError } from "../../../../errors/blame.ts";
import type { ErrorCode } from "../../../../errors/codes.ts";
import type { EndedRequest, HandlerContext } from "../../../../tool/handler.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { traceHeadersOf } from "../../../../base/trace-headers.ts";
import type { McpRequest, McpRequestParts } from "../../../../mcp/connection.ts";
import { isInputRequired, type JsonObject, RPC, RpcError, type RpcNotification } from "../../../../mcp/protocol.ts";
import { followTask } from "./follow-task.ts";
import type { McpUpstream } from "../upstream/upstream.ts";
import { isRefusedByStatus } from "./failures.ts";

export interface ServerRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The target of the request, for error messages. */
  readonly subject: string;
}

const NO_REQUEST: McpRequestParts = Object.freeze({});

/**
 * Returns the request that an MCP surface passed to a call, if there is one. An approval is valid for one call, so the client must not repeat an
 * approved call to answer questions: the gateway asks them itself.
 */
export function callOf({ request, approved }: HandlerContext): McpRequestParts {
  const call = request?.source === "mcp" ? (request as McpRequest) : NO_REQUEST;
  return approved === true && call.passInputRequired === true ? { ...call, passInputRequired: false } : call;
}

/** Sends the request of a call to its server, on the caller's own connection if there is one. Returns the result unchanged. */
export function sendRequest(
  upstream: McpUpstream,
  request: ServerRequest,
  context: HandlerContext,
): Promise<JsonObject> {
  const call = callOf(context);
  const { connection, ask, passInputRequired } = call;
  const extra = extraFor(request, call);
  const { method, headers = call.headers } = request;
  const { signal, caller } = context;
  const sent = context.beginRequest?.();
  const trace = traceHeadersOf(sent);
  const options = {
    signal,
    onNotification: call.onNotification ?? toProgress(context),
    headers: trace ? { ...headers, ...trace } : headers,
  };
  const plain = { ...(call.onNotification === undefined ? askingForProgress(extra) : extra), ...request.params };
  const params = trace ? withTrace(plain, trace) : plain;
  const answer = answered(upstream, request, context, () => {
    const { onTask } = call;
    if (connection === undefined)
      return upstream.request(method, params, { ...options, caller, ask, passInputRequired, onTask });
    const following = { server: upstream.name, signal, ask, onTask };
    return connection.request(method, params, options).then((result) => followTask(result, connection, following));
  });
  if (sent?.recorded !== true) return answer;
  const end = (code?: ErrorCode): void =>
    sent.end({ ...whereOf(upstream), ...targetOf(request), method, ...(code && { code }) });
  return answer.then(
    (result) => (end(result["isError"] === true ? "EXECUTION_FAILED" : undefined), result),
    (error: unknown) => {
      end(isArsenalError(error) ? error.code : "EXECUTION_FAILED");
      throw error;
    },
  );
}

function whereOf({ settings: { transport }, state }: McpUpstream): Omit<EndedRequest, "method"> {
  const version = state.kind === "connected" ? { protocolVersion: state.protocolVersion } : {};
  if (transport.kind === "stdio") return { ...version, transport: "pipe" };
  const url = URL.parse(transport.url);
  const port = Number(url?.port) || (url?.protocol === "https:" || url?.protocol === "wss:" ? 443 : 80);
  return {
    ...version,
    transport: transport.kind === "websocket" ? "tcp" : "http",
    ...(url !== null && { address: url.hostname, port }),
  };
}

/** Returns the target of a request, for traces. */
function targetOf({ params }: ServerRequest): { readonly target?: string } {
  const target = params["name"] ?? params["uri"];
  return typeof target === "string" ? { target } : {};
}

/**
 * Returns the client's other parameters if the client made this very request. If the client called a tool instead, the policy has checked only the
 * arguments, so only `_meta` is returned.
 */
function extraFor(
  { method }: ServerRequest,
  { method: asked = "tools/call", extra }: McpRequestParts,
): JsonObject | undefined {
  if (asked === method) return extra;
  const meta = extra?.["_meta"];
  return meta === undefined ? undefined : { _meta: meta };
}

/**
 * Returns a server's result unchanged, marked if it answers the client's own request. Throws if the server refused the request, or asks a question
 * that no client can answer.
 */
export async function answered(
  upstream: McpUpstream,
  { method, subject }: Pick<ServerRequest, "method" | "subject">,
  context: HandlerContext,
  send: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const { method: asked = "tools/call", passInputRequired, connection } = callOf(context);
  if (asked === method) context.answersRequest?.();
  let result: JsonObject;
  try {
    result = await send();
  } catch (error) {
    throw error instanceof RpcError ? toRefusal(error, upstream.name, subject) : error;
  }
  if (isInputRequired(result) && passInputRequired !== true && connection === undefined)
    throw needsInput(upstream.name, subject, result);
  return result;
}

/** Replaces the client's trace context in `_meta` with the trace context of this request. */
function withTrace(params: JsonObject, trace: JsonObject): JsonObject {
  const meta = params["_meta"];
  if (!isPlainObject(meta)) return { ...params, _meta: trace };
  if (meta["tracestate"] === undefined) return { ...params, _meta: { ...meta, ...trace } };
  const { tracestate: _, ...others } = meta;
  return { ...params, _meta: { ...others, ...trace } };
}

/** Adds a progress token, because servers report progress only with a token. Callers without notifications receive it as progress of the tool. */
function askingForProgress(extra: JsonObject | undefined): JsonObject {
  const meta = extra?.["_meta"];
  return { ...extra, _meta: { progressToken: "progress", ...(isPlainObject(meta) ? meta : {}) } };
}

function toProgress(context: HandlerContext): (notification: RpcNotification) => void {
  return ({ method, params }) => {
    if (method !== "notifications/progress" || typeof params?.["progress"] !== "number") return;
    const { progress, total, message } = params;
    context.progress({
      progress,
      ...(typeof total === "number" && { total }),
      ...(typeof message === "string" && { message }),
    });
  };
}

function toRefusal(cause: RpcError, server: string, subject: string): ArsenalError {
  const code = cause.code === RPC.invalidParams ? "ARGUMENTS_INVALID" : "PROTOCOL_ERROR";
  const message = `The MCP server "${server}" refused ${subject} with error ${cause.code}: ${cause.message}`;
  const isFailure = !isRefusedByStatus(cause) && sideOfRpcError(cause.code) === "tool";
  return new ArsenalError(code, message, { answered: true, ...(isFailure && { fault: "tool" as const }), cause });
}

function needsInput(server: string, subject: string, cause: JsonObject): ArsenalError {
  const message = `The MCP server "${server}" asks for input before it answers ${subject}, but this caller cannot answer questions.`;
  const fix = "Call it from a client that supports elicitation.";
  return new ArsenalError("EXECUTION_FAILED", message, { fix, answered: true, cause });
}
