import { Writable } from "node:stream";
import { consoleSink } from "../../adapters/sinks/console.ts";
import type { ArsenalEvent, EventLevel, EventName } from "../../observe/events.ts";
import { isAtLeast } from "../../observe/levels.ts";
import type { Sink } from "../../observe/sink.port.ts";
import type { Terminal } from "../command.ts";
import { clip, styles } from "./style.ts";

/** Events that may happen again and again, each time anew. Any other is one problem, however often a server is listed. */
const REPEATED = /^(?:call|circuit|retry|audit|sink|certificate)-/;

/** Lines that are remembered, so that each is said once. */
const MAX_REMEMBERED = 10_000;

const LABELS: Readonly<Record<EventLevel, string>> = { debug: "debug", info: "info", warn: "warning", error: "error" };

/** Writes events: on a terminal as lines of text, each problem once; otherwise, or with `--json`, as one JSON object per line. */
export function eventSink(
  { err, environment }: Pick<Terminal, "err" | "environment">,
  options: { readonly level: EventLevel; readonly json: boolean; readonly without: ReadonlySet<EventName> },
): Sink {
  const { level, json, without } = options;
  const isWanted = ({ name, data }: ArsenalEvent): boolean =>
    !without.has(name) || (name === "ensemble-failed" && data.kind === "descriptor");
  if (json || err.isTTY !== true) {
    const stream = err instanceof Writable ? err : toWritable(err);
    const sink = consoleSink({ level, stream });
    return { ...sink, write: (events) => sink.write(events.filter(isWanted)) };
  }
  const paint = styles(err, environment);
  const paints = { debug: paint.dim, info: paint.dim, warn: paint.yellow, error: paint.red };
  const said = new Set<string>();
  return {
    name: "terminal",
    write(events) {
      for (const event of events) {
        if (!isWanted(event) || !isAtLeast(event.level, level)) continue;
        const line = `${LABELS[event.level]}: ${eventText(event)}`;
        if (!REPEATED.test(event.name)) {
          if (said.has(line)) continue;
          if (said.size < MAX_REMEMBERED) said.add(line);
        }
        err.write(`${paints[event.level](line)}\n`);
      }
    },
  };
}

function toWritable(err: Terminal["err"]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      err.write(String(chunk));
      done();
    },
  });
}

/** What happened, in one line for people. */
export function eventText(event: ArsenalEvent): string {
  return clip(inWords(event), 500);
}

function inWords({ name, data }: ArsenalEvent): string {
  switch (name) {
    case "tool-rejected":
    case "pins-waiting":
    case "secret-skipped":
    case "card-unverified":
    case "certificate-failed":
      return data.message;
    case "toolset-tools-missing":
      return `The toolset ${data.toolset} is incomplete: ${data.message}`;
    case "tool-changed":
      return `${data.id} changed since it was accepted (${data.fields}) and is not called. See: toolarsenal pins list --diff`;
    case "pins-failed":
    case "ensemble-failed":
      return `${data.ensemble}: ${data.message}`;
    case "namespace-refused":
      return `${data.ensemble} claimed the namespace ${data.namespace}, which is not its own; its tool is ${data.toolId}`;
    case "embedder-failed":
      return `The embedder ${data.model} failed: ${data.message}`;
    case "call-retried":
      return `${data.toolId}: attempt ${data.attempt} failed, retrying in ${Math.round(data.delayMs)} ms: ${data.message}`;
    case "retry-refused":
      return `${data.toolId}: attempt ${data.attempt} failed, and the retry budget is used up`;
    case "call-finished":
      return `${data.toolId}: ${data.status}${data.message === undefined ? "" : `: ${data.message}`}`;
    case "scan-flagged":
      return `${data.toolId}: ${data.severity} finding in its ${data.where} (${data.rules.join(", ")}), ${data.action}`;
    case "scan-failed":
      return `${data.toolId}: its ${data.where} could not be scanned and was ${data.action}: ${data.message}`;
    case "audit-failed":
      return `${data.records} audit ${data.records === 1 ? "record" : "records"} not kept: ${data.message}`;
    case "circuit-opened":
      return `${data.toolId}: circuit opened after ${data.consecutiveFailures} failures; next attempt in ${Math.ceil(data.retryAfterMs / 1000)} s`;
    case "sink-failed":
      return `The sink ${data.sink} failed and lost ${data.dropped} events: ${data.message}`;
    default:
      return [
        name,
        ...Object.entries(data).map(
          ([key, value]) => `${key}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
        ),
      ].join(" ");
  }
}
