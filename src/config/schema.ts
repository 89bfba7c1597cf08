import {
  anything,
  choice,
  entry,
  flag,
  list,
  object,
  optional,
  path,
  schema,
  share,
  text,
  texts,
  whole,
  withSpellings,
} from "../tool/shape/shape.ts";
import { anySource, configOf, listed, namesOf, proofs, section } from "./adapter-settings.ts";
import {
  A2A,
  EGRESS,
  ENV_PASSTHROUGH,
  MCP_MODE,
  PROGRAMS,
  REGISTRIES,
  SECURITY,
  SHORT_FORM,
  TEAMS,
  TLS,
} from "./sections.ts";
import { CONFIGURED_TOOLSET } from "../toolset/toolset.ts";

const EMBEDDER = {
  type: choice(
    "The embedder. sentence_transformers is the model that ships with the package.",
    ["sentence_transformers", ...namesOf("embedders")],
    "sentence_transformers",
  ),
  tier: choice(
    "The best shipped ranker to use. lexical: words only; static and tuned: also a model for meaning. Defaults to the environment variable TOOLARSENAL_TIER, otherwise to tuned.",
    ["lexical", "static", "tuned"],
  ),
  cache: schema<string | boolean>({
    description:
      "Folder that caches the vectors of tools between runs. true: the user's cache folder; false: no cache. Defaults to true on the command line and to false in the library.",
    anyOf: [{ type: "string", minLength: 1, format: "path" }, { enum: [false, true] }],
  }),
  model: text("Name of the embedding model."),
  apiKey: text("API key of the embedder."),
  apiBase: text("Base URL of the embedder's API."),
  batchSize: whole("Maximum number of texts in one request.", 1, 10_000, 100),
  maxRetries: whole("Maximum number of retries of a failed request.", 0, 20, 3),
};

const STATE = {
  type: choice("The kind of store. Defaults to sqlite if file is set, otherwise to memory.", namesOf("state")),
  url: text("URL of the store."),
};

