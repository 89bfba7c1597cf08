import type { Readable } from "node:stream";
import { createLineReader } from "../../mcp/read-lines.ts";

export type InputLine = { readonly text: string } | { readonly tooLong: true };

export const MAX_LINE_BYTES: number = 16 * 1024 * 1024;

/** Yields the lines of a stream as they complete, including empty lines. Only LF ends a line. Buffers the lines of one chunk at a time. */
export async function* inputLines(stream: Readable, maxBytes: number = MAX_LINE_BYTES): AsyncGenerator<InputLine> {
  const lines: InputLine[] = [];
  const reader = createLineReader({
    maxBytes,
    onLine: (text) => lines.push({ text }),
    onEmptyLine: () => lines.push({ text: "" }),
    onTooLong: () => lines.push({ tooLong: true }),
  });
  for await (const chunk of stream) {
    reader.push(typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Buffer));
    yield* lines.splice(0);
  }
  reader.end();
  yield* lines;
}
