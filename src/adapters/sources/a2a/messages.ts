import { isPlainObject } from "../../../tool/json-schema.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** The forms of the protocol: 1.0, 0.3, and the draft of 2024 with `tasks/send`. */
export type Version = "1.0" | "0.3" | "draft";

/** Where an agent is called, and how. */
export interface AgentInterface {
  readonly url: string;
  readonly binding: "JSONRPC" | "HTTP+JSON";
  readonly version: Version;
  readonly tenant?: string;
}

/** A piece of what an agent says. */
export type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "data"; readonly data: unknown }
  | {
      readonly kind: "file";
      readonly name?: string;
      readonly mediaType?: string;
      /** Either where the file is or what it holds, in base64. */
      readonly url?: string;
      readonly base64?: string;
    };

export const TASK_STATES = [
  "submitted",
  "working",
  "input-required",
  "auth-required",
  "completed",
  "failed",
  "rejected",
  "canceled",
  "unknown",
] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** Something that an agent made. */
export interface Artifact {
  readonly id: string;
  readonly parts: readonly Part[];
}

/** What an agent tells of a task, or a message without one. */
export type Update =
  | { readonly kind: "message"; readonly parts: readonly Part[]; readonly contextId?: string; readonly taskId?: string }
  | {
      readonly kind: "task";
      readonly taskId: string;
      readonly contextId?: string;
      readonly state: TaskState;
      readonly parts: readonly Part[];
      readonly artifacts: readonly Artifact[];
    }
  | {
      readonly kind: "status";
      readonly taskId: string;
      readonly contextId?: string;
      readonly state: TaskState;
      readonly parts: readonly Part[];
    }
  | {
      readonly kind: "artifact";
      readonly taskId: string;
      readonly contextId?: string;
      readonly artifact: Artifact;
      readonly append: boolean;
    };

/** What is asked of an agent. */
export interface Outgoing {
  readonly messageId: string;
  /** Omitted if the data says it all. */
  readonly text?: string | undefined;
  readonly data?: JsonObject | undefined;
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  /** The id of the skill that is meant. */
  readonly skill?: string | undefined;
}

/** The parameters of sending a message. The agent answers at once with a task, which is then followed. */
export function writeSend(message: Outgoing, { version, binding, tenant }: AgentInterface): JsonObject {
  const { messageId, text, data, taskId, contextId, skill } = message;
  const ids = { ...(taskId === undefined ? {} : { taskId }), ...(contextId === undefined ? {} : { contextId }) };
  const metadata = skill === undefined ? {} : { metadata: { skillId: skill } };
  switch (version) {
    case "1.0":
      return {
        ...(tenant === undefined ? {} : { tenant }),
        message: {
          messageId,
          role: "ROLE_USER",
          parts: [...(text === undefined ? [] : [{ text }]), ...(data === undefined ? [] : [{ data }])],
          ...ids,
          ...metadata,
        },
        configuration: { returnImmediately: true },
      };
    case "0.3":
      if (binding === "HTTP+JSON")
        return {
          message: {
            messageId,
            role: "ROLE_USER",
            content: [...(text === undefined ? [] : [{ text }]), ...(data === undefined ? [] : [{ data: { data } }])],
            ...ids,
            ...metadata,
          },
          configuration: { blocking: false },
        };
      return {
        message: {
          kind: "message",
          messageId,
          role: "user",
          parts: [
            ...(text === undefined ? [] : [{ kind: "text", text }]),
            ...(data === undefined ? [] : [{ kind: "data", data }]),
          ],
          ...ids,
          ...metadata,
        },
        configuration: { blocking: false },
      };
    case "draft":
      return {
        // Here the client names the task.
        id: taskId ?? messageId,
        ...(contextId === undefined ? {} : { sessionId: contextId }),
        message: {
          role: "user",
          parts: [
            ...(text === undefined ? [] : [{ type: "text", text }]),
            ...(data === undefined ? [] : [{ type: "data", data }]),
          ],
          ...metadata,
        },
      };
  }
}

/** Reads what an agent answered, in any version; undefined if it is none of what an agent may say. */
export function readUpdate(value: unknown): Update | undefined {
  if (!isPlainObject(value)) return undefined;
  for (const [member, kind] of MEMBERS) if (isPlainObject(value[member])) return readAs(kind, value[member]);
  const kind = KINDS.get(value["kind"]);
  if (kind !== undefined) return readAs(kind, value);
  // A task of `GetTask` stands for itself, and so does everything in the draft.
  if (isPlainObject(value["artifact"])) return readAs("artifact", value);
  if (!isPlainObject(value["status"])) return undefined;
  return readAs("final" in value && !("artifacts" in value) ? "status" : "task", value);
}

