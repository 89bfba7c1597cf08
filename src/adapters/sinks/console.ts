import { choice, type Filled, object } from "../settings.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { ArsenalEvent, EventLevel } from "../../observe/events.ts";
import { EVENT_LEVELS, isAtLeast } from "../../observe/levels.ts";
import type { Sink } from "../../observe/sink.port.ts";
import type { OutputStream } from "../../tool/streams.ts";

export interface ConsoleSinkOptions {
  /** The lowest level to print. Defaults to `warn`. */
  readonly level?: EventLevel;
  /** Where the lines go. Defaults to standard error: standard output is for data. */
  readonly stream?: OutputStream;
}

/** Writes one JSON line an event: `{"at":"2026-01-31T12:00:00.000Z","level":"warn","event":"circuit-opened","toolId":…}`. */
export function consoleSink(options: ConsoleSinkOptions = {}): Sink {
  const { level = "warn", stream = process.stderr } = options;
  if (!EVENT_LEVELS.includes(level)) {
    throw new ArsenalError("CONFIG_INVALID", `telemetry.level is ${showValue(level)}, which is no level.`, {
      field: "telemetry.level",
      value: level,
      fix: `Write one of ${EVENT_LEVELS.join(", ")}.`,
    });
  }
  // Without a listener, a reader that goes away (EPIPE) would end the process. One does for all sinks on a stream.
  if (!stream.listeners("error").includes(ignore)) stream.on("error", ignore);

  return {
    name: "console",
    write(events) {
      const lines = events.filter((event) => isAtLeast(event.level, level)).map(toLine);
      if (lines.length === 0 || stream.destroyed || stream.writableEnded) return;
      // A stream that failed never answers again, so it is not asked.
      if (isFailure(stream.errored)) throw stream.errored;
      if (stream.errored) return;
      // Settling only when the stream has taken the lines keeps the backlog in the sink's bounded queue, not in the stream's.
      return new Promise((resolve, reject) => {
        stream.write(lines.join(""), (error) => (isFailure(error) ? reject(error) : resolve()));
      });
    },
  };
}

/** A reader that went away wants no more lines, which is its right; any other failure is told, and so reported. */
function isFailure(error: Error | null | undefined): error is Error {
  return error instanceof Error && !("code" in error && GONE.has(error.code));
}

const GONE: ReadonlySet<unknown> = new Set([
  "EPIPE",
  "ECONNRESET",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
]);

function toLine(event: ArsenalEvent): string {
  const line = { at: new Date(event.at).toISOString(), level: event.level, event: event.name, ...event.data };
  return `${JSON.stringify(line).replace(UNSAFE_IN_A_TERMINAL, toEscape)}\n`;
}

/** What JSON leaves as it is and a terminal may obey: control characters, line separators, marks and changes of direction. */
const UNSAFE_IN_A_TERMINAL = /[\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function ignore(): void {
  // The write that failed was told already.
}

export const config = object("One JSON line per event on stderr.", {
  level: choice("The quietest event that is written; warn by default.", ["debug", "info", "warn", "error"]),
});

export function create({ level }: Filled<typeof config>): Sink {
  return consoleSink(level === undefined ? {} : { level });
}
