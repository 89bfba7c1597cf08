import type { McpServerSettings } from "../../../adapters/sources/mcp/settings.ts";
import type { OpenApiSettings } from "../../../adapters/sources/openapi/settings.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { TOOL_SOURCES } from "../../../tool/tool.ts";
import { type Answer, type Operation, operation } from "../operation.ts";
import { administrationOf } from "./administered.ts";

const NAME = {
  type: "string",
  description: "Its name, and by default the namespace of its tools.",
  pattern: "^[A-Za-z][A-Za-z0-9_-]*$",
  maxLength: 64,
} as const;

const params = {
  type: "object",
  properties: { name: { type: "string", description: "The ensemble's name." } },
} as const;

const STATUS = {
  type: "object",
  properties: {
    name: { type: "string" },
    source: { enum: TOOL_SOURCES, description: "Where its tools come from." },
    state: { enum: ["connecting", "connected", "failed", "disconnected"] },
    problem: { type: "string", description: "Why it is not connected, or could not be read the last time." },
    tools: { type: "integer", description: "How many tools it has registered." },
  },
  required: ["name", "source", "state", "tools"],
} satisfies JsonSchema;

const ADDED = {
  type: "object",
  properties: {
    name: { type: "string" },
    tools: { type: "integer", description: "How many tools came." },
    persisted: {
      const: false,
      description: "It lasts until the process ends. Write it into the configuration to keep it.",
    },
  },
  required: ["name", "tools", "persisted"],
} satisfies JsonSchema;

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

const MCP_SERVER = closed(
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

const OPENAPI = closed(
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
    credentials: {
      type: "object",
      description: "By the name of the document's security scheme: a reference to a secret, a user, or a client.",
      additionalProperties: {
        anyOf: [
          { type: "string" },
          closed({ username: text("The name."), password: text("A reference.") }, ["username"]),
          closed(
            {
              clientId: text("The id."),
              clientSecret: text("A reference."),
              tokenUrl: text("Instead of the address in the document."),
              scopes: list("Instead of the scopes that each operation asks for."),
              sendIn: { enum: ["header", "body"], description: "Where id and secret are sent. Default header." },
            },
            ["clientId", "clientSecret"],
          ),
        ],
      },
    },
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

const tag = "Ensembles";
const role = "operator";
const one = { 200: { description: "What became of it.", schema: STATUS } };
const problems = ["ENSEMBLE_NOT_FOUND"] as const;

const ADD_PROBLEMS = ["SOURCE_UNAVAILABLE", "CONFIG_INVALID", "CLOSED"] as const;

/** Servers, documents and other sources whose tools are used: how they fare, connecting and disconnecting them, adding and removing them. */
export const ensembleOperations: readonly Operation[] = [
  operation({
    id: "listEnsembles",
    method: "get",
    path: "/ensembles",
    tag,
    role,
    summary: "List the ensembles and how each one fares",
    answers: {
      200: {
        description: "Those that are connected or connecting in the order they were added, then the others.",
        schema: {
          type: "object",
          properties: { ensembles: { type: "array", items: STATUS } },
          required: ["ensembles"],
        },
      },
    },
    async run(_asked, context) {
      return { body: { ensembles: administrationOf(context).ensembles.list() } };
    },
  }),
  operation({
    id: "getEnsemble",
    method: "get",
    path: "/ensembles/{name}",
    tag,
    role,
    summary: "Get how one ensemble fares",
    params,
    answers: { 200: { description: "How it fares.", schema: STATUS } },
    problems,
    async run({ params: { name = "" } }, context) {
      return { body: administrationOf(context).ensembles.get(name) };
    },
  }),
  operation({
    id: "connectEnsemble",
    method: "post",
    path: "/ensembles/{name}/connect",
    tag,
    role,
    summary: "Connect an ensemble that failed or was disconnected",
    params,
    answers: one,
    problems,
    async run({ params: { name = "" }, signal }, context) {
      return { body: await administrationOf(context).ensembles.connect(name, { signal }) };
    },
  }),
  operation({
    id: "disconnectEnsemble",
    method: "post",
    path: "/ensembles/{name}/disconnect",
    tag,
    role,
    summary: "Close an ensemble's connection and take its tools away",
    params,
    answers: one,
    problems,
    async run({ params: { name = "" } }, context) {
      return { body: await administrationOf(context).ensembles.disconnect(name) };
    },
  }),
  operation({
    id: "reloadEnsemble",
    method: "post",
    path: "/ensembles/{name}/reload",
    tag,
    role,
    summary: "List an ensemble's tools again, from its files or its server",
    params,
    answers: one,
    problems,
    async run({ params: { name = "" }, signal }, context) {
      return { body: await administrationOf(context).ensembles.reload(name, { signal }) };
    },
  }),
  operation({
    id: "addMcpServer",
    method: "post",
    path: "/ensembles/mcp",
    tag,
    role,
    summary: "Connect an MCP server",
    description: "It lasts until the process ends.",
    body: MCP_SERVER,
    answers: { 201: { description: "Its tools are registered.", schema: ADDED } },
    problems: ADD_PROBLEMS,
    statusOf: { SOURCE_UNAVAILABLE: 422 },
    async run({ body, principal, signal }, context) {
      const settings = body as unknown as McpServerSettings;
      const tools = await administrationOf(context).ensembles.addMcpServer(settings, principal, { signal });
      return added(settings.name, tools);
    },
  }),
  operation({
    id: "addOpenApi",
    method: "post",
    path: "/ensembles/openapi",
    tag,
    role,
    summary: "Use the operations of an OpenAPI document as tools",
    description: "It lasts until the process ends.",
    body: OPENAPI,
    maxBytes: 4 * 1024 * 1024,
    answers: { 201: { description: "Its tools are registered.", schema: ADDED } },
    problems: ADD_PROBLEMS,
    statusOf: { SOURCE_UNAVAILABLE: 422 },
    async run({ body, principal }, context) {
      const settings = body as unknown as OpenApiSettings;
      return added(settings.name, await administrationOf(context).ensembles.addOpenApi(settings, principal));
    },
  }),
  operation({
    id: "removeEnsemble",
    method: "delete",
    path: "/ensembles/{name}",
    tag,
    role,
    summary: "Disconnect an ensemble and forget it",
    params,
    answers: { 204: { description: "It is gone. If the configuration names it, it comes back with the next start." } },
    problems,
    async run({ params: { name = "" } }, context) {
      await administrationOf(context).ensembles.remove(name);
      return { status: 204 };
    },
  }),
];

function added(name: string, tools: number): Answer {
  const location = `/api/v1/ensembles/${encodeURIComponent(name)}`;
  return { status: 201, body: { name, tools, persisted: false }, headers: { location } };
}
