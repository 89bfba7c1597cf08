import type { Readable } from "node:stream";

/** A line of input: what it says, or that it is too long to be kept. */
export type InputLine = { readonly text: string } | { readonly tooLong: true };

/** The longest line that is kept, in bytes. */
export const MAX_LINE_BYTES: number = 16 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** The lines of a stream as they complete, empty ones included. Only LF ends a line. Keeps one line at a time. */
export async function* inputLines(stream: Readable, maxBytes: number = MAX_LINE_BYTES): AsyncGenerator<InputLine> {
  let parts: Buffer[] = [];
  let length = 0;
  const keep = (part: Buffer): void => {
    length += part.length;
    if (length <= maxBytes + 1) parts.push(part);
    else parts = [];
  };
  const take = (): InputLine => {
    const line = Buffer.concat(parts);
    // Where too much came, nothing was kept, and `length` still says how much it was.
    const end = length - (line.at(-1) === CARRIAGE_RETURN ? 1 : 0);
    parts = [];
    length = 0;
    return end > maxBytes ? { tooLong: true } : { text: line.toString("utf8", 0, end) };
  };
  for await (const chunk of stream) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Buffer);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      keep(bytes.subarray(start, end));
      start = end + 1;
      yield take();
    }
    if (start < bytes.length) keep(bytes.subarray(start));
  }
  if (length > 0) yield take();
}
