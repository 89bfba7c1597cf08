import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createSecureServer, type ServerOptions } from "node:https";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { type AgentCard, AgentCard as CardFormat, type Artifact, Role, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";

/** The part of Express that is used. It has no types of its own, and the SDK brings it. */
interface App {
  (...request: Parameters<RequestListener>): void;
  use(path: string, handler: unknown): void;
}
const express = createRequire(import.meta.url)("express") as () => App;

/** What a test agent was asked. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** How a test agent differs from the usual one. */
export interface TestAgentOptions {
  readonly binding?: "JSONRPC" | "HTTP+JSON";
  readonly version?: "1.0" | "0.3";
  readonly streaming?: boolean;
  /** Members of the card, as it is written in 1.0. */
  readonly card?: Readonly<Record<string, unknown>>;
  /** Refuses a request with this status. */
  readonly refuse?: (request: IncomingMessage) => number | undefined;
  readonly sign?: (card: AgentCard) => Promise<AgentCard>;
  readonly tls?: ServerOptions;
}

/** An agent on the A2A SDK, on loopback. */
export interface TestAgent extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** How often a message was taken. */
  readonly runs: readonly string[];
  /** What each message had beside its text. */
  readonly messages: readonly RequestContext["userMessage"][];
  /** Resolves when a task that waits was started, with its id. */
  readonly waiting: Promise<string>;
  /** Resolves when a task was cancelled, with its id. */
  readonly cancelled: Promise<string>;
  /** Whether a task was cancelled by now. */
  isCancelled(): boolean;
  /** Lets the tasks that wait go on. */
  release(): void;
  /** Breaks every connection that is open. */
  breakConnections(): void;
  /** Changes the card. */
  change(card: Readonly<Record<string, unknown>>): void;
}

const SKILLS = [
  {
    id: "forecast",
    name: "Forecast",
    description: "Tells the weather of the coming days for a city.",
    tags: ["weather", "meteorology"],
    examples: ["Will it rain in Oslo tomorrow?"],
  },
  { id: "move-funds", name: "Move funds", description: "Moves money between two accounts.", tags: ["banking"] },
];

