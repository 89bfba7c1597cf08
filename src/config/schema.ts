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
import { anySource, configOf, listed, namesOf, proofs, scanModes, section } from "./adapter-settings.ts";
import { EGRESS, ENV_PASSTHROUGH, MCP_MODE, PROGRAMS, REGISTRIES, SHORT_FORM, TEAMS, TLS } from "./sections.ts";
import { CONFIGURED_TOOLSET } from "../toolset/toolset.ts";

const EMBEDDER = {
  type: choice(
    "Which embedder; sentence_transformers is the one that ships with the package.",
    ["sentence_transformers", ...namesOf("embedders")],
    "sentence_transformers",
  ),
  tier: choice("The best of the shipped rankers that may answer. Defaults to tuned.", ["lexical", "static", "tuned"]),
  cache: schema<string | boolean>({
    description:
      "A folder that keeps the vectors of tools between runs; true for the user's cache folder, false for none. Defaults to true for commands and false for the library.",
    anyOf: [{ type: "string", minLength: 1, format: "path" }, { enum: [false, true] }],
  }),
  model: text("The embedder's model."),
  apiKey: text("Key of the embedder's API."),
  apiBase: text("Address of the embedder's API."),
  batchSize: whole("Texts sent in one request.", 1, 10_000, 100),
  maxRetries: whole("How often a failed request is retried.", 0, 20, 3),
};

const STATE = {
  type: choice("Which store. Defaults to sqlite if a file is set, else to memory.", namesOf("state")),
  url: text("Address of the store."),
};

