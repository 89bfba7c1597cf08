import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from "@a2a-js/sdk/server";
import { Role, TaskState, type Message, type Part } from "@a2a-js/sdk";

type Content = NonNullable<Part["content"]>;

/** One thing that the agent does, in the order in which the kit's scenarios list them. */
type Step =
  | { readonly state: TaskState; readonly says?: string }
  | { readonly artifact: Part; readonly id?: string; readonly append?: boolean; readonly last?: boolean }
  | { readonly message: string }
  | { readonly waitMs: number };

const { TASK_STATE_WORKING: WORKING, TASK_STATE_COMPLETED: COMPLETED, TASK_STATE_CANCELED: CANCELED } = TaskState;

const part = (content: Content, filename = "", mediaType = ""): Part => ({
  content,
  metadata: undefined,
  filename,
  mediaType,
});
const text = (value: string): Part => part({ $case: "text", value });
const file = part({ $case: "raw", value: Buffer.from("tck") }, "output.txt", "text/plain");
const done: Step = { state: COMPLETED };
const streamed = (...artifacts: readonly Step[]): readonly Step[] => [{ state: WORKING }, ...artifacts, done];

/** The kit runs a task it means to subscribe to again for twice its own streaming timeout, 2 s unless it is told otherwise. */
const longEnoughMs = 2000 * Number(process.env["TCK_STREAMING_TIMEOUT"] ?? 2);

/** The scenarios of the compatibility kit, by what the id of the message begins with. Of two that match, the longer one counts. */
const scenarios: Readonly<Record<string, readonly Step[]>> = {
  "tck-complete-task": [{ state: COMPLETED, says: "Hello from TCK" }],
  "tck-artifact-text": [{ artifact: text("Generated text content") }, done],
  "tck-artifact-file": [{ artifact: file }, done],
  "tck-artifact-file-url": [
    { artifact: part({ $case: "url", value: "https://example.com/output.txt" }, "output.txt", "text/plain") },
    done,
  ],
  "tck-artifact-data": [{ artifact: part({ $case: "data", value: { key: "value", count: 42 } }) }, done],
  "tck-message-response": [{ message: "Direct message response" }],
  "tck-input-required": [{ state: TaskState.TASK_STATE_INPUT_REQUIRED }],
  "tck-reject-task": [{ state: TaskState.TASK_STATE_REJECTED, says: "rejected" }],
  "tck-stream-001": streamed({ artifact: text("Stream hello from TCK") }),
  "tck-stream-002": [done],
  "tck-stream-003": streamed({ artifact: text("Stream task lifecycle") }),
  "tck-stream-ordering-001": streamed({ artifact: text("Ordered output") }),
  "tck-stream-artifact-text": streamed({ artifact: text("Streamed text content") }),
  "tck-stream-artifact-file": streamed({ artifact: file }),
  "tck-stream-artifact-chunked": streamed(
    { artifact: text("chunk-1 "), id: "chunked", append: true },
    { artifact: text("chunk-2"), id: "chunked", append: true, last: true },
  ),
  "test-resubscribe-message-id": [{ state: WORKING }, { waitMs: longEnoughMs }, done],
};

const byLength = Object.keys(scenarios).toSorted((a, b) => b.length - a.length);

/** The 0.3 kit has no scenarios: it continues and cancels the tasks it starts, so they stay open. */
const stays: readonly Step[] = [{ state: TaskState.TASK_STATE_INPUT_REQUIRED, says: "What else?" }];

function stepsFor({ messageId }: Message): readonly Step[] {
  const prefix = byLength.find((start) => messageId.startsWith(start));
  const scenario = prefix === undefined ? undefined : scenarios[prefix];
  return (
    scenario ?? (messageId.startsWith("tck-") ? [{ state: COMPLETED, says: `No scenario for ${messageId}` }] : stays)
  );
}

/** The agent that the A2A compatibility kit expects to talk to: it does what the id of a message asks for. */
export function tckExecutor(): AgentExecutor {
  const running = new Map<string, { readonly contextId: string; readonly stop: AbortController }>();

  const says = (value: string, taskId: string, contextId: string): Message => ({
    messageId: crypto.randomUUID(),
    taskId,
    contextId,
    role: Role.ROLE_AGENT,
    parts: [text(value)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  });

  const status = (state: TaskState, message?: Message) => ({ state, message, timestamp: new Date().toISOString() });

  return {
    async execute({ taskId, contextId, task, userMessage }: RequestContext, bus: ExecutionEventBus) {
      const steps = stepsFor(userMessage);
      const stop = new AbortController();
      running.set(taskId, { contextId, stop });
      if (!steps.some((step) => "message" in step)) {
        bus.publish(
          AgentEvent.task(
            task ?? {
              id: taskId,
              contextId,
              status: status(TaskState.TASK_STATE_SUBMITTED),
              artifacts: [],
              history: [userMessage],
              metadata: undefined,
            },
          ),
        );
      }
      for (const [index, step] of steps.entries()) {
        if (stop.signal.aborted) return;
        if ("waitMs" in step) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, step.waitMs);
            stop.signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
          });
        } else if ("message" in step) {
          bus.publish(AgentEvent.message(says(step.message, "", contextId)));
        } else if ("artifact" in step) {
          const artifact = {
            artifactId: step.id ?? `artifact-${index}`,
            name: "",
            description: "",
            parts: [step.artifact],
            metadata: undefined,
            extensions: [],
          };
          bus.publish(
            AgentEvent.artifactUpdate({
              taskId,
              contextId,
              artifact,
              append: step.append ?? false,
              lastChunk: step.last ?? true,
              metadata: undefined,
            }),
          );
        } else {
          const message = step.says === undefined ? undefined : says(step.says, taskId, contextId);
          bus.publish(
            AgentEvent.statusUpdate({ taskId, contextId, status: status(step.state, message), metadata: undefined }),
          );
        }
      }
      if (!stop.signal.aborted) bus.finished();
    },

    cancelTask(taskId, bus) {
      const task = running.get(taskId);
      task?.stop.abort();
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId: task?.contextId ?? "",
          status: status(CANCELED),
          metadata: undefined,
        }),
      );
      bus.finished();
      return Promise.resolve();
    },
  };
}
