import { JWT_ALGORITHMS } from "../adapters/identity/jwt/algorithms.ts";
import { BUILTIN_TOOLS } from "../adapters/sources/builtin/settings.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import { CAPABILITIES } from "../tool/tool.ts";
import type { SandboxName } from "./config.ts";
import { openApiDocument } from "./openapi-schema.ts";
import { anything, choice, flag, list, object, optional, share, text, texts, whole } from "./schema-parts.ts";

/** The longest wait that can be set: what a timer takes. */
export const MAX_TIMEOUT_MS = 2_147_483_647;

/** The most calls at once that can be set. */
export const MAX_CONCURRENT = 100_000;
export const MAX_MESSAGE_BYTES = 1_073_741_824;
export const MAX_TOOLS = 1_000_000;

/** The sandboxes that can be configured. */
const SANDBOXES: readonly SandboxName[] = ["subprocess", "docker", "bubblewrap", "isolate"];

/**
 * The configuration as a JSON Schema, in the library's camelCase. It is the one source of what is allowed and of every default:
 * files are checked against its snake_case twin, which `node scripts/build-schema.ts` also writes to `config.schema.json` for editors.
 */
export const CONFIG_SCHEMA: JsonSchema = object("Configuration of ToolArsenal.", {
  vectorStore: object("Where tools are kept and searched.", {
    type: choice("Which one.", ["memory", "sqlite", "qdrant", "chroma", "pgvector", "pinecone", "weaviate"], "memory"),
    snapshot: text("For memory: a file the tools are kept in between runs."),
    file: text("For sqlite: the database file. Defaults to ./.toolarsenal/catalog.sqlite. Processes may share it."),
    url: text("Address of the store."),
    apiKey: text("Key of the store."),
    collectionName: text("Collection or table the tools are kept in.", "tool_arsenal"),
    dimension: whole("Length of the vectors, where the embedder does not say.", 1, 65_536),
    options: anything("Further options, handed to the store as they are."),
  }),
  embedder: object("What turns text into vectors.", {
    type: choice(
      "Which embedder; sentence_transformers is the one that ships with the package.",
      ["openai", "azure", "cohere", "huggingface", "sentence_transformers", "ollama"],
      "sentence_transformers",
    ),
    tier: choice("The best of the shipped rankers that may answer; tuned where absent.", [
      "lexical",
      "static",
      "tuned",
    ]),
    cache: {
      description:
        "A folder that keeps the vectors of tools between runs; true for the user's cache folder, false for none. Defaults to true for commands and false for the library.",
      anyOf: [{ type: "string", minLength: 1 }, { enum: [false, true] }],
    },
    model: text("The embedder's model."),
    apiKey: text("Key of the embedder's API."),
    apiBase: text("Address of the embedder's API."),
    batchSize: whole("Texts sent in one request.", 1, 10_000, 100),
    maxRetries: whole("Attempts at one request.", 0, 20, 3),
  }),
  reranker: object("A second, slower ordering of the best candidates.", {
    enabled: flag("Whether it runs.", false),
    type: choice("Which reranker.", ["cohere", "cross_encoder", "llm"], "cross_encoder"),
    model: text("The reranker's model."),
    topK: whole("How many of the best candidates are ordered again.", 1, 200, 10),
  }),
  routing: object("How tools are ranked.", {
    weights: object("How much each signal counts.", {
      semantic: share("Fit to the words of the request.", 0.6),
      intent: share("Fit to what the request is about.", 0.15),
      conversation: share("Fit to the conversation so far.", 0.1),
      health: share("How reliably the tool has worked.", 0.1),
      cost: share("How cheap and fast the tool is.", 0.05),
    }),
    penalties: object("What is taken off a tool's score.", {
      alreadyUsed: share("It was used in this conversation.", 0.05),
      alreadyFailed: share("It failed in this conversation.", 0.3),
      deprecated: share("It is deprecated.", 0.2),
    }),
    enableIntentClassification: flag("Whether requests are classified.", true),
    useLlmForIntent: flag("Whether an injected model classifies what keywords cannot.", false),
    enableMmr: flag("Whether near-duplicates make room for other tools.", true),
    mmrLambda: share("1: by score alone; 0: as different as possible.", 0.7),
    scoreThreshold: share(
      "Tools with a lower semantic score are left out; the default never leaves out every tool.",
      0.5,
    ),
    refuse: choice(
      "When a request is answered with no tools: never, when it is confident that nothing fits, or as soon as that is likely.",
      ["never", "confident", "eager"],
      "confident",
    ),
    learning: object("Learning from use, within each tenant.", {
      enabled: flag("Whether calls that follow a retrieval change later rankings.", false),
      halfLifeDays: whole("Days after which what was learned counts half.", 1, 3650, 14),
      weight: share("How much what was learned counts beside the other signals.", 0.08),
    }),
  }),
  execution: object("How tools are run.", {
    defaultTimeoutMs: whole("Time one attempt may take, in milliseconds.", 100, 300_000, 30_000),
    maxRetries: whole("Attempts in all at a call that is safe to repeat.", 1, 5, 3),
    retryBaseMs: whole("First wait between attempts, in milliseconds, doubled each time.", 0, 60_000, 200),
    circuitBreakerThreshold: whole("Consecutive failures that open a tool's circuit.", 1, 1000, 5),
    circuitBreakerTimeoutS: whole("Seconds a circuit stays open before one call may probe it.", 1, 86_400, 60),
    maxConcurrent: whole("Calls that run at once, over all tools.", 1, 100_000, 256),
    maxConcurrentPerEnsemble: whole(
      "Calls that run at once in one ensemble. Always fewer than max_concurrent; defaults to 32, or to less than half of max_concurrent.",
      1,
      100_000,
    ),
    retryBudget: share(
      "Repeated attempts, as a share of the calls to one ensemble, that may be made in a minute.",
      0.2,
    ),
    maxResultBytes: whole("The most a result may measure, in bytes.", 1_024, 1_073_741_824, 16_777_216),
    onFailure: choice("What execute does with a result that is no success.", ["return", "throw"], "return"),
    enableSandbox: flag("Whether functions run in a sandbox.", false),
    sandboxType: choice("Which sandbox; it counts where enable_sandbox is true.", ["none", ...SANDBOXES], "none"),
  }),
  telemetry: object("Where events go.", {
    enabled: {
      description:
        "Whether events are written. By default the command line writes them, and the library only when type or level is set.",
      type: "boolean",
    },
    type: choice("Where they go; console by default.", ["console", "opentelemetry", "datadog", "prometheus"]),
    level: choice("The quietest event that is shown; warn by default.", ["debug", "info", "warn", "error"]),
    otlpEndpoint: text("Address of the OpenTelemetry collector."),
    serviceName: text("The name events are sent under.", "tool_arsenal"),
    exposePrometheus: flag("Whether metrics are served for Prometheus.", false),
    prometheusPort: whole("Port the metrics are served on.", 1, 65_535, 9090),
  }),
  security: object("What may run, and who must agree.", {
    policy: choice(
      "strict refuses what no rule allows; standard allows what no rule refuses.",
      ["standard", "strict"],
      "standard",
    ),
    policyFile: text("A document of rules, or Cedar policies (.cedar), that stands in for the lists below."),
    requireConfirmation: list(
      "Tools whose calls a person must approve: names, ids or patterns.",
      text("A name, id or pattern."),
      ["delete_*", "payment_*", "drop_*", "refund_*"],
    ),
    humanInTheLoop: list("Further tools whose calls a person must approve.", text("A name, id or pattern."), []),
    allow: list("Tools that may run under the strict policy.", text("A name, id or pattern."), []),
    deny: list("Tools nobody may see or run.", text("A name, id or pattern."), []),
    allowedDomains: list("Domains that tools may reach.", text("A domain."), []),
    maxRequestsPerMinute: whole("Calls a minute, for each tool.", 1, 1_000_000, 60),
    rates: object("Calls a minute in all, beside those for each tool.", {
      tenant: whole("For each tenant.", 1, 1_000_000),
      principal: whole("For each caller.", 1, 1_000_000),
      toolset: whole("For each toolset.", 1, 1_000_000),
    }),
    pins: choice(
      "changes refuses a tool that changed until it is accepted; all hides every tool until it is. all under the strict policy, else changes, where absent.",
      ["off", "changes", "all"],
    ),
    scan: object("How text is scanned that may hide something or instruct the model.", {
      definitions: choice("In what sources say of their tools.", ["off", "flag", "neutralise", "block"], "flag"),
      arguments: choice("In arguments.", ["off", "flag", "block"], "off"),
      results: choice("In results.", ["off", "flag", "neutralise", "wrap", "block"], "off"),
      wording: choice(
        "flag also reports suspicious wording, found by a learned scorer. It never blocks.",
        ["off", "flag"],
        "off",
      ),
      severity: choice("The least severity that is blocked.", ["low", "medium", "high", "critical"], "high"),
      onFailure: choice(
        "What becomes of a text that could not be looked at; deny under the strict policy, else allow, where absent.",
        ["allow", "deny"],
      ),
    }),
    certificatePins: {
      ...texts("Hosts by name, each with sha256/ and the base64 hash of the public key its certificate must have."),
      default: {},
    },
    approvalWebhook: optional(
      object(
        "Where each call that waits for a person is told.",
        {
          url: text("The address."),
          secret: text("Signs what is sent: at least 32 characters."),
        },
        ["url"],
      ),
    ),
    confirmationTimeoutS: whole("Seconds a confirmation is kept.", 1, 604_800, 600),
    selfApproval: choice(
      "Whether the person at this machine may approve their own calls. Defaults to never in the library; on the command line to local, or to never if callers must prove who they are.",
      ["never", "local"],
    ),
  }),
  state: object("Where pins, approvals and idempotency keys are kept.", {
    file: text(
      "A SQLite file, which several processes may share. Defaults to memory; the command line then keeps approvals in the home folder, unless this is ':memory:'.",
    ),
  }),
  audit: object("The record of every call.", {
    file: text("The file it is kept in; nothing is recorded where absent."),
    keyFile: text("The Ed25519 key that signs it, made with the first use; the log's file with .key where absent."),
    secret: text("Signs it in place of a key: at least 32 characters."),
    checkpointEvery: whole("Records from one signed checkpoint to the next.", 1, 1_000_000, 1_000),
    fsync: choice("batch: a kept record survives a power failure; close: the process.", ["batch", "close"], "batch"),
    maxFileBytes: whole("Bytes after which a new file is begun.", 1_024, Number.MAX_SAFE_INTEGER, 67_108_864),
    arguments: choice("Whether arguments are kept as a hash and types, or as they are.", ["shape", "full"], "shape"),
  }),
  mcp: object("MCP servers, and serving as one.", {
    servers: list("Servers whose tools are used.", mcpServer(), []),
    serveMcp: flag("Whether the arsenal is served as an MCP server.", false),
    mcpMode: choice("Which tools an MCP client is shown.", ["dynamic", "static", "hybrid"], "dynamic"),
    commonTools: list(
      "Tools that hybrid shows beside the two of dynamic; the most used ones where empty.",
      text("A tool's id, or a pattern."),
      [],
    ),
    startupWaitMs: whole(
      "How long a request waits for servers that are still connecting for the first time.",
      0,
      600_000,
      10_000,
    ),
  }),
  openapi: list("OpenAPI documents whose operations are used as tools.", openApiDocument(), []),
  server: object("How toolarsenal serve listens.", {
    host: text("The address it listens on; anything but loopback needs tokens or auth.", "127.0.0.1"),
    port: whole("The port it listens on; 0 takes a free one.", 0, 65_535, 8080),
    publicUrl: text("The address clients call it by, where that is another one: https://tools.example.com."),
    allowedHosts: list("Further names by which clients may call it.", text("A host name."), []),
    allowedOrigins: list(
      "Origins of web pages that may call it, besides its own: http://localhost:6274.",
      text("An origin."),
      [],
    ),
    drainTimeoutS: whole(
      "Seconds that running calls may take to finish when the gateway stops; then they are cut off.",
      0,
      86_400,
      8,
    ),
    tokens: { ...texts("Callers by name, each with its bearer token."), default: {} },
    auth: callerProofs(),
  }),
  a2a: object("Other agents, and serving as one.", {
    agents: list(
      "Agents whose skills are used.",
      object(
        "One agent.",
        {
          name: text("The agent's name."),
          url: text("The agent's address."),
          headers: texts("Headers sent to the agent."),
          namespace: text("Namespace of its tools."),
        },
        ["name", "url"],
      ),
      [],
    ),
    serveA2a: flag("Whether the arsenal is served as an agent.", false),
    a2aPort: whole("Port the agent is served on.", 1, 65_535, 8080),
  }),
  builtins: object("The tools that come with the package.", {
    tools: list("Which of them there are.", choice("A tool.", BUILTIN_TOOLS), []),
    webSearch: object("For web-search.", {
      apiKey: text("Where the key of the Tavily API is: a reference, never the key itself.", "env:TAVILY_API_KEY"),
      url: text("Another address of the API."),
    }),
    files: object("For file-read and file-write.", {
      roots: list("Folders that files may be read and written in.", text("A path."), []),
      maxBytes: whole("The most a file may measure, in bytes.", 1, 1_073_741_824, 1_048_576),
    }),
    http: object("For http-get.", {
      allowedDomains: list("Domains it may reach; any public one where absent.", text("A domain.")),
      maxBytes: whole("The most an answer may measure, in bytes.", 1, 1_073_741_824, 1_048_576),
    }),
    code: object("For code-execute.", {
      sandbox: choice(
        "Where code that a model wrote runs. Not in subprocess: code there can end the gateway.",
        ["isolate", "bubblewrap", "docker"],
        "isolate",
      ),
    }),
  }),
  arsenal: object("The short form of the most used settings.", {
    defaultTimeoutSeconds: whole("The same as execution.default_timeout_ms, in seconds.", 1, 300),
    maxConcurrentTools: whole("The same as execution.max_concurrent.", 1, 100_000),
    mcpServers: list("The same as mcp.servers.", mcpServer()),
  }),
  modules: list("Modules that register tools: each default export is called with the arsenal.", text("A path."), []),
  autoSync: flag("Whether retrieve and execute first index what is pending.", true),
  syncOnRegister: flag("Whether register starts indexing at once.", false),
});

