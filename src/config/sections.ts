import { listed } from "./adapter-settings.ts";
import { choice, entry, flag, type InputOf, list, object, optional, path, text, whole } from "../tool/shape/shape.ts";

export const EGRESS = object("How requests leave this machine.", {
  proxy: text(
    "The forward proxy, http://host:port; none for no proxy. Defaults to the variables HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.",
  ),
  noProxy: optional(
    list(
      "Hosts that are reached without the proxy: a domain (with its subdomains), an address, a network such as 10.0.0.0/8, or *. Defaults to the variable NO_PROXY. This machine always is.",
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
    "Variables of the gateway that programs get, by name or with * at the end (which passes no secrets). Defaults to what programs need for files, language, proxies and certificates: see docs/reference/adapters/sources/mcp.md.",
    text("A name, or a pattern such as npm_config_*."),
    [],
  ),
);

export const MCP_MODE = choice(
  "Which tools an MCP client is shown. code: search, describe, and run, which runs a program that calls tools.",
  ["dynamic", "static", "hybrid", "code"],
  "dynamic",
);

const MIB = 1024 * 1024;

export const PROGRAMS = object("How the programs of code mode run. A program that exceeds a bound is ended.", {
  sandbox: choice(
    "Where programs run. quickjs: interpreted, on threads of the gateway. node, deno: compiled, each in a process of its own in bubblewrap, on Linux.",
    ["quickjs", "node", "deno"],
    "quickjs",
  ),
  denoPath: path("The deno program. Defaults to deno in PATH."),
  cpuMs: whole("Milliseconds of processor time.", 10, 600_000, 5_000),
  timeoutS: whole("Seconds from start to end, with the time in which it waits for its calls.", 1, 3_600, 300),
  memoryBytes: whole("Bytes of memory.", MIB, 1024 * MIB, 64 * MIB),
  calls: whole("The most calls of tools.", 1, 100_000, 1_000),
  parallelCalls: whole("The most calls at the same time. Further calls wait.", 1, 256, 8),
  depth: whole("The most programs and workflows that call each other, one inside the other.", 1, 32, 5),
  valueBytes: whole("The most bytes of its value, as JSON. A larger value is cut.", 256, 64 * MIB, 64 * 1024),
  logBytes: whole("The most bytes that it prints. The rest is dropped.", 0, 4 * MIB, 16 * 1024),
});

export const TEAMS = object("Tenants, members, keys and quotas in the shared state, changed while the gateway runs.", {
  enabled: flag("Whether they apply. Defaults to true if server.auth.api_keys.state is true."),
  alertWebhook: entry(
    "Where it is reported that a tenant reached a limit of a quota, or a share of its budget.",
    { url: text("The address."), secret: text("Signs what is sent: at least 32 characters.") },
    ["url"],
  ),
});

export const SHORT_FORM = object("The short form of the most used settings.", {
  defaultTimeoutSeconds: whole("The same as execution.default_timeout_ms, in seconds.", 1, 300),
  maxConcurrentTools: whole("The same as execution.max_concurrent.", 1, 100_000),
  mcpServers: list("The same as mcp.servers.", listed("mcp")),
});

const REGISTRY = entry(
  "One registry: an address, a file or a folder.",
  {
    name: text("Its name, for --registry and messages."),
    url: text("Address of a registry with the MCP registry's API, without /v0.1."),
    file: path("A JSON file with server.json documents: an answer of the API, a list, or a single document."),
    folder: path("A folder with one server.json document in each .json file."),
    token: text("A bearer token for the registry: a secret reference such as env:REGISTRY_TOKEN."),
    timeoutMs: whole("How long one request to it may take, in milliseconds. Defaults to 15000.", 100, 600_000),
    allowPrivate: flag(
      "Whether its servers may be at private addresses and use http, as those of a company's own registry do. Defaults to false.",
    ),
    packageHosts: list(
      "Hosts of further package registries that its servers may come from, besides the public one of each kind.",
      text("A host name."),
    ),
  },
  ["name"],
);

export type RegistrySettings = InputOf<typeof REGISTRY>;

export const REGISTRIES = list(
  "Where toolarsenal add and the dashboard look for MCP servers. Defaults to the official MCP registry; an empty list turns it off. A registry is contacted only when you search, add or update.",
  REGISTRY,
);

export const TLS = entry(
  "Serves over https, TLS 1.2 or newer, with this certificate. Changed files are used for new connections.",
  {
    cert: path("PEM file of the certificate, followed by the intermediate ones."),
    key: path("PEM file of its private key, without a passphrase."),
    ca: path("PEM file of the intermediate certificates, if cert does not contain them."),
  },
  ["cert", "key"],
);