/** Starts an agent whose messages say what it is to do: `task`, `ask`, `fail`, `wait` … */
export async function startTestAgent(options: TestAgentOptions = {}): Promise<TestAgent> {
  const { binding = "JSONRPC", version = "1.0", streaming = true, refuse, sign, tls } = options;
  const seen: SeenRequest[] = [];
  const app = express();
  const listener: RequestListener = (request, response) => {
    seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers });
    const status = refuse?.(request);
    if (status === undefined) return app(request, response);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { code: status, message: "Who are you?" } }));
  };
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const card = (more: Readonly<Record<string, unknown>> = {}): AgentCard =>
    CardFormat.fromJSON({
      name: "Weather agent",
      description: "Knows the weather. It works day and night.",
      version: "1.2.0",
      supportedInterfaces: [{ url: `${url}/agent`, protocolBinding: binding, protocolVersion: version }],
      capabilities: { streaming },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: SKILLS,
      ...options.card,
      ...more,
    });
  let current = card();
  const executor = createExecutor();
  const legacyCompat = { enabled: version === "0.3" };
  const handler = new DefaultRequestHandler(current, new InMemoryTaskStore(), executor);
  const served = async (): Promise<AgentCard> => (sign === undefined ? current : sign(current));
  const cards = agentCardHandler({ agentCardProvider: served });
  // A client that asks for 1.0 is shown the card of an agent that knows only 0.3, as such an agent shows it.
  const legacyCards = agentCardHandler({ agentCardProvider: served, legacyCompat });
  app.use(
    "/.well-known/agent-card.json",
    version === "1.0"
      ? cards
      : (request: IncomingMessage, ...rest: readonly unknown[]) => {
          request.headers["a2a-version"] = "0.3";
          return (legacyCards as (...all: readonly unknown[]) => unknown)(request, ...rest);
        },
  );
  const common = { requestHandler: handler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
  app.use("/agent", binding === "JSONRPC" ? jsonRpcHandler(common) : restHandler(common));

  return {
    url,
    seen,
    runs: executor.runs,
    messages: executor.messages,
    waiting: executor.waiting,
    cancelled: executor.cancelled,
    isCancelled: executor.isCancelled,
    release: executor.release,
    breakConnections: () => server.closeAllConnections(),
    change: (more) => void (current = card(more)),
    async [Symbol.asyncDispose]() {
      executor.release();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface TestExecutor extends AgentExecutor {
  readonly runs: string[];
  readonly messages: RequestContext["userMessage"][];
  readonly waiting: Promise<string>;
  readonly cancelled: Promise<string>;
  isCancelled(): boolean;
  release(): void;
}

function createExecutor(): TestExecutor {
  const runs: string[] = [];
  const messages: RequestContext["userMessage"][] = [];
  const waiting = Promise.withResolvers<string>();
  const cancelled = Promise.withResolvers<string>();
  const released = Promise.withResolvers<void>();
  let isCancelled = false;
  return {
    isCancelled: () => isCancelled,
    runs,
    messages,
    waiting: waiting.promise,
    cancelled: cancelled.promise,
    release: released.resolve,
    async execute({ userMessage, taskId, contextId, task }, bus) {
      const [first] = userMessage.parts;
      const text = first?.content?.$case === "text" ? first.content.value : "";
      runs.push(text);
      messages.push(userMessage);
      const tell = createTeller(bus, taskId, contextId);
      if (text === "hello") return tell.message("Hello yourself");
      // Whoever goes on with a task is first told how it stands.
      if (task === undefined) tell.task();
      else bus.publish(AgentEvent.task(task));
      if (task !== undefined) {
        tell.status(TaskState.TASK_STATE_WORKING, "Thanks");
        tell.artifact("answer", [textPart(`You said ${text}`)]);
        return tell.status(TaskState.TASK_STATE_COMPLETED);
      }
      switch (text) {
        case "ask":
          return tell.status(TaskState.TASK_STATE_INPUT_REQUIRED, "Which city?");
        case "log in":
          return tell.status(TaskState.TASK_STATE_AUTH_REQUIRED, "Log in at https://weather.example.com");
        case "fail":
          return tell.status(TaskState.TASK_STATE_FAILED, "The sensors are down");
        case "reject":
          return tell.status(TaskState.TASK_STATE_REJECTED, "Not my job");
        case "wait":
          tell.status(TaskState.TASK_STATE_WORKING, "Looking at the sky");
          waiting.resolve(taskId);
          await Promise.race([released.promise, cancelled.promise]);
          tell.artifact("answer", [textPart("It cleared up")]);
          return tell.status(TaskState.TASK_STATE_COMPLETED);
        case "chunks":
          tell.artifact("answer", [textPart("It will ")]);
          tell.artifact("answer", [textPart("rain")], true);
          return tell.status(TaskState.TASK_STATE_COMPLETED);
        case "files":
          tell.artifact("answer", [
            textPart("See the map"),
            { content: { $case: "data", value: { degrees: 21 } }, metadata: undefined, filename: "", mediaType: "" },
            filePart("map.png", "image/png", { $case: "url", value: "https://weather.example.com/map.png" }),
            filePart("small.bin", "application/octet-stream", { $case: "raw", value: Buffer.from("abc") }),
            filePart("huge.bin", "application/octet-stream", { $case: "raw", value: Buffer.alloc(1_100_000) }),
          ]);
          return tell.status(TaskState.TASK_STATE_COMPLETED);
        default:
          tell.status(TaskState.TASK_STATE_WORKING, "Looking at the sky");
          tell.artifact("answer", [textPart("Sunny")]);
          return tell.status(TaskState.TASK_STATE_COMPLETED, "Done");
      }
    },
    async cancelTask(taskId, bus) {
      createTeller(bus, taskId, "").status(TaskState.TASK_STATE_CANCELED, "As you wish");
      isCancelled = true;
      cancelled.resolve(taskId);
    },
  };
}

type TaskPart = Artifact["parts"][number];

function createTeller(bus: ExecutionEventBus, taskId: string, contextId: string) {
  const toMessage = (text: string) => ({
    messageId: crypto.randomUUID(),
    role: Role.ROLE_AGENT,
    parts: [textPart(text)],
    taskId,
    contextId,
    extensions: [],
    referenceTaskIds: [],
    metadata: undefined,
  });
  const toStatus = (state: TaskState, text?: string) => ({
    state,
    message: text === undefined ? undefined : toMessage(text),
    timestamp: undefined,
  });
  return {
    message: (text: string) => bus.publish(AgentEvent.message({ ...toMessage(text), taskId: "" })),
    task: () =>
      bus.publish(
        AgentEvent.task({
          id: taskId,
          contextId,
          status: toStatus(TaskState.TASK_STATE_SUBMITTED),
          artifacts: [],
          history: [],
          metadata: undefined,
        }),
      ),
    status: (state: TaskState, text?: string) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: toStatus(state, text), metadata: undefined })),
    artifact: (artifactId: string, parts: TaskPart[], append = false) =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: { artifactId, name: artifactId, description: "", parts, metadata: undefined, extensions: [] },
          append,
          lastChunk: false,
          metadata: undefined,
        }),
      ),
  };
}

function textPart(text: string): TaskPart {
  return { content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" };
}

function filePart(filename: string, mediaType: string, content: NonNullable<TaskPart["content"]>): TaskPart {
  return { content, metadata: undefined, filename, mediaType };
}
