import {
  flag,
  list,
  openEntry,
  entry,
  refined,
  string,
  strings,
  text,
  texts,
  whole,
} from "../../../tool/shape/shape.ts";
import { answer, type Operation, operationsOf } from "../operation.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Registries", role: "operator", tenants: "none" });

const SERVER = {
  name: string("The server's full name: namespace/name."),
  publisher: string("The namespace of its publisher."),
  version: string("The version."),
  description: string("The publisher's description of the server."),
  title: string("The display name."),
  registry: string("The registry that lists the server."),
  status: string("The status: active, deprecated or deleted."),
  statusMessage: string("The reason for the status."),
  publishedAt: string("When the version was published."),
  repository: string("The URL of the server's source code."),
  kinds: strings("The kinds of packages: npm, pypi, oci, nuget, mcpb or remote."),
};
const NEEDED = ["name", "publisher", "version", "description", "registry", "status", "kinds"] as const;

const INPUT = openEntry(
  "A value that the server needs.",
  {
    key: string("The name of the value."),
    description: string("What the value is for."),
    required: flag("Whether the server needs it."),
    secret: flag("Whether the value is a secret."),
    default: string("The default value."),
    choices: strings("The allowed values."),
  },
  ["key", "required", "secret"],
);

const OPTION = openEntry(
  "One way to run the server.",
  {
    kind: string("The kind of package: npm, pypi, oci, nuget, mcpb or remote."),
    label: string("The name of the package, or the URL."),
    missing: string("Why this package cannot run on the gateway's machine. Omitted if it can."),
    inputs: list("The values that the server needs.", INPUT),
  },
  ["kind", "label", "inputs"],
);

const TRIAL = openEntry(
  "The result of trying the server once.",
  {
    name: string("The server's name in the configuration."),
    server: string("The server's full name."),
    version: string("The version."),
    kind: string("The kind of package."),
    package: string("The package with its version, the image or the URL."),
    checksum: string("A checksum of the package's content."),
    tools: list(
      "The server's tools.",
      openEntry("A tool.", { name: string("The name."), description: string("The purpose.") }, ["name"]),
    ),
    findings: list(
      "What the scanner found in the texts of the server.",
      openEntry("A finding.", {
        subject: string("The tool's name, or `instructions`."),
        severity: string("The severity."),
        message: string("The meaning of the finding."),
        excerpt: string("The matching text."),
      }),
    ),
    remarks: strings("Remarks on the package."),
    needsSignIn: flag("True if the server requires a sign-in before it lists tools."),
    persisted: flag("Whether the server was written to the configuration."),
  },
  ["name", "server", "version", "kind", "package", "tools", "findings", "remarks", "persisted"],
);

const NAME = refined(text("The server's full name, or the last part of the name."), {
  examples: ["io.github.octo/weather-mcp"],
});

const named = {
  version: text("The version. Defaults to the latest."),
  registry: text("Search only this registry."),
};

export const registryOperations: readonly Operation[] = [
  operation("searchRegistries", "GET /registries/servers", {
    summary: "Search the configured registries for MCP servers",
    description:
      "Servers are ranked by their names, titles and descriptions. The gateway contacts the registries under its egress rules.",
    query: entry(
      "",
      {
        query: refined(text("The request."), { maxLength: 1_000, examples: ["weather forecast"] }),
        registry: named.registry,
        limit: whole("The maximum number of servers.", 1, 50),
      },
      ["query"],
    ),
    answers: {
      200: answer(
        "Best first.",
        {
          servers: list("The servers.", openEntry("A server.", SERVER, NEEDED)),
          remarks: strings("Registries that could not be read, and why."),
        },
        ["servers", "remarks"],
      ),
    },
    problems: ["SOURCE_UNAVAILABLE", "CONFIG_INVALID"],
    async run({ query: { query, registry, limit = 10 }, signal }, context) {
      return { body: await administrationOf(context).registries.find({ query, registry, limit }, { signal }) };
    },
  }),
  operation("getRegistryServer", "GET /registries/server", {
    summary: "Get one server of the registries: versions, packages, and the inputs of each",
    query: entry("", { name: NAME, ...named }, ["name"]),
    answers: {
      200: answer(
        "The server.",
        { ...SERVER, versions: strings("The versions, newest first."), options: list("The ways to run it.", OPTION) },
        [...NEEDED, "versions", "options"],
      ),
    },
    problems: ["SOURCE_UNAVAILABLE", "CONFIG_INVALID"],
    async run({ query: { name, version, registry }, signal }, context) {
      return { body: await administrationOf(context).registries.get({ name, version, registry }, { signal }) };
    },
  }),
  operation("addRegistryServer", "POST /registries/servers", {
    summary: "Fetch, verify and try a server of a registry, and write it to the configuration if confirmed",
    description:
      "Without `confirm`, nothing is written: the response shows what would be added. With `confirm`, also send the checksum from that response, so that exactly this package is added.",
    body: entry(
      "A server to add.",
      {
        name: NAME,
        ...named,
        kind: text("The kind of package. Defaults to the first that can run on the gateway's machine."),
        as: text("The server's name in the configuration. Defaults to the last part of its full name."),
        inputs: texts("The values that the server needs, by name. Secrets are written to an env file."),
        confirm: flag("Whether the server is written to the configuration. Defaults to false."),
        checksum: text("The checksum from the earlier response. A different checksum is refused."),
      },
      ["name"],
    ),
    examples: { "Show it first": { name: "io.github.octo/weather-mcp" } },
    answers: {
      200: { description: "The server works. Nothing was written.", schema: TRIAL },
      201: { description: "The server was written to the configuration.", schema: TRIAL },
    },
    problems: ["SOURCE_UNAVAILABLE", "SERVER_REFUSED", "SANDBOX_FAILED", "CONFIG_INVALID", "PERMISSION_DENIED"],
    statusOf: { SOURCE_UNAVAILABLE: 422 },
    targets: ({ body }) => [body.name],
    async run({ body: { confirm = false, ...asked }, principal, signal }, context) {
      const body = await administrationOf(context).registries.add({ ...asked, confirm }, principal, { signal });
      return { status: body.persisted ? 201 : 200, body };
    },
  }),
];