/** The configuration in camelCase. Adapters declare their own settings. `npm run derive` writes the snake_case version to config.schema.json. */
export const CONFIG_SCHEMA = object("Configuration of ToolArsenal.", {
  vectorStore: section("Where tools are kept and searched.", "engines", {
    type: withSpellings(
      choice("Which engine; pgvector is another spelling of postgres.", namesOf("engines"), "memory"),
      { pgvector: (others) => ({ ...others, type: "postgres" }) },
    ),
    url: text("Address of the store."),
    apiKey: text("Key of the store."),
    collectionName: text("Collection or table the tools are kept in.", "tool_arsenal"),
    dimension: whole("Length of the vectors, if the embedder does not say.", 1, 65_536),
    options: anything("Further options, handed to the store as they are."),
  }),
  embedder: section("What turns text into vectors.", "embedders", {
    ...EMBEDDER,
    replaces: optional(
      section(
        "The embedder used until now. It answers while the new one learns the tools in the background.",
        "embedders",
        EMBEDDER,
      ),
    ),
  }),
  reranker: section("A second, slower ordering of the best candidates.", "rerankers", {
    enabled: flag("Whether it runs.", false),
    type: choice("Which reranker. Defaults to cross_encoder.", namesOf("rerankers")),
    model: text("The reranker's model."),
    apiKey: text("Key of the reranker's API."),
    apiBase: text("Address of the reranker's API."),
    topK: whole("How many of the best candidates are ordered again.", 1, 200, 10),
    timeoutMs: whole(
      "How long a retrieval waits for the reranker, in milliseconds; after that the order is the search's own.",
      10,
      600_000,
      5000,
    ),
  }),
  llm: section(
    "The language model that agents and `toolarsenal chat` talk to. There is none unless type or model is set.",
    "llms",
    {
      type: choice("Which API it is behind. Defaults to openai.", namesOf("llms")),
      model: text("The model's name, as its API has it."),
      apiKey: text(
        "Key of the model's API. Defaults to the provider's usual environment variable, unless api_base is set.",
      ),
      apiBase: text("Address of the model's API. Defaults to the provider's own."),
      maxTokens: whole("The most tokens one answer may have. Defaults to the provider's limit.", 1, 10_000_000),
      temperature: schema<number>({
        description: "The temperature that is sent. Optional: some models accept only their own.",
        type: "number",
        minimum: 0,
        maximum: 2,
      }),
      strict: flag("Whether tools that allow it are offered in the provider's strict mode.", false),
      timeoutMs: whole(
        "How long the model may be silent, in milliseconds: until the whole answer, or the next piece of a streamed one.",
        100,
        3_600_000,
        120_000,
      ),
      maxRetries: whole("How often a failed request is retried.", 0, 20, 2),
      extraBody: anything("More members of the request body, in the API's own words."),
    },
  ),
  routing: object("How tools are ranked.", {
    weights: object("How much each signal counts.", {
      semantic: share("Fit to the words of the request.", 0.6),
      intent: share("Fit to what the request is about.", 0.15),
      conversation: share("Fit to the conversation so far.", 0.1),
      health: share("How reliably the tool has worked.", 0.1),
      cost: share("How cheap and fast the tool is.", 0.05),
    }),
    penalties: object("Subtracted from a tool's score.", {
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
      weight: share("Weight of what was learned, next to the other signals.", 0.08),
    }),
  }),
  execution: object("How tools are run.", {
    defaultTimeoutMs: whole("Time one attempt may take, in milliseconds.", 100, 300_000, 30_000),
    maxRetries: whole("Attempts in total for a call that is safe to retry.", 1, 5, 3),
    retryBaseMs: whole("First wait between attempts, in milliseconds, doubled each time.", 0, 60_000, 200),
    circuitBreakerThreshold: whole("Consecutive failures that open a tool's circuit.", 1, 1000, 5),
    circuitBreakerTimeoutS: whole("Seconds a circuit stays open before one call may probe it.", 1, 86_400, 60),
    maxConcurrent: whole("Calls that run at once, over all tools.", 1, 100_000, 256),
    maxConcurrentPerEnsemble: whole(
      "Calls that run at once in one ensemble. Always fewer than max_concurrent; defaults to 32, or to less than half of max_concurrent.",
      1,
      100_000,
    ),
    retryBudget: share("Retries per minute, as a share of the calls to one ensemble.", 0.2),
    maxResultBytes: whole("Largest result, in bytes.", 1_024, 1_073_741_824, 16_777_216),
    onFailure: choice("What execute does with a result that is not a success.", ["return", "throw"], "return"),
    resultCache: optional(
      object("Keeps the results of confirmed read-only tools and gives them again to equal calls. Off if omitted.", {
        ttlS: whole("Seconds a result is kept.", 1, 86_400, 60),
        maxBytes: whole(
          "Largest size of all results together, in bytes of JSON.",
          1_024,
          1_099_511_627_776,
          67_108_864,
        ),
        maxEntries: whole("The most results kept.", 1, 10_000_000, 10_000),
        tools: list("The tools it is for: names, ids or patterns. Defaults to all.", text("A name, id or pattern.")),
      }),
    ),
    enableSandbox: flag("Whether functions run in a sandbox.", false),
    sandboxType: choice("Which sandbox; it counts if enable_sandbox is true.", namesOf("sandboxes"), "none"),
  }),
  telemetry: section("Where events go, and what is kept of them.", "sinks", {
    enabled: flag(
      "Whether events are written. By default the command line writes them, and the library only when type or level is set.",
    ),
    type: withSpellings(
      choice(
        "Where they go; console by default. prometheus sends them nowhere: it stands for expose_prometheus.",
        namesOf("sinks"),
      ),
      {
        prometheus: ({ enabled, ...others }) =>
          enabled === false ? { enabled, ...others } : { ...others, exposePrometheus: true },
      },
    ),
    exposePrometheus: flag("Whether the gateway also serves /metrics, and nothing else, on prometheus_port.", false),
    prometheusPort: whole("That port; 0 takes a free one.", 0, 65_535, 9090),
    debugProtocol: flag("Whether every message to and from MCP servers is an event, mcp-message.", false),
    history: object("What is kept of retrievals and calls, for toolarsenal why and costs.", {
      enabled: flag("Whether they are kept in the state. Defaults to true if the state outlives the process."),
      max: whole("Retrievals and calls kept, over all processes that share the state.", 10, 1_000_000, 10_000),
      maxAgeDays: whole("Days they are kept.", 1, 3650, 7),
      text: flag("Whether the words of requests and errors are kept, without secrets.", true),
    }),
    prices: entry(
      "Prices, to show money where the gateway counts tokens and costs. Without them it shows tokens and plain numbers.",
      {
        currency: text("The currency of these prices and of the tools' cost.monetaryCost, as ISO 4217 writes it: USD."),
        perMillionInputTokens: schema<number>({
          description: "What your model's provider charges for a million input tokens.",
          type: "number",
          minimum: 0,
          maximum: 1_000_000_000,
        }),
      },
      ["currency"],
    ),
  }),
  egress: EGRESS,
  security: object("What may run, and who must agree.", {
    policy: choice(
      "strict refuses what no rule allows; standard allows what no rule refuses.",
      ["standard", "strict"],
      "standard",
    ),
    policyFile: path("A document of rules, or Cedar policies (.cedar), that stands in for the lists below."),
    sealKey: text("Seals people's tokens in the shared state. Defaults to a key that is kept there too."),
    requireConfirmation: list(
      "Tools whose calls a person must approve: names, ids or patterns.",
      text("A name, id or pattern."),
      ["delete_*", "payment_*", "drop_*", "refund_*"],
    ),
    humanInTheLoop: list("Further tools whose calls a person must approve.", text("A name, id or pattern."), []),
    allow: list("Tools that may run under the strict policy.", text("A name, id or pattern."), []),
    deny: list("Tools that no caller may see or run.", text("A name, id or pattern."), []),
    allowedDomains: list("Domains that tools may reach.", text("A domain."), []),
    maxRequestsPerMinute: whole("Calls a minute for each tool. Defaults to 1200 per remote caller.", 1, 1_000_000),
    rates: object("Calls per minute across all tools, in addition to the limits per tool, and searches.", {
      tenant: whole("For each tenant.", 1, 1_000_000),
      principal: whole("For each caller.", 1, 1_000_000),
      toolset: whole("For each toolset.", 1, 1_000_000),
      searches: whole("Searches for tools a minute, for each remote caller.", 1, 1_000_000, 1_200),
    }),
    pins: choice(
      "changes refuses a tool that changed until it is accepted; all hides every tool, and starts no configured command, until it is. Defaults to all under the strict policy, otherwise to changes.",
      ["off", "changes", "all"],
    ),
    scan: object("How text is scanned that may hide something or instruct the model.", {
      definitions: choice("In the definitions that sources provide.", ["off", "flag", "neutralise", "block"], "flag"),
      arguments: choice("In arguments.", ["off", "flag", "block"], "off"),
      results: choice("In results.", ["off", "flag", "neutralise", "wrap", "block"], "off"),
      ...scanModes(),
      severity: choice("The least severity that is blocked.", ["low", "medium", "high", "critical"], "high"),
      onFailure: choice(
        "What happens to a text that could not be scanned. Defaults to deny under the strict policy, otherwise to allow.",
        ["allow", "deny"],
      ),
    }),
    certificatePins: texts(
      "Hosts by name, each with sha256/ and the base64 hash of the public key its certificate must have.",
      {},
    ),
    approvalWebhook: entry(
      "Where each call that waits for a person is reported.",
      { url: text("The address."), secret: text("Signs what is sent: at least 32 characters.") },
      ["url"],
    ),
    confirmationTimeoutS: whole("Seconds a confirmation is kept.", 1, 604_800, 600),
    selfApproval: choice(
      "Whether the person at this machine may approve their own calls. Defaults to never in the library; on the command line to local, or to never if callers must prove who they are.",
      ["never", "local"],
    ),
  }),
  state: section("Where pins, approvals, idempotency keys and limits are kept.", "state", {
    ...STATE,
    limits: optional(
      section(
        "Another store for rates, breakers, places, changes and leases. Defaults to the same one.",
        "state",
        STATE,
      ),
    ),
  }),
  audit: section("The record of every call.", "audit", {
    type: choice(
      "Where it is kept. Defaults to file if a file is set; otherwise nothing is recorded.",
      namesOf("audit"),
    ),
    arguments: choice("Whether arguments are kept as a hash and types, or as they are.", ["shape", "full"], "shape"),
    onFailure: choice("Whether changing calls run while the log fails.", ["refuse", "allow"], "refuse"),
  }),
  sources: list(
    "Where tools come from. The sections mcp.servers, openapi, a2a.agents, scripts, builtins and ensembles are other spellings.",
    anySource(),
    [],
  ),
  mcp: object("MCP servers, and serving as one.", {
    servers: list("Servers whose tools are used.", listed("mcp"), []),
    serveMcp: flag("Accepted for compatibility; `toolarsenal serve` always serves MCP.", false),
    mcpMode: MCP_MODE,
    commonTools: list(
      "Tools that hybrid mode lists besides the two of dynamic mode. Defaults to the most used ones.",
      text("A tool's id, or a pattern."),
      [],
    ),
    clientQuirks: flag("Fits lists of tools to the limits of known clients, by their names.", true),
    envPassthrough: ENV_PASSTHROUGH,
    startupWaitMs: whole("How long a request waits for servers on their first connection.", 0, 600_000, 10_000),
    taskAfterMs: whole("Milliseconds after which a call of a client with tasks becomes one.", 0, 600_000, 5_000),
    taskTtlS: whole("How long a task is kept, from its creation, in seconds.", 60, 604_800, 3_600),
  }),
  programs: PROGRAMS,
  toolsets: list("Curated views over the tools, each with an access policy.", CONFIGURED_TOOLSET, []),
  ensembles: list(
    "TOML descriptors of ensembles: files, folders, or patterns with * in the last part.",
    path("A file, folder or pattern."),
    [],
  ),
  openapi: list("OpenAPI documents whose operations are used as tools.", listed("openapi"), []),
  server: object("How toolarsenal serve listens.", {
    host: text("The address it listens on; anything but loopback needs tokens or auth.", "127.0.0.1"),
    port: whole("The port it listens on; 0 takes a free one.", 0, 65_535, 8080),
    publicUrl: text("The URL that clients use: https://example.com, https://example.com/tools. Defaults to its own."),
    allowedHosts: list("Further names by which clients may call it.", text("A host name."), []),
    allowedOrigins: list(
      "Origins of web pages that may call it, besides its own: http://localhost:6274.",
      text("An origin."),
      [],
    ),
    tls: TLS,
    drainTimeoutS: whole(
      "Seconds that running calls may take to finish when the gateway stops; then they are cut off.",
      0,
      86_400,
      8,
    ),
    shutdownDelayS: whole(
      "Seconds in which the gateway still takes requests after it was asked to stop, while /readyz answers 503, so that load balancers send no more.",
      0,
      600,
      0,
    ),
    operatorRole: text("The role that a caller needs to operate the gateway over REST.", "operator"),
    allowCommands: flag(
      "Whether remote operators may add servers that run commands here, read files, or are in a private network.",
      false,
    ),
    metrics: choice(
      "Who may read /metrics: callers with the role operator or metrics, or everybody who can connect.",
      ["operator", "open"],
      "operator",
    ),
    tokens: texts(
      "Callers by name, each with its bearer token. If empty, everyone who can connect is the local operator.",
      {},
    ),
    auth: optional(object("More ways to authenticate callers; one is enough.", proofs())),
  }),
  teams: TEAMS,
  a2a: object("Other agents, and serving as one.", {
    agents: list("Agents whose skills are used.", listed("a2a"), []),
    serveA2a: flag("Whether the agent is also served on a port of its own, a2a_port.", false),
    a2aPort: whole("The agent's own port. Used if serve_a2a is true.", 1, 65_535, 8080),
    name: text("The agent's name on its card.", "ToolArsenal"),
    description: text("What the card says of the agent. The number of tools is added."),
    provider: entry("Who runs the agent.", { organization: text("Its name."), url: text("Its website.") }, [
      "organization",
      "url",
    ]),
    expose: list("Toolsets that other agents can address, by name. Defaults to all.", text("A toolset.")),
    taskTtlS: whole("Seconds that a task is kept after its last change.", 60, 31_536_000, 86_400),
    messagesPerMinute: whole(
      "The most messages that one caller can send in a minute. The local operator is not limited.",
      1,
      1_000_000,
      600,
    ),
    pushOrigins: list(
      "Origins to which push notifications may be sent although they are private, such as http://10.0.0.7:9000.",
      text("An origin."),
      [],
    ),
    signingKey: text(
      "The private key that signs the agent card, as PEM or JWK: a reference to a secret, such as file:card-key.pem.",
    ),
  }),
  scripts: list("Source files whose functions are tools.", listed("scripts"), []),
  builtins: configOf("sources", "builtin"),
  arsenal: SHORT_FORM,
  registries: REGISTRIES,
  modules: list("Modules that register tools: each default export is called with the arsenal.", text("A path."), []),
  autoSync: flag("Whether retrieve and execute first index what is pending.", true),
  syncOnRegister: flag("Whether register starts indexing at once.", false),
});
