import { harmless } from "../../../../errors/show-value.ts";
import { createRedactor, type Redactor } from "../../../../guard/redaction/redactor.ts";
import { type Clock, systemClock } from "../../../../observe/clock.ts";
import type { LogLine } from "../../../../register/source.port.ts";

export type ServerLog = ReturnType<typeof createServerLog>;

const MAX_LINES = 200;
const MAX_LINE = 1000;

/** The most lines to keep of one text. */
const MAX_LINES_OF_TEXT = 50;

/** Characters to keep of a line before it is redacted. It is longer than the shown part, so no secret is cut in two. */
const MAX_KEPT = 8 * MAX_LINE;

/** Creates an empty log. Lines are redacted when they are read: most are never read, and a secret may become known later. */
export function createServerLog({
  clock = systemClock,
  redactor = createRedactor(),
}: {
  readonly clock?: Clock | undefined;
  readonly redactor?: Pick<Redactor, "text"> | undefined;
}) {
  const lines: LogLine[] = [];
  let lastId = 0;

  function addLine(from: LogLine["from"], text: string, level: string | undefined): void {
    const at = Math.round(clock.now());
    lastId = Math.max(lastId + 1, at);
    lines.push({ id: lastId, at, from, ...(level !== undefined && { level }), text: text.slice(0, MAX_KEPT) });
    if (lines.length > MAX_LINES) lines.shift();
  }

  function shown(kept: string): string {
    const text = redactor.text(harmless(kept)).trimEnd();
    return text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE - 1)}…`;
  }

  return {
    /** Adds each line of a text, without empty lines. */
    add(from: LogLine["from"], text: string, level?: string): void {
      const all = text.split(/\r\n|[\n\r\u2028\u2029]/).filter((line) => line.trim() !== "");
      const left = all.length - MAX_LINES_OF_TEXT;
      for (const line of left <= 0 ? all : all.slice(0, MAX_LINES_OF_TEXT - 1)) addLine(from, line, level);
      if (left > 0) addLine(from, `(${left + 1} more lines)`, level);
    },
    read: (after = 0): readonly LogLine[] =>
      lines.filter(({ id }) => id > after).map(({ text, ...line }) => ({ ...line, text: shown(text) })),
  };
}
