import {
  A2A_CONTENT_TYPE,
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  type Message,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
  TaskState,
  taskStateFromJSON,
} from "@a2a-js/sdk";
import {
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  RestRequestMalformedError,
  restStatusFor,
  toRestErrorBody,
} from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { answerText } from "../../http/answer.ts";
import type { HttpExchange, Route } from "../../surface.ts";
import { retryAfter, shuttingDown, type Work } from "../../work.ts";
import { type Admission, limitRefusal } from "../admission.ts";
import { type A2aVersion, toCallContext } from "../call-context.ts";
import { checkRequest } from "../request-limits.ts";
import { unsupportedVersion, versionOf } from "./json-rpc.ts";
import { CODEC_03 } from "./http-json-03.ts";
import type { Streams } from "./stream.ts";
import type { TaskHandler } from "../tasks/task-handler.ts";

interface HttpJsonRequest {
  readonly context: ServerCallContext;
  readonly taskId: string;
  readonly configId: string;
  readonly query: URLSearchParams;
  body(): Promise<Readonly<Record<string, unknown>>>;
}

/** The response of an operation: JSON, nothing, or a stream of JSON. */
type HttpJsonResponse =
  | { readonly status?: number; readonly body: unknown }
  | { readonly status: 204 }
  | { readonly stream: AsyncGenerator<unknown, void, undefined> };

type Operation = (asked: HttpJsonRequest) => Promise<HttpJsonResponse>;

/** Reads requests and writes responses of one version of the HTTP+JSON binding. All versions have the same operations. */
export interface HttpCodec {
  readonly contentType: string;
  readonly cardPath: string;
  readonly sentStatus: number;
  card(card: AgentCard): unknown;
  request(body: Readonly<Record<string, unknown>>): SendMessageRequest;
  sent(result: Message | Task): unknown;
  task(task: Task): unknown;
  event(event: StreamResponse): unknown;
  readConfig(body: Readonly<Record<string, unknown>>, taskId: string): TaskPushNotificationConfig;
  config(config: TaskPushNotificationConfig): unknown;
  configs(listed: ListTaskPushNotificationConfigsResponse): unknown;
  errorBody(error: unknown, status: number): unknown;
}

/** Answers requests of the HTTP+JSON binding, version 1.0 or 0.3 depending on `A2A-Version`. Without this header, the version is 0.3. */
export function createHttpJson(parts: {
  readonly handler: TaskHandler;
  readonly streams: Streams;
  readonly work: Work;
  readonly admission: Admission;
  /** The prefix of all paths: `/a2a/v1`. */
  readonly base: string;
}): Required<Pick<Route, "handle" | "template">> {
  const { handler, streams, work, admission, base } = parts;
  const bindings = {
    "1.0": { ...CODEC_10, operations: { ...operationsOf(handler, CODEC_10), "GET /tasks": listTasks(handler) } },
    "0.3": { ...CODEC_03, operations: operationsOf(handler, CODEC_03) },
  } satisfies Readonly<Record<A2aVersion, object>>;

  function template(_method: string, path: string): string {
    const pattern = patternOf(path.slice(base.length));
    const isKnown = Object.values(bindings).some(({ operations }) =>
      Object.keys(operations).some((name) => name.endsWith(` ${pattern}`)),
    );
    return base + (isKnown ? pattern : "/");
  }

  async function handle(exchange: HttpExchange): Promise<void> {
    const { request, response, url } = exchange;
    const asked = request.headers["a2a-version"];
    const version = versionOf(asked, () => "0.3");
    const binding = bindings[version ?? "1.0"];
    const { contentType } = binding;
    const answer = (status: number, body: unknown, headers = {}): void =>
      answerText(response, status, JSON.stringify(body), { ...headers, "content-type": contentType });
    const toError = (error: unknown): unknown => binding.errorBody(error, restStatusFor(error));
    const refuse = (error: unknown): void => {
      const limited = limitRefusal(error);
      if (limited === undefined) return answer(restStatusFor(error), toError(error));
      // The connection is closed, because the body may be unread.
      answer(429, binding.errorBody(limited.error, 429), { ...limited.headers, connection: "close" });
    };

    if (version === undefined) return refuse(unsupportedVersion(asked));
    const found = findOperation(request.method ?? "", url.pathname.slice(base.length), binding.operations);
    if (found === undefined) {
      const message = `There is no ${request.method} ${url.pathname} in A2A ${version}.`;
      return answer(404, binding.errorBody(new RequestMalformedError(message), 404));
    }
    if (work.draining && found.name.startsWith("POST /message:"))
      return answer(503, binding.errorBody(new Error(shuttingDown().message), 503), retryAfter(work));
    try {
      admission.enter(exchange);
      const context = toCallContext(exchange, version);
      if (found.name.startsWith("POST /message:")) await admission.takeMessage(exchange, context);
      const given = await found.run({
        context,
        taskId: found.taskId,
        configId: found.configId,
        query: url.searchParams,
        body: () => bodyOf(exchange),
      });
      if ("stream" in given) return await streams.answer(exchange, given.stream, toError);
      if ("body" in given) return answer(given.status ?? 200, given.body);
      response.writeHead(204).end();
    } catch (error) {
      refuse(error);
    }
  }

  return { handle, template };
}