/** The configuration in camelCase. Adapters declare their own settings. `npm run derive` writes the snake_case version to config.schema.json. */
export const CONFIG_SCHEMA = object("Configuration of ToolArsenal.", {
  vectorStore: section("The store that keeps and searches the tools.", "engines", {
    type: withSpellings(choice("The kind of store. pgvector is an alias of postgres.", namesOf("engines"), "memory"), {
      pgvector: (others) => ({ ...others, type: "postgres" }),
    }),
    url: text("URL of the store."),
    apiKey: text("API key of the store."),
    collectionName: text("Name of the collection or table for the tools.", "tool_arsenal"),
    dimension: whole(
      "Number of dimensions of the vectors. Needed only for embedding models that ToolArsenal does not know.",
      1,
      65_536,
    ),
    options: anything("More options, passed to the store unchanged."),
  }),
  embedder: section("The embedding model, which turns text into vectors.", "embedders", {
    ...EMBEDDER,
    replaces: optional(
      section(
        "The previous embedder. It answers searches until the new embedder has embedded all tools in the background.",
        "embedders",
        EMBEDDER,
      ),
    ),
  }),
  reranker: section("A second, slower model that reorders the best candidates of a search.", "rerankers", {
    enabled: flag("Whether searches use the reranker.", false),
    type: choice("The kind of reranker. Defaults to cross_encoder.", namesOf("rerankers")),
    model: text("Name of the reranker's model."),
    apiKey: text("API key of the reranker."),
    apiBase: text("Base URL of the reranker's API."),
    topK: whole("How many of the best candidates are reranked.", 1, 200, 10),
    timeoutMs: whole(
      "How long a search waits for the reranker, in milliseconds. After that, the search keeps its own order.",
      10,
      600_000,
      5000,
    ),
  }),
  llm: section(
    "The language model for agents and `toolarsenal chat`. Not configured unless type or model is set.",
    "llms",
    {
      type: choice("The API that serves the model. Defaults to openai.", namesOf("llms")),
      model: text("The model's name in its API."),
      apiKey: text("API key. Defaults to the provider's usual environment variable, unless api_base is set."),
      apiBase: text("Base URL of the model's API. Defaults to the provider's URL."),
      maxTokens: whole("Maximum number of tokens in one answer. Defaults to the provider's limit.", 1, 10_000_000),
      temperature: schema<number>({
        description: "Sampling temperature. Not sent if omitted, because some models accept only their default.",
        type: "number",
        minimum: 0,
        maximum: 2,
      }),
      strict: flag("Whether tools whose schema allows it are sent in the provider's strict mode.", false),
      timeoutMs: whole(
        "How long to wait for the whole answer, or for the next chunk of a streamed answer, in milliseconds.",
        100,
        3_600_000,
        120_000,
      ),
      maxRetries: whole("Maximum number of retries of a failed request.", 0, 20, 2),
      extraBody: anything("More fields of the request body, named as in the provider's API."),
    },
  ),
  routing: object("How tools are ranked.", {
    weights: object("Weight of each signal in a tool's score.", {
      semantic: share("How well the tool matches the text of the request.", 0.6),
      intent: share("How well the tool's tags match the intent of the request.", 0.15),
      conversation: share("How well the tool matches the conversation so far.", 0.1),
      health: share("How reliably the tool has worked.", 0.1),
      cost: share("How cheap and fast the tool is.", 0.05),
    }),
    penalties: object("Amounts subtracted from a tool's score.", {
      alreadyUsed: share("If the tool was already used in this conversation.", 0.05),
      alreadyFailed: share("If the tool already failed in this conversation.", 0.3),
      deprecated: share("If the tool is deprecated.", 0.2),
    }),
    enableIntentClassification: flag("Whether requests are classified by intent.", true),
    useLlmForIntent: flag(
      "Whether a classifier that you inject determines the intent. If it fails, keywords determine it.",
      false,
    ),
    enableMmr: flag(
      "Whether near-duplicates of a better tool are ranked lower (MMR, maximal marginal relevance).",
      true,
    ),
    mmrLambda: share("Balance of MMR. 1: rank by score only; 0: rank as diversely as possible.", 0.7),
    scoreThreshold: share(
      "Minimum semantic score of a tool. The default value always keeps the best three tools; another value may leave none.",
      0.5,
    ),
    refuse: choice(
      "When a search returns no tools. never: it always returns the nearest tools; confident: if it is confident that no tool fits; eager: as soon as it is likely that no tool fits.",
      ["never", "confident", "eager"],
      "confident",
    ),
    learning: object("Learning from past calls, separately for each tenant.", {
      enabled: flag("Whether the calls that follow a search change later rankings.", false),
      halfLifeDays: whole("Half-life of learned evidence, in days.", 1, 3650, 14),
      weight: share("Weight of learned evidence. It is added to the other weights.", 0.08),
    }),
  }),
  execution: object("How tools are run.", {
    defaultTimeoutMs: whole(
      "Timeout of one attempt, in milliseconds, if the call and the tool set none.",
      100,
      300_000,
      30_000,
    ),
    maxRetries: whole("Maximum number of attempts for a call that is safe to retry, including the first.", 1, 5, 3),
    retryBaseMs: whole("Delay before the first retry, in milliseconds. It doubles with each retry.", 0, 60_000, 200),
    circuitBreakerThreshold: whole("Number of consecutive failures that open a tool's circuit breaker.", 1, 1000, 5),
    circuitBreakerTimeoutS: whole(
      "How long a circuit breaker stays open before one call may probe the tool, in seconds.",
      1,
      86_400,
      60,
    ),
    maxConcurrent: whole("Maximum number of concurrent calls, across all tools.", 1, 100_000, 256),
    maxConcurrentPerEnsemble: whole(
      "Maximum number of concurrent calls to the tools of one ensemble, such as an MCP server. Always less than max_concurrent. Defaults to 32, or to less than half of max_concurrent if that is smaller.",
      1,
      100_000,
    ),
    retryBudget: share("Maximum number of retries per minute, as a share of the calls to one ensemble.", 0.2),
    maxResultBytes: whole("Maximum size of a result, in bytes.", 1_024, 1_073_741_824, 16_777_216),
    onFailure: choice(
      "Whether execute returns or throws a result that is not a success.",
      ["return", "throw"],
      "return",
    ),
    resultCache: optional(
      object(
        "Caches the results of tools that are confirmed to be read-only, and returns them for equal calls. Off if omitted.",
        {
          ttlS: whole("How long a result is cached, in seconds.", 1, 86_400, 60),
          maxBytes: whole(
            "Maximum total size of the cached results, in bytes of JSON.",
            1_024,
            1_099_511_627_776,
            67_108_864,
          ),
          maxEntries: whole("Maximum number of cached results.", 1, 10_000_000, 10_000),
          tools: list(
            "Tools whose results are cached: names, ids or patterns. Defaults to all.",
            text("A name, id or pattern."),
          ),
        },
      ),
    ),
    enableSandbox: flag("Whether functions run in a sandbox.", false),
    sandboxType: choice("The kind of sandbox. Used only if enable_sandbox is true.", namesOf("sandboxes"), "none"),
  }),
  telemetry: section("Where events are sent, and which data about searches and calls is stored.", "sinks", {
    enabled: flag(
      "Whether events are written. Defaults to true on the command line. In the library, defaults to true if type or level is set.",
    ),
    type: withSpellings(
      choice(
        "Where events are sent. Defaults to console. prometheus sends no events; it has the same effect as expose_prometheus: true.",
        namesOf("sinks"),
      ),
      {
        prometheus: ({ enabled, ...others }) =>
          enabled === false ? { enabled, ...others } : { ...others, exposePrometheus: true },
      },
    ),
    exposePrometheus: flag(
      "Whether the gateway also serves /metrics on a separate port, prometheus_port, which serves nothing else.",
      false,
    ),
    prometheusPort: whole("The port for expose_prometheus. 0 selects a free port.", 0, 65_535, 9090),
    debugProtocol: flag(
      "Whether every message to and from MCP servers is written as an event named mcp-message.",
      false,
    ),
    history: object("Stored searches and calls, for `toolarsenal why` and `toolarsenal costs`.", {
      enabled: flag(
        "Whether searches and calls are stored in the state. Defaults to true if the state outlives the process.",
      ),
      max: whole(
        "Maximum number of stored searches and calls, across all processes that share the state.",
        10,
        1_000_000,
        10_000,
      ),
      maxAgeDays: whole("How long searches and calls are stored, in days.", 1, 3650, 7),
      text: flag("Whether the text of requests and errors is stored. Secrets are always removed.", true),
    }),
    prices: entry(
      "Prices, so that the gateway can show costs in money. Without prices it shows tokens and plain numbers.",
      {
        currency: text("ISO 4217 code of the currency of these prices and of the tools' cost.monetaryCost: USD."),
        perMillionInputTokens: schema<number>({
          description: "Price that your model's provider charges for one million input tokens.",
          type: "number",
          minimum: 0,
          maximum: 1_000_000_000,
        }),
      },
      ["currency"],
    ),
  }),
  egress: EGRESS,
  security: SECURITY,
  state: section("The store for pins, approvals, idempotency keys and limits.", "state", {
    ...STATE,
    limits: optional(
      section(
        "A separate store for rate limits, circuit breakers, concurrency limits, change notices and leases. Defaults to the state's store.",
        "state",
        STATE,
      ),
    ),
  }),
  audit: section("The audit log, which records every call.", "audit", {
    type: choice(
      "The kind of audit log. Defaults to file if file is set. Otherwise nothing is recorded.",
      namesOf("audit"),
    ),
    arguments: choice(
      "How arguments are recorded. shape: as a hash and their types; full: with their values.",
      ["shape", "full"],
      "shape",
    ),
    onFailure: choice(
      "Whether calls that may change data are refused or allowed while the audit log cannot be written.",
      ["refuse", "allow"],
      "refuse",
    ),
  }),
  sources: list(
    "The sources of tools. You can also write them in the sections mcp.servers, openapi, a2a.agents, scripts, builtins and ensembles.",
    anySource(),
    [],
  ),
  mcp: object("MCP servers whose tools are used, and the gateway's own MCP server.", {
    servers: list("Servers whose tools are used.", listed("mcp"), []),
    serveMcp: flag("Has no effect, because `toolarsenal serve` always serves MCP. Accepted for compatibility.", false),
    mcpMode: MCP_MODE,
    commonTools: list(
      "Tools that hybrid mode lists in addition to the two meta-tools of dynamic mode. Defaults to the most used tools.",
      text("A tool's id, or a pattern."),
      [],
    ),
    clientQuirks: flag(
      "Whether lists of tools are adapted to the limits of known clients. Clients are recognised by name.",
      true,
    ),
    envPassthrough: ENV_PASSTHROUGH,
    startupWaitMs: whole(
      "How long a request waits for servers that are connecting for the first time, in milliseconds.",
      0,
      600_000,
      10_000,
    ),
    taskAfterMs: whole(
      "Time after which a running call becomes an MCP task, in milliseconds. Only for clients that support tasks.",
      0,
      600_000,
      5_000,
    ),
    taskTtlS: whole("How long an MCP task is kept after its creation, in seconds.", 60, 604_800, 3_600),
  }),
  programs: PROGRAMS,
  toolsets: list("Curated views over the tools, each with an access policy.", CONFIGURED_TOOLSET, []),
  ensembles: list(
    "TOML descriptors of ensembles: files, folders, or patterns with * in the last part.",
    path("A file, folder or pattern."),
    [],
  ),
  openapi: list("OpenAPI documents whose operations are used as tools.", listed("openapi"), []),
  server: object("The HTTP server of `toolarsenal serve`.", {
    host: text("Address to listen on. Any address other than loopback needs tokens or auth.", "127.0.0.1"),
    port: whole("Port to listen on. 0 selects a free port.", 0, 65_535, 8080),
    publicUrl: text(
      "URL that clients use to reach the gateway: https://example.com or https://example.com/tools. Defaults to the address it listens on.",
    ),
    allowedHosts: list("More host names that clients may use to reach the gateway.", text("A host name."), []),
    allowedOrigins: list(
      "Origins of web pages that may call the gateway, in addition to its own: http://localhost:6274.",
      text("An origin."),
      [],
    ),
    tls: TLS,
    drainTimeoutS: whole(
      "How long running calls may continue when the gateway stops, in seconds. Then they are aborted.",
      0,
      86_400,
      8,
    ),
    shutdownDelayS: whole(
      "How long the gateway still accepts requests after it was asked to stop, in seconds. Meanwhile /readyz answers 503, so load balancers stop sending requests.",
      0,
      600,
      0,
    ),
    operatorRole: text("Role that a caller needs for the operator's operations of the REST API.", "operator"),
    allowCommands: flag(
      "Whether remote operators may add sources that run commands on this machine, read its files, or are in a private network.",
      false,
    ),
    metrics: choice(
      "Who may read /metrics. operator: callers with the role operator or metrics; open: everyone who can connect.",
      ["operator", "open"],
      "operator",
    ),
    tokens: texts(
      "Bearer tokens of callers, by the caller's name. If tokens and auth are both empty, everyone who can connect is treated as the local operator.",
      {},
    ),
    auth: optional(object("More ways to authenticate callers. A caller needs only one of them.", proofs())),
  }),
  teams: TEAMS,
  a2a: A2A,
  scripts: list("Source files whose functions are tools.", listed("scripts"), []),
  builtins: configOf("sources", "builtin"),
  arsenal: SHORT_FORM,
  registries: REGISTRIES,
  modules: list("Modules that register tools: each default export is called with the arsenal.", text("A path."), []),
  autoSync: flag("Whether retrieve and execute first index tools that were registered or changed.", true),
  syncOnRegister: flag("Whether register starts indexing immediately.", false),
});
