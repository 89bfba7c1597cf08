import { readHistory } from "../../../observe/history/history.ts";
import { costHeading } from "../../../observe/money.ts";
import { timeSteps } from "../../../observe/retrieval-steps.ts";
import type { CallRecord, HistoryRecord, RetrievalRecord } from "../../../observe/history/record.ts";
import { withKeptState } from "../../arsenal/kept-state.ts";
import type { Command, Terminal } from "../../command.ts";
import { showExplanation } from "../../terminal/show-explanation.ts";
import { clip, note, styles, table } from "../../terminal/style.ts";

/** Requests listed if none is named. */
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
      if (traceId !== undefined && kept.length === 0) {
        const { enabled = true, max, maxAgeDays } = config.telemetry.history;
        const why = enabled
          ? `Kept are the last ${max} retrievals and calls, for ${maxAgeDays} days; run "why" without an id to list the latest.`
          : "telemetry.history.enabled is false: set it to true, and restart the gateway.";
        terminal.err.write(`Nothing is kept of the trace ${clip(traceId, 64)}. ${why}\n`);
        return 1;
      }
      const shown = traceId === undefined ? kept.slice(-LISTED) : kept;
      const retrievals = shown.filter((record) => record.kind === "retrieval");
      const calls = shown.filter((record) => record.kind === "call");
      if (input.json) {
        const about = traceId === undefined ? {} : { traceId: traceId.toLowerCase() };
        terminal.out.write(`${JSON.stringify({ ...about, retrievals, calls }, undefined, 2)}\n`);
      } else if (traceId === undefined) showLatest(shown, terminal);
      else showTrace({ retrievals, calls }, config.telemetry.prices?.currency, terminal);
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
  else note(terminal, "Nothing is kept yet.");
}

function showTrace(
  { retrievals, calls }: { readonly retrievals: readonly RetrievalRecord[]; readonly calls: readonly CallRecord[] },
  currency: string | undefined,
  terminal: Terminal,
): void {
  const { bold } = styles(terminal.out, terminal.environment);
  const parts = retrievals.map((record) => {
    const asked = record.query === undefined ? "(no text kept)" : clip(record.query, 200);
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

function callerOf({ principal, tenant }: Pick<RetrievalRecord, "principal" | "tenant">): readonly string[] {
  return [principal, tenant].flatMap((part) => (part === undefined ? [] : [clip(part, 40)]));
}

function timeOf(at: number): string {
  return new Date(at).toISOString().replace("T", " ").slice(0, 19);
}
