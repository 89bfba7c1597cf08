import { useState } from "preact/hooks";
import type { Tool, ToolResult } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";
import { to } from "../router.ts";
import { appOf, type ShownCall } from "./app.ts";
import { AppOfCall } from "./app-frame.tsx";
import { toneOf } from "./badge.tsx";
import { Failure } from "./failure.tsx";
import { Json } from "./json.tsx";
import { SchemaForm } from "./schema-form.tsx";

/** Runs a tool with arguments from a form, and shows its progress and result. */
export function RunTool({
  tool,
  given = {},
  asksFirst = false,
}: {
  readonly tool: Tool;
  readonly given?: Readonly<Record<string, unknown>>;
  readonly asksFirst?: boolean;
}) {
  const [asks, setAsks] = useState(false);
  const [args, setArgs] = useState(given);
  const [running, setRunning] = useState<AbortController>();
  const [progress, setProgress] = useState("");
  const [outcome, setOutcome] = useState<{ readonly call?: ShownCall; readonly error?: unknown }>({});
  const app = appOf(tool);

  async function run(): Promise<void> {
    const controller = new AbortController();
    setRunning(controller);
    setOutcome({});
    setProgress("");
    try {
      const result = await gateway().execute({
        toolName: tool.id,
        arguments: args,
        signal: controller.signal,
        onProgress: ({ progress: done, total, message = "" }) =>
          setProgress(`${message} ${done}${total === undefined ? "" : ` of ${total}`}`.trim()),
      });
      setOutcome({ call: { arguments: args, result } });
    } catch (error) {
      setOutcome({ error });
    } finally {
      setRunning(undefined);
    }
  }

  return (
    <form
      class="run"
      onSubmit={(event) => {
        event.preventDefault();
        if (asksFirst) setAsks(true);
        else void run();
      }}
    >
      <SchemaForm schema={tool.parameters} value={args} onChange={setArgs} />
      <div class="actions">
        <button type="submit" disabled={running !== undefined || asks}>
          Run
        </button>
        {running && (
          <button class="quiet" type="button" onClick={() => running.abort()}>
            Cancel
          </button>
        )}
        <span class="dim" aria-live="polite">
          {running && (progress === "" ? "Running…" : progress)}
        </span>
      </div>
      {asks && (
        <div class="asks" role="alertdialog" aria-label="Run it again?">
          <p>
            <b>Run it again?</b> <code>{tool.id}</code> may change something: nobody confirmed that it only reads.
          </p>
          <div class="actions">
            <button
              type="button"
              class="danger"
              onClick={() => {
                setAsks(false);
                void run();
              }}
            >
              Run again
            </button>
            <button type="button" class="quiet" onClick={() => setAsks(false)}>
              Don't run
            </button>
          </div>
        </div>
      )}
      <div aria-live="polite">
        {outcome.error !== undefined && <Failure error={outcome.error} />}
        {outcome.call && <Result result={outcome.call.result} />}
      </div>
      {app && outcome.call?.result.status === "success" && <AppOfCall address={app} call={outcome.call} />}
    </form>
  );
}

export function Result({ result }: { readonly result: ToolResult }) {
  const { status, error, latencyMs, attempts, traceId } = result;
  const waits = status === "pending_confirmation";
  const tone = toneOf(status);
  return (
    <section class="result">
      <p>
        <b class={tone}>{status.replaceAll("_", " ")}</b>
        <span class="dim">
          {" "}
          {Math.round(latencyMs)} ms, {attempts} {attempts === 1 ? "attempt" : "attempts"},{" "}
          <a href={to("calls", [traceId])}>trace</a>
        </span>
      </p>
      {error && <p class={tone}>{error.message}</p>}
      {waits && (
        <p>
          An approver finds it at <a href={to("approvals")}>Approvals</a>. Once it is approved, run it again with the
          same arguments.
        </p>
      )}
      {result.result !== undefined && <Json value={result.result} label="Result" />}
    </section>
  );
}
