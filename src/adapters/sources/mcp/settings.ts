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
    description: "The program, or the program and its arguments.",
    anyOf: [
      { type: "string", minLength: 1 },
      { type: "array", items: { type: "string" }, minItems: 1 },
    ],
  }),
  args: list("Arguments of the program.", schema<string>({ type: "string" })),
  env: texts("Environment of the program, in addition to what every program needs (PATH, HOME, locale)."),
  cwd: folder("Folder the program runs in."),
};

/** Limits of a program. They come last, because forms show settings in this order. */
const LIMITS = {
  limits: optional(
    object(
      "Limits of the program and, each for itself, of the programs it starts. Linux only, with the program prlimit.",
      {
        memoryMb: whole("Memory that a process may use, in megabytes.", 16, 1_048_576),
        cpuSeconds: whole("Processor time that a process may use before it is ended, in seconds.", 1, 31_536_000),
        openFiles: whole("Files and connections that a process may have open.", 16, 1_048_576),
      },
    ),
  ),
};

const SOCKET = {
  url: text("The server's address."),
  headers: texts("Headers sent to the server."),
};

const HTTP = {
  ...SOCKET,
  oauth: optional(
    object(
      "How to get a token if the server asks for one. Everything has a default: a public client, registered as the server allows.",
      {
        clientId: text("Id of a client that is registered already."),
        clientSecret: text("Its secret."),
        privateKey: text("Key in PEM that signs for this client instead of a secret (private_key_jwt)."),
        privateKeyAlgorithm: text("The key's algorithm. Defaults to ES256."),
        issuer: text("The authorization server that id and secret belong to; they are sent to no other."),
        clientMetadataUrl: text("Address of a document that describes this client."),
        scope: text("Scopes to ask for, between spaces."),
        grant: choice(
          "authorization_code asks a person once; client_credentials needs an id and a secret or key; id_jag needs identity.",
          ["authorization_code", "client_credentials", "id_jag"],
        ),
        identity: entry(
          "An identity provider that vouches for callers at the server's authorization server (ID-JAG), so that no person signs in.",
          {
            issuer: text("Address of the identity provider."),
            tokenUrl: text("Its token endpoint. Defaults to the one in its metadata."),
            clientId: text("Id of the gateway's client there."),
            clientSecret: text("Its secret. Omitted for a public client."),
            token: text("Reference to the identity token (OpenID Connect); with {principal} each caller has one."),
          },
          ["issuer", "clientId", "token"],
        ),
        account: choice(
          "gateway: one login serves every caller, the default. user: each caller signs in. user_or_gateway: callers who have not signed in use the login of the gateway.",
          ["gateway", "user", "user_or_gateway"],
        ),
        redirectPort: whole("Port of the redirect address, if the client was registered with one.", 1, 65_535),
        tokenFile: path("File the tokens are kept in. Defaults to one in the user's configuration folder."),
      },
    ),
  ),
};

const kind = <const Kind extends string>(...kinds: readonly Kind[]) => choice("How it is reached.", kinds);
const STDIO_TRANSPORT = entry("A program.", { kind: kind("stdio"), ...PROGRAM, ...LIMITS }, ["kind", "command"]);
const HTTP_TRANSPORT = entry("An address.", { kind: kind("http", "sse"), ...HTTP }, ["kind", "url"]);
const SOCKET_TRANSPORT = entry("A WebSocket.", { kind: kind("websocket"), ...SOCKET }, ["kind", "url"]);

export const config = entry(
  "One MCP server.",
  {
    name: text("The server's name."),
    transport: schema<
      | (typeof TRANSPORTS)[number]
      | InputOf<typeof STDIO_TRANSPORT>
      | InputOf<typeof HTTP_TRANSPORT>
      | InputOf<typeof SOCKET_TRANSPORT>
    >({
      description:
        "How it is reached: one of stdio, http, sse and websocket, or an object with kind and the settings below. Defaults to what command or url suggests.",
      anyOf: [{ enum: TRANSPORTS }, STDIO_TRANSPORT, HTTP_TRANSPORT, SOCKET_TRANSPORT],
    }),
    type: choice("The same as transport, where it does not name the kind of source.", TRANSPORTS),
    ...PROGRAM,
    ...HTTP,
    endpoint: text("The same as url."),
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
      100_000,
    ),
    maxConnections: whole("Connections at once, if callers need their own. Defaults to 8.", 1, 10_000),
    maxMessageBytes: whole(
      "Longest message taken from the server, in bytes; a longer result fails. Defaults to 16777216.",
      1024,
      1_073_741_824,
    ),
    maxTools: whole("Tools taken from the server at most. Defaults to 5000.", 1, 1_000_000),
    trustAnnotations: flag("Whether its annotations (read-only, idempotent) are trusted. Defaults to false."),
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
