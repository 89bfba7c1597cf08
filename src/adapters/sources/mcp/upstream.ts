import type { Era, JsonObject, RpcNotification } from "./protocol.ts";
import type { Ask, ClientIdentity, McpConnection, RequestOptions, ServerDescription } from "./connection.ts";
import type { McpServerSettings } from "./settings.ts";

/** What an MCP server offers beside tools, by the method that lists it. */
export const LISTINGS = {
  tools: "tools/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
  prompts: "prompts/list",
} as const;

/** A kind of thing that a server lists. */
export type Listing = keyof typeof LISTINGS;

/** How an upstream fares. */
export type UpstreamState =
  | { readonly kind: "connecting" }
  | {
      readonly kind: "connected";
      readonly era: Era;
      readonly protocolVersion: string;
      readonly server: ServerDescription;
    }
  /** `retryAt` is in milliseconds since the epoch. */
  | { readonly kind: "failed"; readonly error: Error; readonly retryAt: number }
  | { readonly kind: "closed" };

/** What watchers of an upstream are told. */
export type UpstreamChange =
  | { readonly kind: "state"; readonly state: UpstreamState }
  /** The server's list of this kind may have changed. */
  | { readonly kind: "listed"; readonly listing: Listing }
  /** Anything else it says outside a request: a resource was updated, a log message. */
  | { readonly kind: "notification"; readonly notification: RpcNotification };

/** How a request to an upstream is made for a caller. */
export interface UpstreamRequestOptions extends RequestOptions {
  /**
   * Answers the server's questions. A legacy server cannot say which request a question belongs to, so a request with `ask` has a connection
   * to itself while it runs: the shared one where nobody else uses it, another where somebody does. With a modern server the
   * `input_required` result is answered and the request repeated.
   */
  readonly ask?: Ask;
  /** Returns an `input_required` result as it is instead of answering it. */
  readonly passInputRequired?: boolean;
}

/**
 * One configured MCP server: the connections to it, what it lists, and how it fares. It connects by itself, tries again with growing
 * pauses when it cannot, and reconnects after a crash or an expired session.
 */
export interface McpUpstream {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly state: UpstreamState;
  /** Resolves when the first attempt to connect has ended, well or not. Never rejects. */
  readonly attempted: Promise<void>;
  /** Returns what ends the watch. */
  watch(listener: (change: UpstreamChange) => void): () => void;
  /** Everything of one kind, over all pages, as the server gave it. Kept until the server says it changed; [] where the server has no such thing. */
  list(listing: Listing, options?: { readonly signal?: AbortSignal }): Promise<readonly JsonObject[]>;
  /** One request for one caller. Rejects like `McpConnection.request`, and with SOURCE_UNAVAILABLE while the server is away. */
  request(method: string, params?: JsonObject, options?: UpstreamRequestOptions): Promise<JsonObject>;
  /** A connection for one downstream session alone, with that client's identity. The caller closes it. */
  openSession(client: ClientIdentity, options?: { readonly signal?: AbortSignal }): Promise<McpConnection>;
  /** Ends every connection and all child processes. Safe to call twice. */
  close(): Promise<void>;
}
