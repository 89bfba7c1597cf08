import {
  choice,
  entry,
  flag,
  folder,
  type InputOf,
  list,
  object,
  optional,
  path,
  schema,
  text,
  texts,
  whole,
} from "../../../tool/shape/shape.ts";

/** Returns a server's address without secrets, for tools and messages that people see. */
export function plainAddress(address: string): string {
  const url = URL.parse(address);
  return url === null ? address : `${url.protocol}//${url.host}${url.pathname}`;
}

/** In milliseconds: the limit of a JavaScript timer. */
export const MAX_TIMEOUT_MS = 2_147_483_647;

const TRANSPORTS = ["stdio", "http", "streamable-http", "sse", "ws", "websocket"] as const;

const PROGRAM = {
  command: schema<string | readonly string[]>({
    description: "The program to start, or a list with the program and its arguments.",
    anyOf: [
      { type: "string", minLength: 1 },
      { type: "array", items: { type: "string" }, minItems: 1 },
    ],
  }),
  args: list("Arguments of the program.", schema<string>({ type: "string" })),
  env: texts(
    "Environment variables of the program, in addition to those that every program gets (PATH, HOME, locale).",
  ),
  cwd: folder("Working directory of the program."),
};

/** Limits of a program. They come last, because forms show settings in this order. */
const LIMITS = {
  limits: optional(
    object(
      "Limits of the program. Each process that it starts has the same limits. Linux only; needs the program prlimit.",
      {
        memoryMb: whole("Maximum memory of a process, in megabytes.", 16, 1_048_576),
        cpuSeconds: whole(
          "Maximum CPU time of a process, in seconds. After that, the process is killed.",
          1,
          31_536_000,
        ),
        openFiles: whole("Maximum number of open files and connections of a process.", 16, 1_048_576),
      },
    ),
  ),
};

const SOCKET = {
  url: text("URL of the server."),
  headers: texts("Headers sent to the server."),
};

const HTTP = {
  ...SOCKET,
  oauth: optional(
    object(
      "OAuth settings, used if the server requires a token. All have defaults: a public client, registered in a way that the server supports.",
      {
        clientId: text("Client id of a registered client."),
        clientSecret: text("Secret of the registered client."),
        privateKey: text("Private key (PEM) that authenticates the client instead of a secret (private_key_jwt)."),
        privateKeyAlgorithm: text("Signature algorithm of the private key. Defaults to ES256."),
        issuer: text(
          "URL of the authorization server that issued the client id and secret. They are never sent to another server.",
        ),
        clientMetadataUrl: text("URL of a client metadata document that describes this client."),
        scope: text("Scopes to request, separated by spaces."),
        grant: choice(
          "How the gateway gets a token. authorization_code: a person signs in once; client_credentials: with client_id and a secret or key; id_jag: with the settings under identity.",
          ["authorization_code", "client_credentials", "id_jag"],
        ),
        identity: entry(
          "Identity provider whose tokens the server's authorization server accepts (ID-JAG), so that no person signs in.",
          {
            issuer: text("URL of the identity provider."),
            tokenUrl: text("URL of the provider's token endpoint. Defaults to the URL in its metadata."),
            clientId: text("Client id of the gateway at the identity provider."),
            clientSecret: text("Secret of that client. Omit it for a public client."),
            token: text(
              "Secret reference to the OpenID Connect identity token. If it contains {principal}, each caller has its own token.",
            ),
          },
          ["issuer", "clientId", "token"],
        ),
        account: choice(
          "Whose login is used. gateway: one login for all callers; user: each caller signs in; user_or_gateway: callers who have not signed in use the gateway's login. Defaults to gateway.",
          ["gateway", "user", "user_or_gateway"],
        ),
        redirectPort: whole("Port of the redirect URI, if the client is registered with a fixed port.", 1, 65_535),
        tokenFile: path("File that stores the tokens. Defaults to a file in the user's configuration folder."),
      },
    ),
  ),
};

const kind = <const Kind extends string>(...kinds: readonly Kind[]) => choice("How the server is reached.", kinds);
const STDIO_TRANSPORT = entry("A program.", { kind: kind("stdio"), ...PROGRAM, ...LIMITS }, ["kind", "command"]);
const HTTP_TRANSPORT = entry("An address.", { kind: kind("http", "sse"), ...HTTP }, ["kind", "url"]);
const SOCKET_TRANSPORT = entry("A WebSocket.", { kind: kind("websocket"), ...SOCKET }, ["kind", "url"]);

