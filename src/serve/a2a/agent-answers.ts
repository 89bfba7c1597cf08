import { type AgentEvent, createAgent, type NeededApproval, type SavedRun } from "../../agent/index.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { Serving } from "../surface.ts";
import { ownerOf } from "./call-context.ts";
import { dataPart, textPart } from "./events.ts";
import type { A2aRun, AnswerText } from "./executor.ts";
import { bookAttachment, runKey } from "./tasks/task-index.ts";

/** Minimum text length of a report, in characters. */
const CHUNK = 200;
/** For a sealed run that waits for an approval. */
const MOST_SAVED_BYTES = 1024 * 1024;

/** Answers texts with the configured model. A run that needs an approval is saved, and continues with the next message to its task. */
export function createAgentAnswers(
  { arsenal, replica, redactor }: Pick<Serving, "arsenal" | "replica" | "redactor">,
  { ttlMs, clock = systemClock }: { readonly ttlMs: number; readonly clock?: Clock },
): AnswerText {
  const { seal, state } = replica;
  const { documents } = state;
  const keyOf = ({ principal, taskId }: A2aRun): string => runKey(ownerOf(principal), taskId);
  const bindingOf = (key: string) => ({ principal: { id: key }, plane: "a2a", method: "run", params: {} });

  const book = ({ principal, taskId }: A2aRun, bytes: number): Promise<void> =>
    bookAttachment(documents, "run", { owner: ownerOf(principal), taskId, bytes, expiresAt: clock.now() + ttlMs });

  /** Removes the saved run of a task and returns it, so that only one message can resume the run. */
  async function take(run: A2aRun): Promise<SavedRun | undefined> {
    const key = keyOf(run);
    const entry = run.task && (await documents.get(key));
    if (typeof entry?.value !== "string" || !(await documents.delete(key, { ifVersion: entry.version })))
      return undefined;
    await book(run, 0);
    return seal.open(entry.value, bindingOf(key)) as SavedRun | undefined;
  }

  async function keep(run: A2aRun, saved: SavedRun): Promise<void> {
    const key = keyOf(run);
    const sealed = seal.seal({ ...saved }, bindingOf(key), ttlMs);
    if (sealed.length > MOST_SAVED_BYTES)
      throw new ArsenalError(
        "AGENT_STOPPED",
        `The conversation takes ${sealed.length} bytes, and at most ${MOST_SAVED_BYTES} can be stored until a call is approved. Ask for less at once.`,
      );
    await book(run, sealed.length);
    await documents.set(key, sealed, { expiresAt: clock.now() + ttlMs });
  }

  return async (text, run) => {
    const { llm } = arsenal;
    if (llm === undefined) return false;
    const saved = await take(run);
    if (saved === undefined && text === undefined) return false;
    const { principal, toolset, signal, report, trace } = run;
    const agent = createAgent({
      llm,
      arsenal: {
        retrieve: (query) => arsenal.retrieve(query),
        execute: (call) => arsenal.execute(call),
        getTool: (name, namespace = "default", by = {}) => arsenal.getTool(name, namespace, { principal, ...by }),
      },
      principal,
      ...(toolset !== undefined && { toolset }),
    });
    const follow = { signal, onEvent: eventReporter(run, redactor) };
    const traced = trace === undefined ? {} : { traceId: trace.traceId };
    const going = saved === undefined ? agent.run(text ?? "", { ...follow, ...traced }) : agent.resume(saved, follow);
    const result = await going.result;
    signal.throwIfAborted();
    if (result.status === "paused") {
      await keep(run, going.save());
      report.end("input-required", approvalParts(redactor.value(result.approvals)));
    } else if (result.status === "answered") report.end("completed");
    else throw new ArsenalError("AGENT_STOPPED", `The agent stopped without an answer: ${result.status}.`);
    return true;
  };
}

/** Reports an agent's progress: its text as a growing artifact, its calls as status updates. */
function eventReporter({ report, task }: A2aRun, redactor: Serving["redactor"]): (event: AgentEvent) => void {
  const redact = redactor.stream();
  let said = "";
  let append = task?.artifacts.some(({ artifactId }) => artifactId === "answer") ?? false;
  function tell(last: boolean): void {
    if (said === "") return;
    report.artifact({ name: "answer", parts: [textPart(redact(said))], append, last });
    said = "";
    append = true;
  }
  return (event) => {
    switch (event.type) {
      case "text":
        said += event.text;
        if (said.length >= CHUNK) tell(false);
        return;
      case "call-started":
        tell(false);
        return report.working([textPart(`Calling ${event.toolName}.`)], { callId: event.callId, tool: event.toolName });
      case "call-finished":
        return report.working(undefined, { callId: event.callId, status: event.result.status });
      case "finished":
        return tell(true);
      default:
    }
  };
}

function approvalParts(approvals: readonly NeededApproval[]) {
  const lines = approvals.map(({ message }) => message);
  const [first] = approvals;
  return [
    textPart([...lines, "Once the approval is answered, send any message to this task to continue."].join("\n")),
    dataPart({
      status: "pending_confirmation",
      code: "CONFIRMATION_REQUIRED",
      ...(first && { confirmationId: first.confirmationId }),
      approvals: approvals.map(({ confirmationId, toolName, arguments: given }) => ({
        confirmationId,
        toolName,
        arguments: given,
      })),
    }),
  ];
}
