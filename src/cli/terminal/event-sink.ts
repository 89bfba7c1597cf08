import { Writable } from "node:stream";
import { consoleSink, type LogFormat } from "../../adapters/sinks/console.ts";
import { eventText } from "../../observe/event-text.ts";
import type { ArsenalEvent, EventLevel, EventName } from "../../observe/events.ts";
import { isLoudEnough, type LogLevels } from "../../observe/levels.ts";
import type { Sink } from "../../observe/sink.port.ts";
import type { Terminal } from "../command.ts";
import { styles } from "./style.ts";

/** Events that are printed each time. All other events describe a problem and are printed once, however often a server is listed. */
const REPEATED = /^(?:call|circuit|retry|audit|sink|certificate)-/;

/** The number of remembered lines, which are printed only once. */
const MAX_REMEMBERED = 10_000;

const LABELS: Readonly<Record<EventLevel, string>> = { debug: "debug", info: "info", warn: "warning", error: "error" };

/** Writes events. On a terminal it writes text, each problem once; otherwise, or with `--json`, JSON lines. A configured format takes precedence. */
export function eventSink(
  { err, environment }: Pick<Terminal, "err" | "environment">,
  options: {
    readonly level: EventLevel;
    readonly levels?: LogLevels;
    readonly format?: LogFormat;
    readonly json: boolean;
    readonly without: ReadonlySet<EventName>;
  },
): Sink {
  const { level, levels = {}, json, without } = options;
  const { format = "auto" } = options;
  const isWanted = ({ name, data }: ArsenalEvent): boolean =>
    !without.has(name) || (name === "ensemble-failed" && data.kind === "descriptor");
  const wants: Sink["wants"] = (name, own) =>
    (!without.has(name) || name === "ensemble-failed") && isLoudEnough({ name, level: own }, level, levels);
  if (json || format !== "auto" || err.isTTY !== true) {
    const stream = toWritable(err);
    const sink = consoleSink({ level, levels, stream, format: json || format === "auto" ? "json" : format });
    return { ...sink, wants, write: (events) => sink.write(events.filter(isWanted)) };
  }
  const paint = styles(err, environment);
  const paints = { debug: paint.dim, info: paint.dim, warn: paint.yellow, error: paint.red };
  const said = new Set<string>();
  return {
    name: "terminal",
    wants,
    write(events) {
      for (const event of events) {
        if (!isWanted(event) || !isLoudEnough(event, level, levels)) continue;
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

/** Writes the messages from and to MCP servers: lines of text on a terminal, otherwise one JSON object per line. */
export function protocolSink({ err, json }: Pick<Terminal, "err"> & { readonly json: boolean }): Sink {
  const stream = toWritable(err);
  const format = json || err.isTTY !== true ? "json" : "pretty";
  const sink = consoleSink({ level: "debug", stream, format });
  return {
    ...sink,
    name: "protocol",
    wants: (name) => name === "mcp-message",
  };
}

function toWritable(err: Terminal["err"]): Writable {
  if (err instanceof Writable) return err;
  return new Writable({
    write(chunk, _encoding, done) {
      err.write(String(chunk));
      done();
    },
  });
}
