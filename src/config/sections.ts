import { listed, scanModes } from "./adapter-settings.ts";
import {
  choice,
  entry,
  flag,
  type InputOf,
  list,
  object,
  optional,
  path,
  text,
  texts,
  whole,
} from "../tool/shape/shape.ts";

export const A2A = object("A2A agents whose skills are used, and the gateway's own A2A agent.", {
  agents: list("Agents whose skills are used.", listed("a2a"), []),
  serveA2a: flag("Whether the agent is also served on a separate port, a2a_port.", false),
  a2aPort: whole("The agent's separate port. Used only if serve_a2a is true.", 1, 65_535, 8080),
  name: text("The agent's name on its card.", "ToolArsenal"),
  description: text("Description of the agent on its card. The number of tools is appended."),
  provider: entry(
    "The organization that runs the agent.",
    { organization: text("Name of the organization."), url: text("URL of its website.") },
    ["organization", "url"],
  ),
  expose: list("Names of the toolsets that other agents can use. Defaults to all.", text("A toolset.")),
  taskTtlS: whole("How long a task is kept after its last change, in seconds.", 60, 31_536_000, 86_400),
  messagesPerMinute: whole(
    "Maximum messages per minute from one caller. The local operator is not limited.",
    1,
    1_000_000,
    600,
  ),
  pushOrigins: list(
    "Private origins that may receive push notifications, such as http://10.0.0.7:9000. Other private addresses are refused.",
    text("An origin."),
    [],
  ),
  signingKey: text(
    "Private key that signs the agent card, as PEM or JWK. Write a secret reference, such as file:card-key.pem.",
  ),
});

export const EGRESS = object("How requests leave this machine.", {
  proxy: text(
    "URL of the forward proxy: http://host:port. none: use no proxy. Defaults to the environment variables HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.",
  ),
  noProxy: optional(
    list(
      "Hosts that are reached without the proxy: a domain (with its subdomains), an IP address, a network such as 10.0.0.0/8, or * for all. Defaults to the environment variable NO_PROXY. This machine is always reached without the proxy.",
      text("A host."),
      [],
    ),
  ),
  caFile: path(
    "A PEM file with certificate authorities to trust, in addition to those of Node and NODE_EXTRA_CA_CERTS.",
  ),
});

export const ENV_PASSTHROUGH = optional(
  list(
    "Environment variables of the gateway that are passed to the programs of MCP servers: a name, or a prefix followed by *. A pattern never passes secrets. Defaults to the variables for files, language, proxies and certificates: see docs/reference/adapters/sources/mcp.md.",
    text("A name, or a pattern such as npm_config_*."),
    [],
  ),
);

export const MCP_MODE = choice(
  "Which tools an MCP client sees. dynamic: two meta-tools, to search and to call; static: all tools; hybrid: the two meta-tools and common_tools; code: search, describe, and run, which runs a program that calls tools.",
  ["dynamic", "static", "hybrid", "code"],
  "dynamic",
);

const MIB = 1024 * 1024;

export const PROGRAMS = object("How the programs of code mode run. A program that exceeds a limit is ended.", {
  sandbox: choice(
    "Where programs run. quickjs: interpreted, in threads of the gateway. node, deno: compiled, each program in its own process in bubblewrap, on Linux only.",
    ["quickjs", "node", "deno"],
    "quickjs",
  ),
  denoPath: path("Path of the deno executable. Defaults to deno in PATH."),
  cpuMs: whole("Maximum CPU time of a program, in milliseconds.", 10, 600_000, 5_000),
  timeoutS: whole(
    "Maximum duration of a program, in seconds, including the time it waits for its calls.",
    1,
    3_600,
    300,
  ),
  memoryBytes: whole("Maximum memory of a program, in bytes.", MIB, 1024 * MIB, 64 * MIB),
  calls: whole("Maximum number of tool calls of a program.", 1, 100_000, 1_000),
  parallelCalls: whole("Maximum number of concurrent calls of a program. More calls wait.", 1, 256, 8),
  depth: whole("Maximum nesting depth of programs and workflows that call each other.", 1, 32, 5),
  valueBytes: whole(
    "Maximum size of a program's return value, in bytes of JSON. A larger value is cut.",
    256,
    64 * MIB,
    64 * 1024,
  ),
  logBytes: whole("Maximum size of a program's printed output, in bytes. The rest is dropped.", 0, 4 * MIB, 16 * 1024),
});

