import type { JsonSchema } from "../../../tool/json-schema.ts";

const NAME = {
  type: "string",
  description: "Its name, and by default the namespace of its tools.",
  pattern: "^[A-Za-z][A-Za-z0-9_-]*$",
  maxLength: 64,
} as const;

const text = (description: string): JsonSchema => ({ type: "string", minLength: 1, description });
const texts = (description: string): JsonSchema => ({
  type: "object",
  description,
  additionalProperties: { type: "string" },
});
const list = (description: string): JsonSchema => ({ type: "array", description, items: { type: "string" } });
const whole = (description: string, maximum = 2_147_483_647): JsonSchema => ({
  type: "integer",
  minimum: 1,
  maximum,
  description,
});
const flag = (description: string): JsonSchema => ({ type: "boolean", description });
const closed = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const HEADERS = texts("Headers sent with every request. A value such as env:NAME refers to a secret.");

const OAUTH = closed({
  clientId: text("Id of a client that is registered already."),
  clientSecret: text("A reference to its secret, such as env:NAME."),
  privateKey: text("A reference to a key in PEM that signs instead of a secret."),
  privateKeyAlgorithm: text("The key's algorithm. Default ES256."),
  issuer: text("The authorization server that id and secret belong to."),
  clientMetadataUrl: text("Address of a document that describes this client."),
  scope: text("Scopes to ask for, between spaces."),
  grant: { enum: ["authorization_code", "client_credentials"], description: "How a token is obtained." },
  redirectPort: whole("Port of the redirect address.", 65_535),
  tokenFile: text("File of the gateway's machine in which tokens are kept."),
});

/** How an MCP server is reached. The same settings as in the configuration and the library. */
export const MCP_SERVER = closed(
  {
    name: NAME,
    transport: {
      description: "How it is reached.",
      oneOf: [
        closed(
          {
            kind: { const: "stdio" },
            command: text("The program. Only the local operator may name one, unless server.allow_commands is true."),
            args: list("Its arguments."),
            env: texts("Its environment."),
            cwd: text("The folder it runs in."),
          },
          ["kind", "command"],
        ),
        closed(
          {
            kind: { enum: ["http", "sse"] },
            url: { ...text("Its address."), pattern: "^https?://[^ ]+$" },
            headers: HEADERS,
            oauth: OAUTH,
          },
          ["kind", "url"],
        ),
        closed(
          {
            kind: { const: "websocket" },
            url: { ...text("Its address."), pattern: "^wss?://[^ ]+$" },
            headers: HEADERS,
          },
          ["kind", "url"],
        ),
      ],
    },
    namespace: NAME,
    trustAnnotations: flag("Whether its annotations (read-only, idempotent) are believed. Default false."),
    connectTimeoutMs: whole("Time that connecting and listing may take, each. Default 30,000."),
    timeoutMs: whole("Time one call may take, in milliseconds. Default 60,000."),
    maxConcurrent: whole("Calls at once, over all callers.", 100_000),
    maxMessageBytes: whole("The longest message taken from the server, in bytes. Default 16,777,216.", 1_073_741_824),
    maxTools: whole("Tools taken from the server at most. Default 5,000.", 1_000_000),
    maxConnections: whole("Connections at once, if callers must be told apart by them. Default 8.", 10_000),
  },
  ["name", "transport"],
);

const FILTER = closed({
  tags: list("Tags of operations."),
  paths: list("Paths as the document writes them; * stands for any characters."),
  methods: list("HTTP methods."),
  operationIds: list("Ids of operations."),
});

const CREDENTIALS: JsonSchema = {
  type: "object",
  description: "By the name of the document's or card's security scheme: a reference to a secret, a user, or a client.",
  additionalProperties: {
    anyOf: [
      { type: "string" },
      closed({ username: text("The name."), password: text("A reference.") }, ["username"]),
      closed(
        {
          clientId: text("The id."),
          clientSecret: text("A reference."),
          tokenUrl: text("Instead of the address that the document or card names."),
          scopes: list("Instead of the scopes that are asked for."),
          sendIn: { enum: ["header", "body"], description: "Where id and secret are sent. Default header." },
        },
        ["clientId", "clientSecret"],
      ),
    ],
  },
};

/** An OpenAPI document whose operations become tools. */
export const OPENAPI = closed(
  {
    name: NAME,
    namespace: NAME,
    document: {
      description: "The document itself, its address, or a file of the gateway's machine.",
      anyOf: [{ type: "object" }, { type: "string", minLength: 1 }],
    },
    server: {
      ...text("Where the API is, instead of the servers that the document names."),
      pattern: "^https?://[^ ]+$",
    },
    serverVariables: texts("Values for the variables in the document's server addresses."),
    credentials: CREDENTIALS,
    headers: HEADERS,
    include: FILTER,
    exclude: FILTER,
    trustMethods: flag("Whether GET changes nothing and PUT and DELETE can be repeated. Default false."),
    filesFrom: text("A folder of the gateway's machine whose files may be sent by path."),
    maxToolBytes: whole("Bytes of a tool's definition. Default 32,768.", 16_777_216),
    maxDocumentBytes: whole("Bytes of the document. Default 67,108,864.", 1_073_741_824),
    maxAnswerBytes: whole("Bytes of an answer. Default 16,777,216.", 1_073_741_824),
    timeoutMs: whole("Time one call may take, in milliseconds."),
    maxConcurrent: whole("Calls at once.", 100_000),
  },
  ["name", "document"],
);

/** Another agent whose skills become tools. */
export const A2A_AGENT = closed(
  {
    name: NAME,
    namespace: NAME,
    url: { ...text("Its address, or that of its card."), pattern: "^https?://[^ ]+$" },
    endpoint: { ...text("Where it is called, instead of the address in its card."), pattern: "^https?://[^ ]+$" },
    transport: { enum: ["jsonrpc", "http+json"], description: "The binding to use. Default: the first in the card." },
    credentials: CREDENTIALS,
    headers: HEADERS,
    tls: closed(
      {
        cert: text("PEM file of the gateway's machine with a client certificate."),
        key: text("PEM file of its key."),
        ca: text("PEM file of the certificates that the agent's own may be signed by."),
      },
      ["cert", "key"],
    ),
    trustedKeys: text("Keys that may sign the card: the address of a JWKS, or a file of the gateway's machine."),
    requireSignature: flag("Whether cards without a signature by a trusted key are refused. Default false."),
    refreshS: {
      type: "integer",
      minimum: 0,
      maximum: 86_400,
      description: "Seconds between two looks at the card. Default 300.",
    },
    maxCardBytes: whole("Bytes of the card. Default 1,048,576.", 67_108_864),
    maxAnswerBytes: whole("Bytes of one answer or stream. Default 16,777,216.", 1_073_741_824),
    timeoutMs: whole("Time one call may take, in milliseconds."),
    maxConcurrent: whole("Calls at once.", 100_000),
  },
  ["name", "url"],
);
