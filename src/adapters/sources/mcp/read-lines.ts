/** What a reader of lines does with them. */
export interface LineReaderOptions {
  /** The longest line that is kept, in bytes without its end. */
  readonly maxBytes: number;
  /** Takes each line, without its end. */
  readonly onLine: (line: string) => void;
  /** Called for each empty line instead. */
  readonly onEmptyLine?: () => void;
  /** Called once for each line that is too long, as soon as that is known. */
  readonly onTooLong: () => void;
}

/** Splits a stream of bytes into lines. */
export interface LineReader {
  push(chunk: Buffer): void;
  /** Takes what came after the last line end as a line. */
  end(): void;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Reads lines of UTF-8 that end in LF or CRLF. Every byte is looked at once and copied a bounded number of times, however the stream is cut
 * into chunks; of a line that is too long nothing is kept.
 */
export function createLineReader({ maxBytes, onLine, onEmptyLine, onTooLong }: LineReaderOptions): LineReader {
  /** The beginning of a line whose end has not come. Grows by doubling, so that a line of tiny chunks costs no more than one of large ones. */
  let pending = Buffer.alloc(0);
  let length = 0;
  let discarding = false;

  function emit(bytes: Buffer): void {
    const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
    if (end > maxBytes) onTooLong();
    else if (end > 0) onLine(bytes.toString("utf8", 0, end));
    else onEmptyLine?.();
  }

  function keep(bytes: Buffer): void {
    if (discarding || bytes.length === 0) return;
    // One byte more than the limit may still turn out to be the CR of a line end.
    if (length + bytes.length > maxBytes + 1) {
      discarding = true;
      release();
      onTooLong();
      return;
    }
    if (length + bytes.length > pending.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length + bytes.length, 2 * pending.length, 4096));
      pending.copy(larger, 0, 0, length);
      pending = larger;
    }
    bytes.copy(pending, length);
    length += bytes.length;
  }

  function release(): void {
    pending = Buffer.alloc(0);
    length = 0;
  }

  function finish(): void {
    const line = pending.subarray(0, length);
    release();
    emit(line);
  }

  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
        const rest = chunk.subarray(start, end);
        start = end + 1;
        if (discarding) discarding = false;
        else if (length === 0) emit(rest);
        else {
          keep(rest);
          if (discarding) discarding = false;
          else finish();
        }
      }
      keep(chunk.subarray(start));
    },
    end() {
      if (!discarding && length > 0) finish();
    },
  };
}