export const SECURITY = object("Which tools may run, and which calls a person must approve.", {
  policy: choice(
    "The decision if no rule applies to a call. strict: refuse the call; standard: allow it.",
    ["standard", "strict"],
    "standard",
  ),
  policyFile: path(
    "File with policy rules, or with Cedar policies (.cedar). Replaces require_confirmation, human_in_the_loop, allow and deny.",
  ),
  sealKey: text(
    "Key that encrypts users' tokens in the shared state. Defaults to a generated key that is stored in the same state.",
  ),
  requireConfirmation: list(
    "Tools whose calls a person must approve: names, ids or patterns.",
    text("A name, id or pattern."),
    ["delete_*", "payment_*", "drop_*", "refund_*"],
  ),
  humanInTheLoop: list(
    "More tools whose calls a person must approve, in addition to require_confirmation.",
    text("A name, id or pattern."),
    [],
  ),
  allow: list("Tools that may run under the strict policy.", text("A name, id or pattern."), []),
  deny: list("Tools that no caller may see or run.", text("A name, id or pattern."), []),
  allowedDomains: list(
    "Domains that tools may reach. If empty, tools may reach every public domain.",
    text("A domain."),
    [],
  ),
  maxRequestsPerMinute: whole(
    "Maximum calls per minute to each tool. Defaults to 1200 per tool and remote caller.",
    1,
    1_000_000,
  ),
  rates: object(
    "Maximum calls per minute across all tools, in addition to the limit of each tool, and maximum searches per minute.",
    {
      tenant: whole("Maximum calls per minute of each tenant.", 1, 1_000_000),
      principal: whole("Maximum calls per minute of each caller.", 1, 1_000_000),
      toolset: whole("Maximum calls per minute through each toolset.", 1, 1_000_000),
      searches: whole("Maximum searches for tools per minute of each remote caller.", 1, 1_000_000, 1_200),
    },
  ),
  pins: choice(
    "Which tools need acceptance. changes: a tool whose definition changed is refused until you accept it; all: a new or changed tool is hidden, and a new or changed command is not started, until you accept it. Defaults to all under the strict policy, otherwise to changes.",
    ["off", "changes", "all"],
  ),
  scan: object("How text is scanned for hidden content and for instructions to the model (prompt injection).", {
    definitions: choice(
      "What to do with findings in tool definitions from sources.",
      ["off", "flag", "neutralise", "block"],
      "flag",
    ),
    arguments: choice("What to do with findings in arguments.", ["off", "flag", "block"], "off"),
    results: choice("What to do with findings in results.", ["off", "flag", "neutralise", "wrap", "block"], "off"),
    ...scanModes(),
    severity: choice(
      "Lowest severity of findings that are neutralised or blocked.",
      ["low", "medium", "high", "critical"],
      "high",
    ),
    onFailure: choice(
      "Whether a text that cannot be scanned is allowed or denied. Defaults to deny under the strict policy, otherwise to allow.",
      ["allow", "deny"],
    ),
  }),
  certificatePins: texts(
    "Certificate pins by host name: sha256/ followed by the base64 hash of the public key that the host's certificate must have.",
    {},
  ),
  approvalWebhook: entry(
    "Webhook that receives an event for each call that waits for approval.",
    { url: text("URL of the webhook."), secret: text("Secret that signs the events, at least 32 characters.") },
    ["url"],
  ),
  confirmationTimeoutS: whole(
    "How long a call waits for approval, in seconds. After that, the approval request expires.",
    1,
    604_800,
    600,
  ),
  selfApproval: choice(
    "Whether the person at this machine may approve their own calls. Defaults to never in the library. On the command line, defaults to local, or to never if callers must authenticate.",
    ["never", "local"],
  ),
});

export const TEAMS = object("Tenants, members, keys and quotas in the shared state, changed while the gateway runs.", {
  enabled: flag(
    "Whether tenants, members, keys and quotas apply. Defaults to true if server.auth.api_keys.state is true.",
  ),
  alertWebhook: entry(
    "Webhook that receives an event when a tenant reaches a quota limit or a configured share of its budget.",
    { url: text("URL of the webhook."), secret: text("Secret that signs the events, at least 32 characters.") },
    ["url"],
  ),
});

export const SHORT_FORM = object("Short names for the most used settings.", {
  defaultTimeoutSeconds: whole("The same as execution.default_timeout_ms, in seconds.", 1, 300),
  maxConcurrentTools: whole("The same as execution.max_concurrent.", 1, 100_000),
  mcpServers: list("The same as mcp.servers.", listed("mcp")),
});

const REGISTRY = entry(
  "One registry: set url, file or folder.",
  {
    name: text("Name of the registry, for --registry and in messages."),
    url: text("URL of a registry with the MCP registry's API, without /v0.1."),
    file: path("A JSON file with server.json documents: an answer of the API, a list, or a single document."),
    folder: path("A folder with one server.json document in each .json file."),
    token: text("A bearer token for the registry: a secret reference such as env:REGISTRY_TOKEN."),
    timeoutMs: whole("Timeout of one request to the registry, in milliseconds. Defaults to 15000.", 100, 600_000),
    allowPrivate: flag(
      "Whether the registry's servers may use private addresses and http. Set it for a company's internal registry. Defaults to false.",
    ),
    packageHosts: list(
      "Hosts of more package registries that may provide its servers, in addition to the public package registry of each kind.",
      text("A host name."),
    ),
  },
  ["name"],
);

export type RegistrySettings = InputOf<typeof REGISTRY>;

export const REGISTRIES = list(
  "Registries in which `toolarsenal add` and the dashboard look for MCP servers. Defaults to the official MCP registry; an empty list turns the search off. A registry is contacted only when you search, add or update.",
  REGISTRY,
);

export const TLS = entry(
  "Certificate for serving over https (TLS 1.2 or newer). If the files change, new connections use the new certificate.",
  {
    cert: path("PEM file with the certificate, followed by the intermediate certificates."),
    key: path("PEM file with the certificate's private key, without a passphrase."),
    ca: path("PEM file with the intermediate certificates, if cert does not contain them."),
  },
  ["cert", "key"],
);
