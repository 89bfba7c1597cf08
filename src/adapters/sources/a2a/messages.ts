import { asList, asRecord, asRecords, asText, isPlainObject } from "../../../tool/json-schema.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Versions of the protocol. The draft of 2024 has `tasks/send`. */
export type Version = "1.0" | "0.3" | "draft";

export interface AgentInterface {
  readonly url: string;
  readonly binding: "JSONRPC" | "HTTP+JSON";
  readonly version: Version;
  readonly tenant?: string;
}

export type MessagePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "data"; readonly data: unknown }
  /** Either the address of the file or its content, in base64. */
  | ({ readonly kind: "file"; readonly url?: string; readonly base64?: string } & Partial<
      Record<"name" | "mediaType", string>
    >);

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

export interface Artifact {
  readonly id: string;
  readonly parts: readonly MessagePart[];
}

/** A change of a task, or a message that belongs to no task. */
export type Update = { readonly contextId: string | undefined } & (
  | { readonly kind: "message"; readonly taskId: string | undefined; readonly parts: readonly MessagePart[] }
  | { readonly kind: "artifact"; readonly taskId: string; readonly artifact: Artifact; readonly append: boolean }
  | {
      readonly kind: "task" | "status";
      readonly taskId: string;
      readonly state: TaskState;
      readonly parts: readonly MessagePart[];
      readonly artifacts: readonly Artifact[];
    }
);

export interface Outgoing {
  readonly messageId: string;
  /** Omitted if the message has only a data part. */
  readonly text?: string | undefined;
  readonly data?: JsonObject | undefined;
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly skill?: string | undefined;
}

/** Builds the parameters of sending a message. The agent is asked to return a task at once; the task is then followed. */
export function writeSend(message: Outgoing, { version, binding, tenant }: AgentInterface): JsonObject {
  const { messageId, text, data, taskId, contextId, skill } = message;
  const metadata = skill === undefined ? undefined : { skillId: skill };
  const common = { messageId, taskId, contextId, metadata };
  /** `mark` is the field that names the kind of a part, in versions that have such a field. */
  const partsOf = (mark?: "kind" | "type"): readonly object[] => [
    ...(text === undefined ? [] : [{ ...(mark && { [mark]: "text" }), text }]),
    ...(data === undefined ? [] : [{ ...(mark && { [mark]: "data" }), data }]),
  ];
  switch (version) {
    case "1.0":
      return {
        tenant,
        message: { ...common, role: "ROLE_USER", parts: partsOf() },
        configuration: { returnImmediately: true },
      };
    case "0.3": {
      const configuration = { blocking: false };
      if (binding === "JSONRPC")
        return { message: { ...common, kind: "message", role: "user", parts: partsOf("kind") }, configuration };
      const content = partsOf().map((part) => ("data" in part ? { data: { data } } : part));
      return { message: { ...common, role: "ROLE_USER", content }, configuration };
    }
    case "draft":
      // In the draft, the client chooses the id of the task.
      return {
        id: taskId ?? messageId,
        sessionId: contextId,
        message: { role: "user", parts: partsOf("type"), metadata },
      };
  }
}

/** Reads an agent's response of any version. Returns undefined if it is invalid. */
export function readUpdate(value: unknown): Update | undefined {
  if (!isPlainObject(value)) return undefined;
  for (const [member, kind] of KINDS) {
    const inner = value[member];
    if (isPlainObject(inner)) return readAs(kind, inner);
  }
  const kind = KINDS.get(String(value["kind"]));
  if (kind !== undefined) return readAs(kind, value);
  // The task of `GetTask` has no wrapper. Nothing in the draft has a wrapper.
  if (isPlainObject(value["artifact"])) return readAs("artifact", value);
  if (!isPlainObject(value["status"])) return undefined;
  return readAs("final" in value && !("artifacts" in value) ? "status" : "task", value);
}

/** Kinds of updates, by the field that wraps them or by their `kind`. */
const KINDS: ReadonlyMap<string, Update["kind"]> = new Map([
  ["task", "task"],
  ["message", "message"],
  ["msg", "message"],
  ["statusUpdate", "status"],
  ["status-update", "status"],
  ["artifactUpdate", "artifact"],
  ["artifact-update", "artifact"],
]);

function readAs(kind: Update["kind"], value: JsonObject): Update | undefined {
  const contextId = asText(value["contextId"]) ?? asText(value["sessionId"]);
  const taskId = asText(value["taskId"]) ?? (kind === "message" ? undefined : asText(value["id"]));
  if (kind === "message") return { kind, taskId, contextId, parts: readParts(value) };
  if (taskId === undefined) return undefined;
  if (kind === "artifact") {
    const artifact = readArtifact(value["artifact"], 0);
    const append = (value["append"] ?? asRecord(value["artifact"])["append"]) === true;
    return artifact && { kind, taskId, contextId, artifact, append };
  }
  const status = asRecord(value["status"]);
  const parts = readParts(asRecord(status["message"] ?? status["update"]));
  const artifacts = asList(value["artifacts"]).flatMap((each, index) => readArtifact(each, index) ?? []);
  // Some agents put their answer only into the history.
  const last =
    kind === "task" && parts.length + artifacts.length === 0
      ? asRecords(value["history"]).findLast(({ role }) => /^(?:ROLE_)?agent$/i.test(String(role)))
      : undefined;
  const said = last === undefined ? parts : readParts(last);
  return { kind, taskId, contextId, state: toState(status["state"]), parts: said, artifacts };
}

/** Maps both spellings, such as `TASK_STATE_INPUT_REQUIRED` and `input-required`, to the same state. */
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
  return { id: asText(artifactId) ?? `#${typeof index === "number" ? index : place}`, parts: readParts(value) };
}

function readParts({ parts, content }: JsonObject): readonly MessagePart[] {
  return asRecords(Array.isArray(parts) ? parts : content).flatMap((part) => readPart(part) ?? []);
}

/** Metadata of a data part whose data is in its `value`. A2A 0.3 allows only objects as data, so lists and numbers are wrapped. */
export const WRAPPED = "toolarsenal/value";

function readPart(part: JsonObject): MessagePart | undefined {
  if (typeof part["text"] === "string") return { kind: "text", text: part["text"] };
  const file = isPlainObject(part["file"]) ? part["file"] : part;
  const name = asText(file["filename"]) ?? asText(file["name"]);
  const mediaType = asText(file["mediaType"]) ?? asText(file["mimeType"]);
  const about = { ...(name !== undefined && { name }), ...(mediaType !== undefined && { mediaType }) };
  const url = asText(file["url"]) ?? asText(file["uri"]) ?? asText(file["fileWithUri"]);
  if (url !== undefined) return { kind: "file", ...about, url };
  const base64 = file["raw"] ?? file["bytes"] ?? file["fileWithBytes"];
  if (typeof base64 === "string") return { kind: "file", ...about, base64 };
  if (!("data" in part)) return undefined;
  const { data } = part;
  // In 0.3 over HTTP, the data is nested one level deeper.
  const isNested = isPlainObject(data) && isPlainObject(data["data"]) && Object.keys(data).length === 1;
  const value = isNested ? data["data"] : data;
  const isWrapped = isPlainObject(value) && asRecord(part["metadata"])[WRAPPED] === true;
  return { kind: "data", data: isWrapped ? value["value"] : value };
}
