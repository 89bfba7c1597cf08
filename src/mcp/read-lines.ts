interface LineReaderOptions {
  /** Maximum length of a line in bytes, without its line end. Longer lines are discarded. */
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  readonly onEmptyLine?: () => void;
  /** Called once for each line that is too long, as soon as the limit is passed. `head` is the beginning of the line. */
  readonly onTooLong: (head: Buffer) => void;
  /** Called when a line that was too long has ended. `tail` is the end of the line. */
  readonly onSkipped?: (tail: Buffer) => void;
}

/** Size of the `head` and `tail` of a line that is too long, in bytes. */
const GLIMPSE_BYTES = 256;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Reads lines of UTF-8 that end in LF or CRLF. Each byte is copied a bounded number of times. Only the beginning and the end of a line that is too
 * long are kept.
 */
export function createLineReader({ maxBytes, onLine, onEmptyLine, onTooLong, onSkipped }: LineReaderOptions) {
  /** The beginning of an incomplete line. The buffer grows by doubling, so a line of tiny chunks costs no more than a line of large ones. */
  let pending = Buffer.alloc(0);
  let length = 0;
  let discarding = false;
  /** The last bytes of the line that is being discarded. */
  let tail = Buffer.alloc(0);

  function emit(bytes: Buffer): void {
    const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
    if (end > maxBytes) {
      onTooLong(bytes.subarray(0, GLIMPSE_BYTES));
      onSkipped?.(bytes.subarray(-GLIMPSE_BYTES));
    } else if (end > 0) onLine(bytes.toString("utf8", 0, end));
    else onEmptyLine?.();
  }

  function skim(bytes: Buffer): void {
    // A copy, because a slice would keep the whole chunk in memory.
    tail = Buffer.concat([tail, bytes.subarray(-GLIMPSE_BYTES)]).subarray(-GLIMPSE_BYTES);
  }

  function endSkipped(): void {
    discarding = false;
    onSkipped?.(tail);
    tail = Buffer.alloc(0);
  }

  function keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (discarding) return skim(bytes);
    // The extra byte may be the CR of a line end.
    if (length + bytes.length > maxBytes + 1) {
      discarding = true;
      const known = pending.subarray(0, Math.min(length, GLIMPSE_BYTES));
      release();
      onTooLong(Buffer.concat([known, bytes.subarray(0, GLIMPSE_BYTES)]).subarray(0, GLIMPSE_BYTES));
      return skim(bytes);
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
    push(chunk: Buffer): void {
      let start = 0;
      for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
        const rest = chunk.subarray(start, end);
        start = end + 1;
        if (!discarding && length === 0) {
          emit(rest);
          continue;
        }
        keep(rest);
        if (discarding) endSkipped();
        else finish();
      }
      keep(chunk.subarray(start));
    },
    /** Emits the text after the last line end as a line. */
    end(): void {
      if (!discarding && length > 0) finish();
    },
  };
}
