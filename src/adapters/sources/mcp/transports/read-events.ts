import { createLineReader } from "../../../../mcp/read-lines.ts";

interface EventReaderOptions {
  readonly maxBytes: number;
  /** Receives the data of each event, and its type. The default type is `message`. */
  readonly onData: (data: string, type: string) => void;
  /** Receives the id from which a broken stream can be resumed. */
  readonly onId?: (id: string) => void;
  /** Receives the delay, in milliseconds, after which the client should reconnect. */
  readonly onRetry?: (ms: number) => void;
  readonly onTooLong: () => void;
}

/**
 * Splits a stream of bytes into server-sent events. Drops bytes after the last complete event. A line that ends in CR alone is split only when a
 * later LF arrives.
 */
export function createEventReader({ maxBytes, onData, onId, onRetry, onTooLong }: EventReaderOptions) {
  let data: string | undefined;
  let type = "";
  let id: string | undefined;
  let isTooLong = false;
  let isFirst = true;

  function take(line: string): void {
    const colon = line.indexOf(":");
    // A line that starts with a colon is a comment.
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") append(value);
    else if (field === "event") type = value;
    else if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "retry" && /^\d+$/.test(value)) onRetry?.(Number(value));
  }

  function append(value: string): void {
    if (data === undefined) data = value;
    else if (data.length + value.length < maxBytes) data += `\n${value}`;
    else drop();
  }

  function drop(): void {
    if (!isTooLong) onTooLong();
    isTooLong = true;
  }

  function dispatch(): void {
    const [given, of, newId] = [isTooLong ? "" : data, type || "message", id];
    data = id = undefined;
    type = "";
    isTooLong = false;
    // The id comes first, because handling the message may end the stream.
    if (newId !== undefined) onId?.(newId);
    if (given) onData(given, of);
  }

  return createLineReader({
    maxBytes: maxBytes + "data: ".length,
    onLine(line) {
      const text = isFirst && line.startsWith("\uFEFF") ? line.slice(1) : line;
      isFirst = false;
      if (!text.includes("\r")) return take(text);
      for (const part of text.split("\r")) {
        if (part === "") dispatch();
        else take(part);
      }
    },
    onEmptyLine: dispatch,
    onTooLong: drop,
  });
}
