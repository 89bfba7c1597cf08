import type { Clock } from "../observe/clock.ts";

/** The gateway's address, and the options of requests. */
export interface ClientOptions {
  /**
   * The address of the gateway, including its path: `https://tools.example.com`, `https://example.com/tools`. Defaults, in a web page, to the page's
   * own origin.
   */
  readonly url?: string;
  /** An API key of the gateway, `ta_NAME_SECRET`. */
  readonly apiKey?: string;
  /** A bearer token, or a function that returns a valid token before each request. */
  readonly token?: string | (() => string | Promise<string>);
  /** Additional headers for every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the requests. Defaults to the runtime's own `fetch`. */
  readonly fetch?: Fetch;
  /** Cancels all requests in progress when it fires. */
  readonly signal?: AbortSignal;
  /**
   * The timeout of a request, in milliseconds. Defaults to 30,000, or to 70,000 if the gateway connects to a server for the request. Tool calls use
   * their own `timeoutMs` and `deadline` instead.
   */
  readonly timeoutMs?: number;
  /** Maximum number of retries of a request that is safe to retry. Defaults to 2. */
  readonly retries?: number;
  /** Determines how `execute` handles a result that is not a success: `throw` throws an `ArsenalError` whose cause is the result. Defaults to `return`. */
  readonly onFailure?: "return" | "throw";
  /** Defaults to the system clock. */
  readonly clock?: Clock;
}

/** The part of `fetch` that the client uses. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly signal: AbortSignal;
  },
) => Promise<FetchedResponse>;

/** The part of a `Response` that the client uses. */
export interface FetchedResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): BodyReader } | null;
  text(): Promise<string>;
}

/** The part of a stream's reader that the client uses. */
export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}
