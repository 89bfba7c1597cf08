/* The part of Node's streams that our public signatures use. Node's own streams match these types, and our declarations compile without `@types/node`. */

/** As in Node's declarations: the arguments of a listener depend on the event. */
// oxlint-disable-next-line typescript/no-explicit-any
type Listener = (...given: any[]) => void;

/** Subscribes to the events of a stream. */
interface StreamEvents {
  on(event: string, listener: Listener): this;
  once(event: string, listener: Listener): this;
  off(event: string, listener: Listener): this;
}

/** A stream to read from, such as Node's `Readable`. */
export interface InputStream extends StreamEvents, AsyncIterable<Uint8Array> {
  pause(): this;
  resume(): this;
  destroy(error?: Error): this;
  readonly readableEnded: boolean;
}

/** A stream to write to, such as Node's `Writable`. */
export interface OutputStream extends StreamEvents {
  /** Returns false if the reader is slow. Then wait for `drain`. */
  write(chunk: string | Uint8Array, written?: (error?: Error | null) => void): boolean;
  listeners(event: string): readonly unknown[];
  readonly writable: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
  readonly errored: Error | null;
}

/** A connection, such as Node's `Socket`. */
export interface DuplexStream extends InputStream, OutputStream {}