interface RoutedOperation {
  readonly name: string;
  readonly run: Operation;
  readonly taskId: string;
  readonly configId: string;
}

const PATH = /^\/tasks\/(?<task>[^/:]+)(?<action>:\w+|\/pushNotificationConfigs(?:\/(?<config>[^/]+))?)?$/;

/** Returns the template of an operation's path: `/tasks/{id}`. */
function patternOf(path: string): string {
  const { task, config } = PATH.exec(path)?.groups ?? {};
  if (config !== undefined) return "/tasks/{id}/pushNotificationConfigs/{configId}";
  return task === undefined ? path : path.replace(`/tasks/${task}`, "/tasks/{id}");
}

function findOperation(
  method: string,
  path: string,
  operations: Readonly<Record<string, Operation>>,
): RoutedOperation | undefined {
  const { task, config } = PATH.exec(path)?.groups ?? {};
  const name = `${method} ${patternOf(path)}`;
  const run = operations[name];
  try {
    return run && { name, run, taskId: decodeURIComponent(task ?? ""), configId: decodeURIComponent(config ?? "") };
  } catch {
    return undefined;
  }
}

/** Reads the body. An omitted body and `null` become an empty object. */
async function bodyOf({ request, ...exchange }: HttpExchange): Promise<Readonly<Record<string, unknown>>> {
  if (request.headers["content-type"] === undefined && !(Number(request.headers["content-length"]) > 0)) return {};
  const body = await exchange.json({ types: ["application/json", A2A_CONTENT_TYPE] });
  if ("refused" in body) {
    const { status, message } = body.refused;
    throw status === 415
      ? new ContentTypeNotSupportedError(message)
      : new RestRequestMalformedError({ message, statusCode: status });
  }
  if (body.value === null) return {};
  if (!isPlainObject(body.value)) throw new RequestMalformedError("The body must be an object.");
  checkRequest(body.value);
  return body.value;
}

