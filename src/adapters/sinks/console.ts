import { choice, type Filled, object } from "../../tool/shape/shape.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { ArsenalEvent, EventLevel } from "../../observe/events.ts";
import { eventText, onOneLine } from "../../observe/event-text.ts";
import { EVENT_LEVELS, isLoudEnough, type LogLevels, type LogStage, stageOf } from "../../observe/levels.ts";
import type { Sink } from "../../observe/sink.port.ts";
import type { OutputStream } from "../../base/streams.ts";
import { visibleText } from "../../errors/visible-text.ts";

export interface ConsoleSinkOptions {
  /** The lowest level to print. Defaults to `warn`. */
  readonly level?: EventLevel;
  /** The lowest level of single stages, such as `{ retrieve: "error", execute: "debug" }`. Other stages use `level`. */
  readonly levels?: LogLevels;
  /** JSON, or a readable line. The default `auto` is `pretty` on a terminal. */
  readonly format?: LogFormat;
  /** The output stream. Defaults to stderr, because stdout is for data. */
  readonly stream?: OutputStream;
}

export type LogFormat = "auto" | "json" | "pretty";

/**
 * Writes one line per event: `{"at":"2026-01-31T12:00:00.000Z","level":"warn","stage":"execute","event":"circuit-opened",…}`, or on a terminal
 * `12:00:00.000 WARN  execute   crm.find: circuit opened …`.
 */
export function consoleSink(options: ConsoleSinkOptions = {}): Sink {
  const { level = "warn", levels = {}, format = "auto", stream = process.stderr } = options;
  refuseUnknownLevel("telemetry.level", level);
  for (const [stage, own] of Object.entries(levels)) refuseUnknownLevel(`telemetry.log_levels.${stage}`, own);
  const onTerminal = "isTTY" in stream && stream.isTTY === true;
  const toLine =
    format === "json" || (format === "auto" && !onTerminal) ? jsonLine : prettyLine(onTerminal && hasColours());
  // Without a listener, a reader that disconnects (EPIPE) would end the process. One listener serves all sinks on a stream.
  if (!stream.listeners("error").includes(ignore)) stream.on("error", ignore);

  return {
    name: "console",
    wants: (name, own) => isLoudEnough({ name, level: own }, level, levels),
    write(events) {
      const lines = events.filter((event) => isLoudEnough(event, level, levels)).map(toLine);
      if (lines.length === 0 || stream.destroyed || stream.writableEnded) return;
      // A failed stream never responds again, so nothing more is written to it.
      if (isFailure(stream.errored)) throw stream.errored;
      if (stream.errored) return;
      // Resolves only after the stream has taken the lines. The backlog then stays in the sink's bounded queue, not in the stream's.
      return new Promise((resolve, reject) => {
        stream.write(lines.join(""), (error) => (isFailure(error) ? reject(error) : resolve()));
      });
    },
  };
}

function refuseUnknownLevel(field: string, level: EventLevel): void {
  if (EVENT_LEVELS.includes(level)) return;
  const fix = `Write one of ${EVENT_LEVELS.join(", ")}.`;
  throw fixable("CONFIG_INVALID", `${field} is ${showValue(level)}, which is not a level.`, fix, {
    field,
    value: level,
  });
}

/** Ignores a disconnected reader. Any other failure is reported. */
function isFailure(error: Error | null | undefined): error is Error {
  return error instanceof Error && !("code" in error && GONE.includes(error.code));
}

const GONE: readonly unknown[] = ["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED", "ERR_STREAM_WRITE_AFTER_END"];

function jsonLine({ at, level, name, data }: ArsenalEvent): string {
  const line = { at: new Date(at).toISOString(), level, stage: stageOf(name), event: name, ...data };
  return `${visibleText(JSON.stringify(line))}\n`;
}

const COLOURS: Readonly<Record<EventLevel, number>> = { debug: 2, info: 2, warn: 33, error: 31 };

function hasColours(): boolean {
  return !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}

/** Writes a readable line: time, level, stage, event and trace. */
function prettyLine(coloured: boolean): (event: ArsenalEvent) => string {
  return (event) => {
    const { at, level, name, data } = event;
    const head = `${new Date(at).toISOString().slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${stageOf(name).padEnd(8)}`;
    const trace = "traceId" in data && typeof data.traceId === "string" ? ` trace=${onOneLine(data.traceId, 64)}` : "";
    const line = `${head} ${eventText(event)}${trace}`;
    return `${coloured ? `\u001B[${COLOURS[level]}m${line}\u001B[${level === "warn" || level === "error" ? 39 : 22}m` : line}\n`;
  };
}

function ignore(): void {
  // The failed write was already reported.
}

const LEVELS = ["debug", "info", "warn", "error"] as const;
const levelOf = (stage: string) => choice(`Lowest level of events about ${stage}.`, LEVELS);

export const config = object("One line per event on stderr.", {
  level: choice("Lowest level of events that are shown. Defaults to warn.", LEVELS),
  logFormat: choice(
    "Format of the lines. json: JSON; pretty: readable text; auto: pretty on a terminal, otherwise json.",
    ["auto", "json", "pretty"],
    "auto",
  ),
  logLevels: object("Lowest level of events that are shown, for single stages. Other stages use level.", {
    register: levelOf("added and removed tools and servers"),
    catalog: levelOf("indexing and embedding"),
    retrieve: levelOf("searches"),
    guard: levelOf("policy, approvals, pins, scans and audit"),
    execute: levelOf("calls"),
    state: levelOf("the shared state"),
    observe: levelOf("telemetry"),
    serve: levelOf("the gateway"),
  } satisfies Record<LogStage, unknown>),
});

export function create({ level, logFormat: format, logLevels: levels }: Filled<typeof config>): Sink {
  return consoleSink({ format, levels, ...(level === undefined ? {} : { level }) });
}
