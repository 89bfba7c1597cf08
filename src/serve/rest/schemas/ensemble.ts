import type { JsonSchema } from "../../../tool/json-schema.ts";
import { anyObject, flag, integer, object, text, texts } from "./write.ts";

const NAME = {
  ...text("Its name, and by default the namespace of its tools."),
  pattern: "^[A-Za-z][A-Za-z0-9_-]*$",
  maxLength: 64,
} as const;

const filled = (description: string) => ({ ...text(description), minLength: 1 }) as const;
const address = (description: string, pattern = "^https?://[^ ]+$") => ({ ...filled(description), pattern }) as const;
const record = (description: string) =>
  ({ ...anyObject(description), additionalProperties: { type: "string" } }) as const;
const whole = (description: string, maximum = 2_147_483_647) =>
  ({ ...integer(description), minimum: 1, maximum }) as const;

const HEADERS = record("Headers sent with every request. A value such as env:NAME refers to a secret.");

const OAUTH = object("", [], {
  clientId: filled("Id of a client that is registered already."),
  clientSecret: filled("A reference to its secret, such as env:NAME."),
  privateKey: filled("A reference to a key in PEM that signs instead of a secret."),
  privateKeyAlgorithm: filled("The key's algorithm. Default ES256."),
  issuer: filled("The authorization server that id and secret belong to."),
  clientMetadataUrl: filled("Address of a document that describes this client."),
  scope: filled("Scopes to ask for, between spaces."),
  grant: { enum: ["authorization_code", "client_credentials"], description: "How a token is obtained." },
  redirectPort: whole("Port of the redirect address.", 65_535),
  tokenFile: filled("File of the gateway's machine in which tokens are kept."),
});

/** How an MCP server is reached. The same settings as in the configuration and the library. */
export const MCP_SERVER = object("", ["name", "transport"], {
  name: NAME,
  transport: {
    description: "How it is reached.",
    oneOf: [
      object("", ["kind", "command"], {
        kind: { const: "stdio" },
        command: filled("The program. Only the local operator may name one, unless server.allow_commands is true."),
        args: texts("Its arguments."),
        env: record("Its environment."),
        cwd: filled("The folder it runs in."),
      }),
      object("", ["kind", "url"], {
        kind: { enum: ["http", "sse"] },
        url: address("Its address."),
        headers: HEADERS,
        oauth: OAUTH,
      }),
      object("", ["kind", "url"], {
        kind: { const: "websocket" },
        url: address("Its address.", "^wss?://[^ ]+$"),
        headers: HEADERS,
      }),
    ],
  },
  namespace: NAME,
  trustAnnotations: flag("Whether its annotations (read-only, idempotent) are believed. Default false."),
  connectTimeoutMs: whole("Time that connecting and listing may take, each. Default 30,000."),
  timeoutMs: whole("Time one call may take, in milliseconds. Default 60,000."),
  maxConcurrent: whole("Calls at once, over all callers.", 100_000),
  maxMessageBytes: whole("The longest message taken from the server, in bytes. Default 16,777,216.", 1_073_741_824),
  maxTools: whole("Tools taken from the server at most. Default 5,000.", 1_000_000),
  maxConnections: whole("Connections at once, if callers need their own. Default 8.", 10_000),
});

const FILTER = object("", [], {
  tags: texts("Tags of operations."),
  paths: texts("Paths as the document writes them; * stands for any characters."),
  methods: texts("HTTP methods."),
  operationIds: texts("Ids of operations."),
});

const CREDENTIALS: JsonSchema = {
  type: "object",
  description: "By the name of the document's or card's security scheme: a reference to a secret, a user, or a client.",
  additionalProperties: {
    anyOf: [
      { type: "string" },
      object("", ["username"], { username: filled("The name."), password: filled("A reference.") }),
      object("", ["clientId", "clientSecret"], {
        clientId: filled("The id."),
        clientSecret: filled("A reference."),
        tokenUrl: filled("Instead of the address that the document or card names."),
        scopes: texts("Instead of the scopes that are asked for."),
        sendIn: { enum: ["header", "body"], description: "Where id and secret are sent. Default header." },
      }),
    ],
  },
};

/** An OpenAPI document whose operations become tools. */
export const OPENAPI = object("", ["name", "document"], {
  name: NAME,
  namespace: NAME,
  document: {
    description: "The document itself, its address, or a file of the gateway's machine.",
    anyOf: [{ type: "object" }, { type: "string", minLength: 1 }],
  },
  server: address("Where the API is, instead of the servers that the document names."),
  serverVariables: record("Values for the variables in the document's server addresses."),
  credentials: CREDENTIALS,
  headers: HEADERS,
  include: FILTER,
  exclude: FILTER,
  trustMethods: flag("Whether GET changes nothing and PUT and DELETE can be repeated. Default false."),
  filesFrom: filled("A folder of the gateway's machine whose files may be sent by path."),
  maxToolBytes: whole("Bytes of a tool's definition. Default 32,768.", 16_777_216),
  maxDocumentBytes: whole("Bytes of the document. Default 67,108,864.", 1_073_741_824),
  maxAnswerBytes: whole("Bytes of an answer. Default 16,777,216.", 1_073_741_824),
  timeoutMs: whole("Time one call may take, in milliseconds."),
  maxConcurrent: whole("Calls at once.", 100_000),
});

/** Another agent whose skills become tools. */
export const A2A_AGENT = object("", ["name", "url"], {
  name: NAME,
  namespace: NAME,
  url: address("Its address, or that of its card."),
  endpoint: address("Where it is called, instead of the address in its card."),
  transport: { enum: ["jsonrpc", "http+json"], description: "The binding to use. Default: the first in the card." },
  credentials: CREDENTIALS,
  headers: HEADERS,
  tls: object("", ["cert", "key"], {
    cert: filled("PEM file of the gateway's machine with a client certificate."),
    key: filled("PEM file of its key."),
    ca: filled("PEM file of the certificates that the agent's own may be signed by."),
  }),
  trustedKeys: filled("Keys that may sign the card: the address of a JWKS, or a file of the gateway's machine."),
  requireSignature: flag("Whether cards without a signature by a trusted key are refused. Default false."),
  refreshS: { ...integer("Seconds between two looks at the card. Default 300."), minimum: 0, maximum: 86_400 },
  maxCardBytes: whole("Bytes of the card. Default 1,048,576.", 67_108_864),
  maxAnswerBytes: whole("Bytes of one answer or stream. Default 16,777,216.", 1_073_741_824),
  timeoutMs: whole("Time one call may take, in milliseconds."),
  maxConcurrent: whole("Calls at once.", 100_000),
});