const MEMBERS: readonly (readonly [member: string, kind: Update["kind"]])[] = [
  ["task", "task"],
  ["message", "message"],
  ["msg", "message"],
  ["statusUpdate", "status"],
  ["artifactUpdate", "artifact"],
];

const KINDS: ReadonlyMap<unknown, Update["kind"]> = new Map([
  ["task", "task"],
  ["message", "message"],
  ["status-update", "status"],
  ["artifact-update", "artifact"],
]);

function readAs(kind: Update["kind"], value: JsonObject): Update | undefined {
  const contextId = textOf(value["contextId"]) ?? textOf(value["sessionId"]);
  const context = contextId === undefined ? {} : { contextId };
  const taskId = textOf(value["taskId"]) ?? (kind === "message" ? undefined : textOf(value["id"]));
  if (kind === "message")
    return { kind, parts: readParts(value), ...context, ...(taskId === undefined ? {} : { taskId }) };
  if (taskId === undefined) return undefined;
  if (kind === "artifact") {
    const artifact = readArtifact(value["artifact"], 0);
    const inner = isPlainObject(value["artifact"]) ? value["artifact"]["append"] : undefined;
    return artifact && { kind, taskId, ...context, artifact, append: (value["append"] ?? inner) === true };
  }
  const status = isPlainObject(value["status"]) ? value["status"] : {};
  const said = status["message"] ?? status["update"];
  const state = toState(status["state"]);
  const parts = isPlainObject(said) ? readParts(said) : [];
  if (kind === "status") return { kind, taskId, ...context, state, parts };
  const artifacts = listOf(value["artifacts"]).flatMap((each, index) => readArtifact(each, index) ?? []);
  // Some agents answer only in the history.
  const last = parts.length + artifacts.length === 0 ? listOf(value["history"]).findLast(isOfAgent) : undefined;
  return { kind, taskId, ...context, state, parts: last === undefined ? parts : readParts(last), artifacts };
}

function isOfAgent(message: unknown): message is JsonObject {
  return isPlainObject(message) && /^(?:ROLE_)?agent$/i.test(String(message["role"]));
}

/** `TASK_STATE_INPUT_REQUIRED` and `input-required` are the same. */
function toState(written: unknown): TaskState {
  const word = String(written)
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
  const known = word === "cancelled" ? "canceled" : word;
  return TASK_STATES.find((state) => state === known) ?? "unknown";
}

function readArtifact(value: unknown, place: number): Artifact | undefined {
  if (!isPlainObject(value)) return undefined;
  const { artifactId, index } = value;
  return { id: textOf(artifactId) ?? `#${typeof index === "number" ? index : place}`, parts: readParts(value) };
}

function readParts(value: JsonObject): readonly Part[] {
  const parts = Array.isArray(value["parts"]) ? value["parts"] : listOf(value["content"]);
  return parts.flatMap((part) => (isPlainObject(part) ? (readPart(part) ?? []) : []));
}

/** True in the metadata of a data part whose `value` is what is meant: A2A 0.3 has no lists, numbers and the like as data. */
export const WRAPPED = "toolarsenal/value";

function readPart(part: JsonObject): Part | undefined {
  if (typeof part["text"] === "string") return { kind: "text", text: part["text"] };
  const file = isPlainObject(part["file"]) ? part["file"] : part;
  const name = textOf(file["filename"]) ?? textOf(file["name"]);
  const mediaType = textOf(file["mediaType"]) ?? textOf(file["mimeType"]);
  const about = { ...(name === undefined ? {} : { name }), ...(mediaType === undefined ? {} : { mediaType }) };
  const url = textOf(file["url"]) ?? textOf(file["uri"]) ?? textOf(file["fileWithUri"]);
  if (url !== undefined) return { kind: "file", ...about, url };
  const base64 = file["raw"] ?? file["bytes"] ?? file["fileWithBytes"];
  if (typeof base64 === "string") return { kind: "file", ...about, base64 };
  if (!("data" in part)) return undefined;
  const { data } = part;
  // In 0.3 over HTTP the data is one level deeper.
  const isNested = isPlainObject(data) && isPlainObject(data["data"]) && Object.keys(data).length === 1;
  const value = isNested ? data["data"] : data;
  const isWrapped = isPlainObject(value) && isPlainObject(part["metadata"]) && part["metadata"][WRAPPED] === true;
  return { kind: "data", data: isWrapped ? value["value"] : value };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
