import { present } from "../../../base/present.ts";
import { randomUUID } from "node:crypto";
import { Message, SendMessageRequest, StreamResponse, Task, type TaskPushNotificationConfig } from "@a2a-js/sdk";
import { toLegacyHTTPError } from "@a2a-js/sdk/compat/v0_3/server";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { card03 } from "./card-03.ts";
import type { HttpCodec } from "./http-json.ts";

type Json = Readonly<Record<string, unknown>>;

/** The HTTP+JSON binding of 0.3: JSON of the 0.3 protocol buffers, in which parts are called `content`. */
export const CODEC_03: HttpCodec = {
  contentType: "application/json",
  cardPath: "/card",
  sentStatus: 201,
  card: card03,
  request: toRequest,
  sent: (result) =>
    "messageId" in result ? { message: fromMessage(Message.toJSON(result) as Json) } : { task: toTask(result) },
  task: toTask,
  event: toEvent,
  readConfig(body, taskId) {
    const inner = body["pushNotificationConfig"] ?? body["push_notification_config"] ?? body["config"];
    if (!isPlainObject(inner)) throw new RequestMalformedError("pushNotificationConfig is required.");
    return toConfig(inner, taskId);
  },
  config: fromConfig,
  configs: ({ configs }) => ({ configs: configs.map(fromConfig) }),
  errorBody: toLegacyHTTPError,
};

/** Reads a message to send. Also accepts `parts` as in the JSON-RPC binding, each with a `kind`. */
function toRequest(body: Json): SendMessageRequest {
  const message = body["message"] ?? body["request"];
  if (!isPlainObject(message)) throw new RequestMalformedError("message is required.");
  const content = message["content"] ?? message["parts"];
  if (!Array.isArray(content)) throw new RequestMalformedError("message.content must be a list of parts.");
  if (typeof (message["messageId"] ?? message["message_id"]) !== "string")
    throw new RequestMalformedError("message.messageId is required.");
  const configuration = isPlainObject(body["configuration"]) ? body["configuration"] : undefined;
  const push = configuration?.["pushNotification"] ?? configuration?.["push_notification"];
  const request = SendMessageRequest.fromJSON({
    message: { ...message, role: toRole(message["role"]), parts: content.map(toPart) },
    ...(configuration && {
      configuration: { ...configuration, returnImmediately: configuration["blocking"] !== true },
    }),
    ...(isPlainObject(body["metadata"]) && { metadata: body["metadata"] }),
  });
  // Protocol buffers cannot distinguish 0 from an omitted value, and omitting the value means the whole history.
  if (request.configuration?.historyLength === 0) request.configuration.historyLength = undefined;
  if (request.configuration && isPlainObject(push))
    request.configuration.taskPushNotificationConfig = toConfig(push, "");
  return request;
}

function toRole(role: unknown): unknown {
  if (role === "user") return "ROLE_USER";
  return role === "agent" ? "ROLE_AGENT" : role;
}

function toPart(part: unknown): object {
  if (!isPlainObject(part)) throw new RequestMalformedError("Each part of a message must be an object.");
  const { text, file, data, metadata } = part;
  if (typeof text === "string") return { text, metadata };
  if (isPlainObject(file)) {
    const url = file["fileWithUri"] ?? file["file_with_uri"] ?? file["uri"];
    const raw = file["fileWithBytes"] ?? file["file_with_bytes"] ?? file["bytes"];
    const mediaType = file["mimeType"] ?? file["mime_type"];
    return { ...(url === undefined ? { raw } : { url }), mediaType, filename: file["name"], metadata };
  }
  const inner = isPlainObject(data) && part["kind"] === undefined && isPlainObject(data["data"]) ? data["data"] : data;
  return { data: inner, metadata };
}

/** Converts a part of 1.0 to the JSON of 0.3. */
function fromPart(part: Json): Json {
  const { text, url, raw, mediaType, filename, data } = part;
  if (text !== undefined) return { text };
  if (data !== undefined) return { data: { data: isPlainObject(data) ? data : { value: data } } };
  const content = url === undefined ? { fileWithBytes: raw } : { fileWithUri: url };
  return { file: { ...content, ...present({ mimeType: mediaType, name: filename }) } };
}

const partsOf = (json: Json): readonly Json[] => ((json["parts"] as readonly Json[] | undefined) ?? []).map(fromPart);

function fromMessage(json: Json): Json {
  const { parts: _, referenceTaskIds: __, ...message } = json;
  return { ...message, content: partsOf(json) };
}

function fromStatus(json: Json): Json {
  const { state, message } = json;
  return {
    ...json,
    state: state === "TASK_STATE_CANCELED" ? "TASK_STATE_CANCELLED" : state,
    ...(message !== undefined && { message: fromMessage(message as Json) }),
  };
}

const fromArtifact = (json: Json): Json => ({ ...json, parts: partsOf(json) });

function fromTask(json: Json): Json {
  const { status, history, artifacts } = json;
  return present({
    ...json,
    status: status && fromStatus(status as Json),
    history: (history as readonly Json[] | undefined)?.map(fromMessage),
    artifacts: (artifacts as readonly Json[] | undefined)?.map(fromArtifact),
  });
}

function toTask(task: Task): Json {
  return fromTask(Task.toJSON(task) as Json);
}

/** States that end a stream of 0.3. */
const FINAL: ReadonlySet<unknown> = new Set([
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELLED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_INPUT_REQUIRED",
]);

function toEvent(event: StreamResponse): Json {
  const { task, message, statusUpdate, artifactUpdate } = StreamResponse.toJSON(event) as Readonly<
    Record<string, Json>
  >;
  if (task !== undefined) return { task: fromTask(task) };
  if (message !== undefined) return { message: fromMessage(message) };
  if (statusUpdate !== undefined) {
    const status = fromStatus((statusUpdate["status"] ?? {}) as Json);
    return { statusUpdate: { ...statusUpdate, status, ...(FINAL.has(status["state"]) && { final: true }) } };
  }
  return {
    artifactUpdate: { ...artifactUpdate, artifact: fromArtifact((artifactUpdate?.["artifact"] ?? {}) as Json) },
  };
}

function toConfig(given: Json, taskId: string): TaskPushNotificationConfig {
  const { id = "", url = "", token = "", authentication } = given;
  const { schemes, credentials = "" } = isPlainObject(authentication) ? authentication : {};
  const [scheme = ""] = Array.isArray(schemes) ? (schemes as readonly unknown[]) : [];
  return {
    tenant: "",
    taskId,
    id: String(id) || randomUUID(),
    url: String(url),
    token: String(token),
    authentication: isPlainObject(authentication)
      ? { scheme: String(scheme), credentials: String(credentials) }
      : undefined,
  };
}

function fromConfig({ taskId, id, url, token, authentication }: TaskPushNotificationConfig): Json {
  const { scheme = "", credentials = "" } = authentication ?? {};
  return {
    name: `tasks/${taskId}/pushNotificationConfigs/${id}`,
    pushNotificationConfig: {
      id,
      url,
      ...(token !== "" && { token }),
      ...(authentication && { authentication: { schemes: scheme === "" ? [] : [scheme], credentials } }),
    },
  };
}