/** Returns the operations that both versions have, by method and path. */
function operationsOf(handler: TaskHandler, codec: HttpCodec): Readonly<Record<string, Operation>> {
  async function* written(events: AsyncGenerator<StreamResponse, void, undefined>) {
    for await (const event of events) yield codec.event(event);
  }
  const subscribe: Operation = async ({ taskId: id, context }) => ({
    stream: written(handler.resubscribe({ id, tenant: "" }, context)),
  });
  return {
    [`GET ${codec.cardPath}`]: async ({ context }) => ({
      body: await codec.card(await handler.getAuthenticatedExtendedAgentCard({ tenant: "" }, context)),
    }),
    "POST /message:send": async ({ body, context }) => {
      const result = await handler.sendMessage(codec.request(await body()), context);
      return { status: codec.sentStatus, body: codec.sent(result) };
    },
    "POST /message:stream": async ({ body, context }) => ({
      stream: written(handler.sendMessageStream(codec.request(await body()), context)),
    }),
    "GET /tasks/{id}": async ({ taskId: id, context, query }) => {
      const historyLength = whole(query, "historyLength") ?? whole(query, "history_length");
      return { body: codec.task(await handler.getTask({ id, tenant: "", historyLength }, context)) };
    },
    "POST /tasks/{id}:cancel": async ({ taskId: id, context }) => ({
      body: codec.task(await handler.cancelTask({ id, tenant: "", metadata: {} }, context)),
    }),
    "GET /tasks/{id}:subscribe": subscribe,
    "POST /tasks/{id}:subscribe": subscribe,
    "POST /tasks/{id}/pushNotificationConfigs": async ({ taskId, context, body }) => {
      if ((await handler.getAgentCard()).capabilities?.pushNotifications !== true)
        throw new PushNotificationNotSupportedError();
      const config = codec.readConfig(await body(), taskId);
      return { status: 201, body: codec.config(await handler.createTaskPushNotificationConfig(config, context)) };
    },
    "GET /tasks/{id}/pushNotificationConfigs": async ({ taskId, context }) => {
      const asked = { taskId, tenant: "", pageSize: 0, pageToken: "" };
      return { body: codec.configs(await handler.listTaskPushNotificationConfigs(asked, context)) };
    },
    "GET /tasks/{id}/pushNotificationConfigs/{configId}": async ({ taskId, configId: id, context }) => ({
      body: codec.config(await handler.getTaskPushNotificationConfig({ taskId, id, tenant: "" }, context)),
    }),
    "DELETE /tasks/{id}/pushNotificationConfigs/{configId}": async ({ taskId, configId: id, context }) => {
      await handler.deleteTaskPushNotificationConfig({ taskId, id, tenant: "" }, context);
      return { status: 204 };
    },
  };
}

const CODEC_10: HttpCodec = {
  contentType: A2A_CONTENT_TYPE,
  cardPath: "/extendedAgentCard",
  sentStatus: 200,
  card: AgentCard.toJSON,
  request(body) {
    const params = SendMessageRequest.fromJSON(body);
    if (!params.message?.messageId) throw new RequestMalformedError("message.messageId is required.");
    return params;
  },
  sent: (result) =>
    SendMessageResponse.toJSON({
      payload: "messageId" in result ? { $case: "message", value: result } : { $case: "task", value: result },
    }),
  task: Task.toJSON,
  event: StreamResponse.toJSON,
  readConfig: (body, taskId) => TaskPushNotificationConfig.fromJSON({ ...body, taskId }),
  config: TaskPushNotificationConfig.toJSON,
  configs: ListTaskPushNotificationConfigsResponse.toJSON,
  errorBody(error, status) {
    const body = toRestErrorBody(error, status);
    return status === 429 ? { error: { ...body.error, status: "RESOURCE_EXHAUSTED" } } : body;
  },
};

/** Lists tasks, which only version 1.0 supports. */
function listTasks(handler: TaskHandler): Operation {
  return async ({ context, query }) => {
    const status = query.get("status") ?? "";
    const listed = await handler.listTasks(
      {
        tenant: "",
        contextId: query.get("contextId") ?? "",
        status:
          status === ""
            ? TaskState.TASK_STATE_UNSPECIFIED
            : taskStateFromJSON(/^\d+$/.test(status) ? Number(status) : status),
        pageSize: whole(query, "pageSize"),
        pageToken: query.get("pageToken") ?? "",
        historyLength: whole(query, "historyLength"),
        statusTimestampAfter: query.get("statusTimestampAfter") ?? undefined,
        includeArtifacts: query.get("includeArtifacts") === "true",
      },
      context,
    );
    const { pageSize, totalSize, nextPageToken } = listed;
    return { body: { tasks: [], ...(ListTasksResponse.toJSON(listed) as object), pageSize, totalSize, nextPageToken } };
  };
}

/** Reads a whole number from the query string; undefined if it is omitted. */
function whole(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given === null || given === "") return undefined;
  if (!/^\d{1,9}$/.test(given.trim())) throw new RequestMalformedError(`${name} must be a whole number.`);
  return Number(given);
}
