import {
  choice,
  entry,
  flag,
  folder,
  list,
  object,
  optional,
  path,
  schema,
  text,
  texts,
  whole,
} from "../../settings.ts";

/** One MCP server, and how it is reached. */
export interface McpServerSettings {
  /** The ensemble's name and the namespace of its tools. */
  readonly name: string;
  readonly transport: StdioSettings | HttpSettings | WebSocketSettings;
  readonly namespace?: string;
  /** True if you vouch for the server's annotations: what it calls read-only or idempotent is retried. Default false. */
  readonly trustAnnotations?: boolean;
  /** Time that connecting and listing may take, each. Default 30,000. */
  readonly connectTimeoutMs?: number;
  /** Time one call may take, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number;
  /** Calls at once, over all callers. Defaults to `execution.maxConcurrentPerEnsemble`. */
  readonly maxConcurrent?: number;
  /** The longest message taken from the server, in bytes. A longer result fails with RESULT_TOO_LARGE. Default 16,777,216. */
  readonly maxMessageBytes?: number;
  /** Tools taken from the server at most; the rest is left out, with a warning. Default 5,000. */
  readonly maxTools?: number;
  /** Connections at once, if callers need their own. Default 8. */
  readonly maxConnections?: number;
}

/** How a server is added. */
export interface AddServerOptions {
  /** Returns at once and retries in the background until the server comes. */
  readonly patient?: boolean;
  /** True for a server that a configuration file names: if `security.pins` is `all`, its command is started only once somebody accepted it. */
  readonly configured?: boolean;
  /** Gives up connecting, and ends the server's process. */
  readonly signal?: AbortSignal | undefined;
}

/** A server that runs as a child process and talks over its standard streams. */
export interface StdioSettings {
  readonly kind: "stdio";
  readonly command: string;
  readonly args?: readonly string[];
  /** The child's whole environment, in addition to what every program needs (PATH, HOME, locale, temporary folder). */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server reached over HTTP. `http` is streamable HTTP, with the older HTTP+SSE tried if it answers 4xx; `sse` is the older one alone. */
export interface HttpSettings {
  readonly kind: "http" | "sse";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How to get a token if the server asks for one. */
  readonly oauth?: OAuthSettings;
}

/** A server reached over a WebSocket. */
export interface WebSocketSettings {
  readonly kind: "websocket";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** OAuth 2.1 for one server. Everything has a default: a public client, registered as the server allows. */
export interface OAuthSettings {
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Key in PEM that signs for this client instead of a secret (`private_key_jwt`), and its algorithm, by default ES256. */
  readonly privateKey?: string;
  readonly privateKeyAlgorithm?: string;
  /** The authorization server that the id and secret belong to; they are sent to no other. Default: the one the MCP server names. */
  readonly issuer?: string;
  /** Address of a client ID metadata document that describes this client. */
  readonly clientMetadataUrl?: string;
  readonly scope?: string;
  /** `authorization_code` asks a person once; `client_credentials` needs an id and a secret or key. */
  readonly grant?: "authorization_code" | "client_credentials";
  /** Port of the redirect address `http://127.0.0.1:PORT/callback`, if the client was registered with a fixed one. Default: a free one. */
  readonly redirectPort?: number;
  /** Where tokens are kept, readable by this user alone. Default: in the user's configuration folder. */
  readonly tokenFile?: string;
}

/** A server's address without what may be secret in it: tools and messages are shown to people. */
export function plainAddress(address: string): string {
  const url = URL.parse(address);
  return url === null ? address : `${url.protocol}//${url.host}${url.pathname}`;
}

/** The longest wait that can be set: what a timer takes. */
export const MAX_TIMEOUT_MS = 2_147_483_647;
export const MAX_CONCURRENT = 100_000;
export const MAX_MESSAGE_BYTES = 1_073_741_824;
export const MAX_TOOLS = 1_000_000;

export const config = entry(
  "One MCP server.",
  {
    name: text("The server's name."),
    type: choice("How it is reached. Defaults to what command or url suggests.", [
      "stdio",
      "http",
      "streamable-http",
      "sse",
      "ws",
      "websocket",
    ]),
    command: schema<string | readonly string[]>({
      description: "The program, or the program and its arguments.",
      anyOf: [
        { type: "string", minLength: 1 },
        { type: "array", items: { type: "string" }, minItems: 1 },
      ],
    }),
    args: list("Arguments of the program.", schema<string>({ type: "string" })),
    env: texts("Environment of the program."),
    cwd: folder("Folder the program runs in."),
    url: text("The server's address."),
    endpoint: text("The same as url."),
    headers: texts("Headers sent to the server."),
    oauth: optional(
      object(
        "How to get a token if the server asks for one. Everything has a default: a public client, registered as the server allows.",
        {
          clientId: text("Id of a client that is registered already."),
          clientSecret: text("Its secret."),
          issuer: text("The authorization server that id and secret belong to; they are sent to no other."),
          clientMetadataUrl: text("Address of a document that describes this client."),
          scope: text("Scopes to ask for, between spaces."),
          grant: choice("authorization_code asks a person once; client_credentials needs an id and a secret.", [
            "authorization_code",
            "client_credentials",
          ]),
          redirectPort: whole("Port of the redirect address, if the client was registered with one.", 1, 65_535),
          tokenFile: path("File the tokens are kept in. Defaults to one in the user's configuration folder."),
        },
      ),
    ),
    namespace: text("Namespace of its tools. Defaults to the server's name."),
    timeoutMs: whole("Time one call may take, in milliseconds. Defaults to 60000.", 1, MAX_TIMEOUT_MS),
    connectTimeoutMs: whole(
      "Time that connecting and listing may take, each, in milliseconds. Defaults to 30000.",
      1,
      MAX_TIMEOUT_MS,
    ),
    maxConcurrent: whole(
      "Calls at once, over all callers. Defaults to execution.max_concurrent_per_ensemble.",
      1,
      MAX_CONCURRENT,
    ),
    maxMessageBytes: whole(
      "Longest message taken from the server, in bytes; a longer result fails. Defaults to 16777216.",
      1024,
      MAX_MESSAGE_BYTES,
    ),
    maxTools: whole("Tools taken from the server at most. Defaults to 5000.", 1, MAX_TOOLS),
    trustAnnotations: flag("Whether its annotations (read-only, idempotent) are believed. Defaults to false."),
    disabled: flag("Whether it is left out."),
  },
  ["name"],
);
