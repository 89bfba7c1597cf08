import type { FetchLike, StreamableHTTPClientTransportOptions, Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../../observe/clock.ts";
import type { OAuthProvider } from "./oauth/provider.ts";
import type { HttpSettings } from "./settings.ts";

/** What HTTP transports need beside the address. */
export interface HttpParts {
  readonly clock: Clock;
  readonly fetch?: FetchLike;
  /** Where tokens come from, for a server that asks for them. */
  readonly oauth?: OAuthProvider;
}

/** A transport over HTTP and what it needs said about it. */
export interface HttpTransport {
  readonly transport: Transport;
  /** Tells the server that its session is over. */
  farewell(): Promise<void>;
  /** True for an error after which the connection is of no use. */
  isFatal(error: Error): boolean;
}

/** A server may take this long to say goodbye. */
const FAREWELL_MS = 1000;

/** A stream that broke is opened again this often in a row before the server counts as gone. */
const STREAM_TRIES = 3;

/** Streamable HTTP. `lost` is called when the server's own stream broke and could not be opened again. */
export async function streamableHttp(
  settings: HttpSettings,
  parts: HttpParts,
  lost: (error: Error) => void,
): Promise<HttpTransport> {
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const transport = new StreamableHTTPClientTransport(new URL(settings.url), {
    ...toTransportOptions(settings, parts),
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      reconnectionDelayGrowFactor: 2,
      maxReconnectionDelay: 30_000,
      maxRetries: Number.POSITIVE_INFINITY,
    },
    reconnectionScheduler: (reconnect, delay, failures) => {
      if (failures < STREAM_TRIES) return parts.clock.after(delay, reconnect, { background: true });
      lost(new Error(`its stream broke and could not be opened again in ${failures} tries`));
      return undefined;
    },
  });
  const farewell = async (): Promise<void> => {
    if (transport.sessionId === undefined) return;
    await new Promise<void>((resolve) => {
      const cancel = parts.clock.after(FAREWELL_MS, resolve, { background: true });
      transport.terminateSession().then(
        () => (cancel(), resolve()),
        () => (cancel(), resolve()),
      );
    });
  };
  return { transport, farewell, isFatal: () => false };
}

/** The older HTTP+SSE. Its stream is the session: once it breaks, the session is gone. */
export async function httpWithSse(settings: HttpSettings, parts: HttpParts): Promise<HttpTransport> {
  const { SSEClientTransport, SseError } = await import("@modelcontextprotocol/client");
  const transport = new SSEClientTransport(new URL(settings.url), {
    ...toTransportOptions(settings, parts),
  });
  return { transport, farewell: async () => {}, isFatal: (error) => error instanceof SseError };
}

function toTransportOptions(
  { headers }: HttpSettings,
  { fetch, oauth }: HttpParts,
): Pick<StreamableHTTPClientTransportOptions, "authProvider" | "fetch" | "requestInit"> {
  return {
    ...(headers ? { requestInit: { headers: { ...headers } } } : {}),
    ...(fetch ? { fetch } : {}),
    ...(oauth ? { authProvider: oauth, fetch: oauth.wrapFetch(fetch ?? globalThis.fetch) } : {}),
  };
}