function callerProofs(): JsonSchema {
  const capability = choice("A capability.", CAPABILITIES);
  const jwt = object(
    "Callers with access tokens of an OAuth 2 or OpenID Connect issuer.",
    {
      issuer: text("The issuer, as its tokens have it in iss."),
      audience: list(
        "What aud must hold, one of them; the address that was called where absent.",
        text("An audience."),
      ),
      jwksUri: text("Where the issuer's keys are; found through its metadata where absent."),
      algorithms: list(
        "Signatures that are accepted; RS256, PS256, ES256, EdDSA and Ed25519 where absent.",
        choice("An algorithm.", JWT_ALGORITHMS),
      ),
      scopes: list("Scopes that every token needs, all of them.", text("A scope.")),
      capabilities: list("What every caller may touch, beside what its token claims.", capability),
      claims: optional(
        object("In which claims tokens say what of their caller: a name, or a path with dots.", {
          id: text("Who it is; sub where absent."),
          tenant: text("Its tenant; a token without it is then refused. Not read where absent."),
          roles: text("Its roles; roles where absent."),
          capabilities: text("What it may touch; capabilities where absent."),
          scopes: text("Its scopes; scope, or else scp, where absent."),
        }),
      ),
    },
    ["issuer"],
  );
  return optional(
    object("Further ways for callers to prove who they are.", {
      apiKeys: object(
        "Callers with API keys.",
        { file: text("The file that `toolarsenal keys` writes and only its user can read.") },
        ["file"],
      ),
      jwt,
    }),
  );
}