export const config = entry(
  "One MCP server.",
  {
    name: text("Name of the server."),
    transport: schema<
      | (typeof TRANSPORTS)[number]
      | InputOf<typeof STDIO_TRANSPORT>
      | InputOf<typeof HTTP_TRANSPORT>
      | InputOf<typeof SOCKET_TRANSPORT>
    >({
      description:
        "How the server is reached: stdio, http, sse or websocket, or an object with kind and the settings of that kind. Defaults to stdio if command is set, and to the kind that fits the URL if url is set.",
      anyOf: [{ enum: TRANSPORTS }, STDIO_TRANSPORT, HTTP_TRANSPORT, SOCKET_TRANSPORT],
    }),
    type: choice("The same as transport. In an entry of sources, type is the kind of source instead.", TRANSPORTS),
    ...PROGRAM,
    ...HTTP,
    endpoint: text("The same as url."),
    namespace: text("Namespace of the server's tools. Defaults to its name."),
    timeoutMs: whole("Timeout of one call, in milliseconds. Defaults to 60000.", 1, MAX_TIMEOUT_MS),
    connectTimeoutMs: whole(
      "Timeout for connecting, and for listing the tools, in milliseconds. Defaults to 30000.",
      1,
      MAX_TIMEOUT_MS,
    ),
    maxConcurrent: whole(
      "Maximum number of concurrent calls to the server, across all callers. Defaults to execution.max_concurrent_per_ensemble.",
      1,
      100_000,
    ),
    maxConnections: whole(
      "Maximum number of concurrent connections, if each caller needs its own. Defaults to 8.",
      1,
      10_000,
    ),
    maxMessageBytes: whole(
      "Maximum size of a message from the server, in bytes. A call with a larger result fails. Defaults to 16777216.",
      1024,
      1_073_741_824,
    ),
    maxTools: whole("Maximum number of tools of the server. Defaults to 5000.", 1, 1_000_000),
    trustAnnotations: flag(
      "Whether the server's tool annotations (read-only, idempotent) are trusted. Defaults to false.",
    ),
    ...LIMITS,
  },
  ["name"],
);

/** The settings of an MCP server, as users write them. */
export type WrittenMcpServer = InputOf<typeof config>;

/** The settings of an MCP server, with its transport. */
export interface McpServerSettings extends Omit<
  WrittenMcpServer,
  keyof typeof PROGRAM | keyof typeof LIMITS | keyof typeof HTTP | "endpoint" | "type" | "transport"
> {
  readonly transport: StdioSettings | HttpSettings | WebSocketSettings;
}

/** A server that runs as a child process and communicates over stdin and stdout. */
export interface StdioSettings extends Omit<InputOf<typeof STDIO_TRANSPORT>, "command"> {
  readonly command: string;
}

/** A server reached over HTTP. `http` is streamable HTTP, with a fallback to HTTP+SSE if it answers 4xx. `sse` is HTTP+SSE only. */
export type HttpSettings = InputOf<typeof HTTP_TRANSPORT>;

/** A server reached over a WebSocket. */
export type WebSocketSettings = InputOf<typeof SOCKET_TRANSPORT>;

/** OAuth 2.1 for one server. All settings are optional. Defaults to a public client, registered as the server allows. */
export type OAuthSettings = NonNullable<HttpSettings["oauth"]>;

/** True if the grant gets tokens without a person. */
export function isUnattended({ grant }: OAuthSettings): boolean {
  return grant === "client_credentials" || grant === "id_jag";
}

/** True if callers sign in to the server themselves. With an identity provider, they need no sign-in. */
export function signsInCallers({ account = "gateway", grant }: OAuthSettings = {}): boolean {
  return account !== "gateway" && grant !== "id_jag";
}

/**
 * Adds an MCP server, for `arsenal.add`.
 *
 * @example
 * await arsenal.add(mcp({ name: "files", command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] }));
 */
export function mcp({ type, ...settings }: WrittenMcpServer | (McpServerSettings & { readonly type?: never })) {
  return { ...(type === undefined ? settings : { transport: type, ...settings }), type: "mcp" as const };
}
