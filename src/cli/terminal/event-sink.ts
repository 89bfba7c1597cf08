import { Writable } from "node:stream";
import { consoleSink } from "../../adapters/sinks/console.ts";
import type { EventLevel, EventName } from "../../observe/events.ts";
import { isAtLeast } from "../../observe/levels.ts";
import type { Sink } from "../../observe/sink.port.ts";
import type { Terminal } from "../command.ts";
import { eventText } from "./event-text.ts";
import { styles } from "./style.ts";

/** Events that may happen again and again, each time anew. Any other is one problem, however often a server is listed. */
const REPEATED = /^(?:call|circuit|retry|audit|sink)-/;

/** Lines that are remembered, so that each is said once. */
const MAX_REMEMBERED = 10_000;

const LABELS: Readonly<Record<EventLevel, string>> = { debug: "debug", info: "info", warn: "warning", error: "error" };

/** Writes events: on a terminal as lines of text, each problem once; otherwise, or with `--json`, as one JSON object per line. */
export function eventSink(
  { err, environment }: Pick<Terminal, "err" | "environment">,
  options: { readonly level: EventLevel; readonly json: boolean; readonly without: ReadonlySet<EventName> },
): Sink {
  const { level, json, without } = options;
  const isWanted = (name: EventName): boolean => !without.has(name);
  if (json || err.isTTY !== true) {
    const stream = err instanceof Writable ? err : toWritable(err);
    const sink = consoleSink({ level, stream });
    return { ...sink, write: (events) => sink.write(events.filter(({ name }) => isWanted(name))) };
  }
  const paint = styles(err, environment);
  const paints = { debug: paint.dim, info: paint.dim, warn: paint.yellow, error: paint.red };
  const said = new Set<string>();
  return {
    name: "terminal",
    write(events) {
      for (const event of events) {
        if (!isWanted(event.name) || !isAtLeast(event.level, level)) continue;
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
