import type { OutgoingHttpHeaders } from "node:http";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { isLegacyJsonRpcMethod } from "@a2a-js/sdk/compat/v0_3";
import { A2A_ERROR_CODE, ContentTypeNotSupportedError, VersionNotSupportedError } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler } from "@a2a-js/sdk/server";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { answerJson, refuseMethod } from "../../http/answer.ts";
import type { HttpExchange } from "../../surface.ts";
import { retryAfter, shuttingDown, type Work } from "../../work.ts";
import { type Admission, limitRefusal } from "../admission.ts";
import { type A2aVersion, toCallContext } from "../call-context.ts";
import { checkRequest, MOST_ID_LENGTH } from "../request-limits.ts";
import type { Streams } from "./stream.ts";
import type { TaskHandler } from "../tasks/task-handler.ts";
import { createTasksSend, isTasksSend } from "./tasks-send.ts";

interface RpcRequest extends Record<string, unknown> {
  readonly id?: string | number | null;
  readonly method: string;
}

/** Methods that create or continue a task. */
const BEGIN: ReadonlySet<string> = new Set([
  "SendMessage",
  "SendStreamingMessage",
  "message/send",
  "message/stream",
  "tasks/send",
  "tasks/sendSubscribe",
]);

/** Answers JSON-RPC requests of 1.0, of 0.3, and of earlier drafts (`tasks/send`). */
export function createJsonRpc(parts: {
  readonly handler: TaskHandler;
  readonly streams: Streams;
  readonly work: Work;
  readonly admission: Admission;
}): (exchange: HttpExchange) => Promise<void> {
  const { handler, streams, work, admission } = parts;
  const current = new JsonRpcTransportHandler(handler);
  const legacy = new LegacyJsonRpcTransportHandler(handler);
  const tasksSend = createTasksSend(handler);

  return async (exchange) => {
    const { request, response } = exchange;
    if (request.method !== "POST") return refuseMethod(response, "POST");
    try {
      admission.enter(exchange);
    } catch (error) {
      return refuse(response, null, error, { connection: "close" });
    }
    const body = await exchange.json();
    if ("refused" in body) {
      const { status, code, message } = body.refused;
      if (status === 415) {
        const error = new ContentTypeNotSupportedError(message);
        return answerJson(response, 200, failure(null, JsonRpcTransportHandler.mapToJSONRPCError(error)));
      }
      return answerJson(response, status, failure(null, { code, message }));
    }
    const { value } = body;
    if (!isRequest(value)) {
      const id = isPlainObject(value) && isId(value["id"]) ? value["id"] : null;
      const message = `This is not a JSON-RPC 2.0 request, or its id is longer than ${MOST_ID_LENGTH} characters.`;
      // Clients expect JSON-RPC errors with status 200. A value that is not an object is not JSON-RPC.
      const status = isPlainObject(value) ? 200 : 400;
      return answerJson(response, status, failure(id, { code: A2A_ERROR_CODE.INVALID_REQUEST, message }));
    }
    const { id = null, method } = value;
    const asked = withoutTenant(value);
    if (work.draining && BEGIN.has(method)) {
      const { message } = shuttingDown();
      return answerJson(response, 503, failure(id, { code: A2A_ERROR_CODE.INTERNAL_ERROR, message }), retryAfter(work));
    }
    const version = versionOf(request.headers["a2a-version"], () =>
      isLegacyJsonRpcMethod(method) || method.includes("/") ? "0.3" : "1.0",
    );
    if (version === undefined) {
      const error = unsupportedVersion(request.headers["a2a-version"]);
      return answerJson(response, 200, failure(id, JsonRpcTransportHandler.mapToJSONRPCError(error)));
    }
    const context = toCallContext(exchange, version);
    const toError = version === "1.0" ? toCurrentError : toOlderError;
    try {
      checkRequest(value["params"]);
      if (BEGIN.has(method)) await admission.takeMessage(exchange, context);
    } catch (error) {
      return refuse(response, id, error, {}, toError);
    }
    const answered = await (isTasksSend(asked)
      ? tasksSend(asked, context)
      : (version === "1.0" ? current : legacy).handle(asked, context));
    if (!(Symbol.asyncIterator in answered)) return answerJson(response, 200, answered);
    const toBody = (error: unknown): unknown => failure(id, toError(error));
    try {
      await streams.answer(exchange, answered, toBody);
    } catch (error) {
      answerJson(response, 200, toBody(error));
    }
  };
}

const toCurrentError = (error: unknown): object => JsonRpcTransportHandler.mapToJSONRPCError(error);
const toOlderError = (error: unknown): object => LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error);

/** Refuses a request before any work: with status 429 if the caller has reached a limit. */
function refuse(
  response: HttpExchange["response"],
  id: string | number | null,
  error: unknown,
  headers: OutgoingHttpHeaders,
  toError: (error: unknown) => object = toCurrentError,
): void {
  const limited = limitRefusal(error);
  if (limited === undefined) return answerJson(response, 200, failure(id, toError(error)), headers);
  answerJson(response, 429, failure(id, toError(limited.error)), { ...headers, ...limited.headers });
}

/** Returns the version in a header, or the default if the header is omitted; undefined if the version is not supported. `1.0.1` is read as 1.0. */
export function versionOf(
  header: string | readonly string[] | undefined,
  byDefault: () => A2aVersion,
): A2aVersion | undefined {
  if (header === undefined || header === "") return byDefault();
  const [, version] = /^(1\.0|0\.3)(?:\.\d+)?$/.exec(String(header).trim()) ?? [];
  return version as A2aVersion | undefined;
}

export function unsupportedVersion(asked: unknown): VersionNotSupportedError {
  return new VersionNotSupportedError(
    `A2A version ${JSON.stringify(asked)} is not supported. Supported versions: 1.0, 0.3.`,
  );
}

/** Removes the tenant from a request. A caller's tenant is part of its identity, so a request cannot set it. */
function withoutTenant(request: RpcRequest): RpcRequest {
  const { params } = request;
  if (!isPlainObject(params) || params["tenant"] === undefined) return request;
  const { tenant: _, ...others } = params;
  return { ...request, params: others };
}

function isRequest(value: unknown): value is RpcRequest {
  if (!isPlainObject(value) || value["jsonrpc"] !== "2.0") return false;
  const { id = null, method } = value;
  return isId(id) && typeof method === "string" && method !== "";
}

/** Limits the length of an id, because every answer to the request repeats it. */
function isId(id: unknown): id is string | number | null {
  if (typeof id === "string") return id.length <= MOST_ID_LENGTH;
  return id === null || Number.isInteger(id);
}

function failure(id: string | number | null, error: object): object {
  return { jsonrpc: "2.0", id, error };
}