function mcpServer(): JsonSchema {
  return object(
    "One MCP server.",
    {
      name: text("The server's name."),
      type: choice("How it is reached; taken from command or url where absent.", [
        "stdio",
        "http",
        "streamable-http",
        "sse",
        "ws",
        "websocket",
      ]),
      command: {
        description: "The program, or the program and its arguments.",
        anyOf: [
          { type: "string", minLength: 1 },
          { type: "array", items: { type: "string" }, minItems: 1 },
        ],
      },
      args: list("Arguments of the program.", { type: "string" }),
      env: texts("Environment of the program."),
      cwd: text("Folder the program runs in."),
      url: text("The server's address."),
      endpoint: text("The same as url."),
      headers: texts("Headers sent to the server."),
      oauth: optional(
        object("How to get a token where the server asks for one.", {
          clientId: text("Id of a client that is registered already."),
          clientSecret: text("Its secret."),
          issuer: text("The authorization server that id and secret belong to; they are sent to no other."),
          clientMetadataUrl: text("Address of a document that describes this client."),
          scope: text("Scopes to ask for, between spaces."),
          grant: choice("authorization_code asks a person once; client_credentials needs an id and a secret.", [
            "authorization_code",
            "client_credentials",
          ]),
          redirectPort: whole("Port of the redirect address, where the client was registered with one.", 1, 65_535),
          tokenFile: text("File the tokens are kept in; in the user's configuration folder where absent."),
        }),
      ),
      namespace: text("Namespace of its tools."),
      timeoutMs: whole("Time one call may take, in milliseconds; 60000 where absent.", 1, MAX_TIMEOUT_MS),
      connectTimeoutMs: whole(
        "Time that connecting and listing may take, each, in milliseconds; 30000 where absent.",
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
      trustAnnotations: {
        description: "Whether what it says of its tools (that they only read, or may be repeated) is believed.",
        type: "boolean",
      },
      disabled: { description: "Whether it is left out.", type: "boolean" },
    },
    ["name"],
  );
}
