import { readHistory } from "../../../observe/history/history.ts";
import { costHeading } from "../../../observe/money.ts";
import { timeSteps } from "../../../observe/retrieval-steps.ts";
import type { CallRecord, HistoryRecord, RetrievalRecord } from "../../../observe/history/record.ts";
import { systemClock } from "../../../observe/clock.ts";
import { harmless } from "../../../errors/show-value.ts";
import type { Run } from "../../../runs/run.ts";
import { createRunStore } from "../../../runs/run-store.ts";
import type { State } from "../../../state/state.port.ts";
import { withKeptState } from "../../arsenal/kept-state.ts";
import type { Command, Terminal } from "../../command.ts";
import { showExplanation } from "../../terminal/show-explanation.ts";
import { clip, note, styles, table } from "../../terminal/style.ts";

/** The number of latest runs that are searched for the runs of a trace. */
const MOST_RUNS = 1_000;

/** The number of requests that are listed if none is given. */
const LISTED = 20;

export const command: Command = {
  positionals: ["[TRACE_ID]"],
  examples: ["why", "why 4bf92f3577b34da6a3ce929d0e0e4736", "why 4bf92f3577b34da6a3ce929d0e0e4736 --json"],
  run(input, terminal) {
    const [traceId] = input.positionals;
    return withKeptState("Past requests", input, terminal, async ({ config, states: [state] }) => {
      const { signal } = terminal;
      const kept = await readHistory(
        state.documents,
        (record) => traceId === undefined || record.traceId === traceId.toLowerCase(),
        { signal },
      );
      const runs = traceId === undefined ? [] : await runsOf(state.documents, traceId.toLowerCase());
      if (traceId !== undefined && kept.length === 0 && runs.length === 0) {
        const { enabled = true, max, maxAgeDays } = config.telemetry.history;
        const why = enabled
          ? `The last ${max} searches and calls are stored for ${maxAgeDays} days. Run "why" without an id to list the latest.`
          : "telemetry.history.enabled is false. Set it to true, and restart the gateway.";
        terminal.err.write(`No records of the trace ${clip(traceId, 64)} are stored. ${why}\n`);
        return 1;
      }
      const shown = traceId === undefined ? kept.slice(-LISTED) : kept;
      const retrievals = shown.filter((record) => record.kind === "retrieval");
      const calls = shown.filter((record) => record.kind === "call");
      if (input.json) {
        const about = traceId === undefined ? {} : { traceId: traceId.toLowerCase() };
        terminal.out.write(
          `${JSON.stringify({ ...about, retrievals, calls, ...(runs.length > 0 && { runs }) }, undefined, 2)}\n`,
        );
      } else if (traceId === undefined) showLatest(shown, terminal);
      else showTrace({ retrievals, calls, runs }, config.telemetry.prices?.currency, terminal);
      return 0;
    });
  },
};

function showLatest(records: readonly HistoryRecord[], terminal: Terminal): void {
  const rows = records.map((record) => [
    timeOf(record.at),
    record.traceId,
    record.kind === "call"
      ? `call ${record.toolId}: ${record.status}`
      : `search ${clip(record.query ?? "", 60)}: ${record.explanation.chosen[0]?.toolId ?? "nothing fits"}`,
  ]);
  if (rows.length > 0) terminal.out.write(`${table(rows)}\n`);
  else note(terminal, "No searches or calls are stored yet.");
}

function showTrace(
  {
    retrievals,
    calls,
    runs,
  }: {
    readonly retrievals: readonly RetrievalRecord[];
    readonly calls: readonly CallRecord[];
    readonly runs: readonly Run[];
  },
  currency: string | undefined,
  terminal: Terminal,
): void {
  const { bold } = styles(terminal.out, terminal.environment);
  const parts = retrievals.map((record) => {
    const asked = record.query === undefined ? "(text not stored)" : clip(record.query, 200);
    const facts = [
      timeOf(record.at),
      record.nothingFits ? "nothing fits" : `confidence ${record.confidence.toFixed(2)}`,
      `${record.candidateCount} candidates`,
      `intent ${record.intent}`,
      record.tier,
      `${record.durationMs.toFixed(1)} ms`,
      ...callerOf(record),
    ];
    const steps = record.steps === undefined ? [] : timeSteps(record.steps);
    const times = steps.map(({ name, durationMs }) => `${name} ${durationMs.toFixed(1)} ms`);
    const told = [facts, times].filter((line) => line.length > 0).map((line) => line.join(", "));
    return `${bold(asked)}\n${told.join("\n")}\n\n${showExplanation(record.explanation, terminal)}`;
  });
  // The outermost run first, and each other run below its caller.
  const nested = runs.toSorted(
    (one, other) => (one.depth ?? 1) - (other.depth ?? 1) || one.startedAt - other.startedAt,
  );
  parts.push(...nested.map((run) => showRun(run, bold)));
  if (calls.length > 0) {
    const header = ["time", "tool", "status", "attempts", "waited ms", "took ms", costHeading(currency), "by", ""];
    const rows = calls.map((call) => [
      timeOf(call.at),
      call.toolId,
      call.cached === true ? `${call.status} (cached)` : call.status,
      String(call.attempts),
      call.queuedMs.toFixed(1),
      call.latencyMs.toFixed(1),
      call.cost === undefined ? "" : String(call.cost),
      callerOf(call).join(" "),
      clip(call.message ?? "", 80),
    ]);
    parts.push(`${bold("Calls")}\n${table([header, ...rows])}`);
  }
  terminal.out.write(`${parts.join("\n\n")}\n`);
}

/** Returns the programs and workflows of a trace that are still stored. */
async function runsOf(documents: State, traceId: string): Promise<readonly Run[]> {
  const store = createRunStore(documents, systemClock);
  const found = (await store.heads({ limit: MOST_RUNS })).filter((run) => run.traceId === traceId);
  return (await Promise.all(found.map(({ id }) => store.get(id)))).flatMap((run) => run ?? []);
}

function showRun(
  { id, kind, status, title, tool, depth = 1, startedAt, waits, error, work }: Run,
  bold: (text: string) => string,
): string {
  const { code } = (work ?? {}) as { readonly code?: unknown };
  const lines = [
    bold(`${kind === "program" ? (tool === undefined ? "Program" : "Saved program") : "Workflow"} ${id}`),
    [
      timeOf(startedAt),
      status,
      ...(tool === undefined && kind === "program" ? [] : [clip(title, 80)]),
      ...levelOf(depth),
    ].join(", "),
    ...waits.map((wait) => `waits for approval of ${wait.tool}: ${wait.confirmationId}`),
    ...(error === undefined
      ? []
      : [`${error.line === undefined ? "" : `line ${error.line}: `}${clip(error.message, 200)}`]),
    ...(typeof code === "string"
      ? code.split("\n").map((line, n) => `${String(n + 1).padStart(4)}  ${harmless(line)}`)
      : []),
  ];
  return lines.join("\n");
}

function levelOf(depth: number): readonly string[] {
  return depth > 1 ? [`depth ${depth}`] : [];
}

function callerOf({ principal, tenant }: Pick<RetrievalRecord, "principal" | "tenant">): readonly string[] {
  return [principal, tenant].flatMap((part) => (part === undefined ? [] : [clip(part, 40)]));
}

function timeOf(at: number): string {
  return new Date(at).toISOString().replace("T", " ").slice(0, 19);
}
