import { randomUUID } from "node:crypto";
import {
  type AgentCard,
  type Message,
  type Part,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  taskStateToJSON,
} from "@a2a-js/sdk";
import { JsonRpcTransportFactory, RestTransportFactory, type Transport } from "@a2a-js/sdk/client";
import { LegacyJsonRpcTransport, LegacyRestTransport } from "@a2a-js/sdk/compat/v0_3/client";

/** A way to speak to an A2A server with the SDK's client. */
export interface A2aWay {
  readonly name: string;
  connect(url: string, headers?: Readonly<Record<string, string>>): Promise<Transport>;
}

/** The SDK adds it in front of its transports. */
const CURRENT = { "A2A-Version": "1.0" };
const NO_CARD = { supportedInterfaces: [] } as unknown as AgentCard;

/** Every version and binding. */
export const A2A_WAYS: readonly [A2aWay, ...A2aWay[]] = [
  {
    name: "JSON-RPC, 1.0",
    connect: (url, headers) =>
      new JsonRpcTransportFactory({ fetchImpl: fetchWith({ ...CURRENT, ...headers }) }).create(`${url}/a2a`, NO_CARD),
  },
  {
    name: "HTTP+JSON, 1.0",
    connect: (url, headers) =>
      new RestTransportFactory({ fetchImpl: fetchWith({ ...CURRENT, ...headers }) }).create(`${url}/a2a/v1`, NO_CARD),
  },
  {
    name: "JSON-RPC, 0.3",
    connect: async (url, headers) =>
      new LegacyJsonRpcTransport({ endpoint: `${url}/a2a`, fetchImpl: fetchWith(headers) }),
  },
  {
    name: "HTTP+JSON, 0.3",
    connect: async (url, headers) => new LegacyRestTransport({ endpoint: `${url}/a2a`, fetchImpl: fetchWith(headers) }),
  },
];

function fetchWith(headers: Readonly<Record<string, string>> = {}): typeof fetch {
  return (input, init) => fetch(input, { ...init, headers: { ...(init?.headers as object), ...headers } });
}

const text = (value: string): Part => ({
  content: { $case: "text", value },
  metadata: undefined,
  filename: "",
  mediaType: "text/plain",
});
const data = (value: object): Part => ({
  content: { $case: "data", value },
  metadata: undefined,
  filename: "",
  mediaType: "application/json",
});

/** A request with one part, a text or data. */
export function asking(
  part: string | object,
  more: Partial<Message & { returnImmediately: boolean }> = {},
): SendMessageRequest {
  const { returnImmediately = false, ...message } = more;
  return {
    tenant: "",
    message: {
      messageId: randomUUID(),
      contextId: "",
      taskId: "",
      role: Role.ROLE_USER,
      parts: [typeof part === "string" ? text(part) : data(part)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...message,
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      historyLength: undefined,
      returnImmediately,
    },
    metadata: undefined,
  };
}

/** The text and data of parts, in order. */
export function contentOf(parts: readonly Part[] | undefined): readonly unknown[] {
  return (parts ?? []).map(({ content }) => content?.value as unknown);
}

/** What a task came to: its state, the content of its status message and of its artifacts. */
export function outcomeOf(task: Task | Message): { state: string; said: readonly unknown[]; made: readonly unknown[] } {
  if (!("artifacts" in task)) throw new Error("This is a message, not a task.");
  return {
    state: taskStateToJSON(task.status?.state ?? 0)
      .replace("TASK_STATE_", "")
      .toLowerCase(),
    said: contentOf(task.status?.message?.parts),
    made: task.artifacts.flatMap(({ parts }) => contentOf(parts)),
  };
}

/** Each event of a stream in a few words: `task submitted`, `working`, `artifact …`. */
export async function readEvents(stream: AsyncIterable<StreamResponse>): Promise<readonly string[]> {
  const events: string[] = [];
  for await (const event of stream) events.push(eventText(event));
  return events;
}

export function eventText({ payload }: StreamResponse): string {
  const state = (status: { readonly state: number } | undefined): string =>
    taskStateToJSON(status?.state ?? 0)
      .replace("TASK_STATE_", "")
      .toLowerCase();
  switch (payload?.$case) {
    case "task":
      return `task ${state(payload.value.status)}`;
    case "statusUpdate":
      return state(payload.value.status);
    case "artifactUpdate":
      return `artifact ${contentOf(payload.value.artifact?.parts)
        .map((each) => JSON.stringify(each))
        .join(" ")}`;
    case "message":
      return `message ${contentOf(payload.value.parts).join(" ")}`;
    default:
      return "nothing";
  }
}
