import type { Transport } from "@modelcontextprotocol/client";
import type { Egress } from "../../../../guard/egress/egress.ts";
import type { Clock } from "../../../../observe/clock.ts";
import type { Credentials } from "../connection/credentials.ts";
import { boundEvents } from "./bound-events.ts";
import { egressFetch } from "./egress-fetch.ts";
import type { OAuthProvider } from "../oauth/provider.ts";
import type { HttpSettings } from "../settings.ts";
import { streamableHttpTransport } from "./streamable-http.ts";
import { MAX_MESSAGE_BYTES } from "../../../../mcp/wire-message.ts";
import { within } from "../../../../system/within.ts";

/** What HTTP transports need beside the address. */
export interface HttpParts {
  readonly clock: Clock;
  /** The longest message, in bytes. Default 16 MiB. */
  readonly maxMessageBytes?: number;
  /** The way out of the program. */
  readonly egress: Egress;
  readonly credentials: Credentials;
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

/** Streamable HTTP. `lost` is called when the server's own stream broke and could not be opened again. */
export async function streamableHttp(
  settings: HttpSettings,
  parts: HttpParts,
  lost: (error: Error) => void,
): Promise<HttpTransport> {
  // Connections of its own, so that closing them ends whatever is under way.
  const transport = await streamableHttpTransport(settings, { ...parts, egress: parts.egress.fork(), lost });
  const farewell = (): Promise<void> =>
    within(
      FAREWELL_MS,
      transport.endSession().catch(() => {}),
      parts.clock,
    );
  return { transport, farewell, isFatal: () => false };
}

/** The older HTTP+SSE. Its stream is the session: once it breaks, the session is gone. */
export async function httpWithSse(
  { url, headers: written = {} }: HttpSettings,
  { egress, oauth, credentials, clock, maxMessageBytes = MAX_MESSAGE_BYTES }: HttpParts,
): Promise<HttpTransport> {
  const headers = await credentials.fill(written, "headers");
  const { SSEClientTransport, SseError } = await import("@modelcontextprotocol/client");
  const server = `The MCP server at ${new URL(url).origin}`;
  const fetch = egressFetch(egress, {
    trusted: [url],
    secretHeaders: Object.keys(written),
    through: () => boundEvents({ server, maxMessageBytes, clock }),
  });
  const transport = new SSEClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    ...(oauth ? { authProvider: oauth, fetch: oauth.wrapFetch(fetch) } : { fetch }),
  });
  return { transport, farewell: async () => {}, isFatal: (error) => error instanceof SseError };
}
