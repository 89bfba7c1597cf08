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
  name: string("Its full name: namespace/name."),
  publisher: string("The namespace of its publisher."),
  version: string("The version."),
  description: string("Its purpose, in the publisher's words."),
  title: string("Its name for people."),
  registry: string("The registry that has it."),
  status: string("active, deprecated or deleted."),
  statusMessage: string("Why."),
  publishedAt: string("When the version was published."),
  repository: string("The address of its source code."),
  kinds: strings("npm, pypi, oci, nuget, mcpb or remote."),
};
const NEEDED = ["name", "publisher", "version", "description", "registry", "status", "kinds"] as const;

const INPUT = openEntry(
  "A value that it needs.",
  {
    key: string("Its name."),
    description: string("Its meaning."),
    required: flag("Whether the server needs it."),
    secret: flag("Whether it is a secret."),
    default: string("The default."),
    choices: strings("The values to choose from."),
  },
  ["key", "required", "secret"],
);

const OPTION = openEntry(
  "One way to run it.",
  {
    kind: string("npm, pypi, oci, nuget, mcpb or remote."),
    label: string("The package or the address."),
    missing: string("Why it cannot run on the gateway's machine. Omitted if it can."),
    inputs: list("The values that it needs.", INPUT),
  },
  ["kind", "label", "inputs"],
);

const TRIAL = openEntry(
  "The server, as it answered once.",
  {
    name: string("Its name in the configuration."),
    server: string("Its full name."),
    version: string("The version."),
    kind: string("The kind of package."),
    package: string("The package with its version, the image or the address."),
    checksum: string("Identifies the package's content."),
    tools: list(
      "Its tools.",
      openEntry("A tool.", { name: string("The name."), description: string("The purpose.") }, ["name"]),
    ),
    findings: list(
      "What the scanner found in the texts of the server.",
      openEntry("A finding.", {
        subject: string("A tool, or instructions."),
        severity: string("The severity."),
        message: string("The meaning of the finding."),
        excerpt: string("The words."),
      }),
    ),
    remarks: strings("Remarks on the package."),
    needsSignIn: flag("True if it wants its user to sign in before it lists tools."),
    persisted: flag("Whether it was written to the configuration."),
  },
  ["name", "server", "version", "kind", "package", "tools", "findings", "remarks", "persisted"],
);

const NAME = refined(text("Its full name, or the last part of it."), { examples: ["io.github.octo/weather-mcp"] });

const named = {
  version: text("The version. Defaults to the latest."),
  registry: text("Ask only this registry."),
};

export const registryOperations: readonly Operation[] = [
  operation("searchRegistries", "GET /registries/servers", {
    summary: "Search the configured registries for MCP servers",
    description: "Ranked over names, titles and descriptions. Contacts the registries, through egress.",
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
        { ...SERVER, versions: strings("Newest first."), options: list("The ways to run it.", OPTION) },
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
      "Without confirm nothing is written: the answer shows what would be added. Send its checksum with confirm, so that what was shown is what is added.",
    body: entry(
      "A server to add.",
      {
        name: NAME,
        ...named,
        kind: text("Which of its packages. Defaults to the first that can run here."),
        as: text("Its name in the configuration. Defaults to the last part of its name."),
        inputs: texts("The values that it needs, by name. Secrets are written to an env file."),
        confirm: flag("Whether it is written. Defaults to false."),
        checksum: text("The checksum that was shown; any other is refused."),
      },
      ["name"],
    ),
    examples: { "Show it first": { name: "io.github.octo/weather-mcp" } },
    answers: {
      200: { description: "It works, and nothing was written.", schema: TRIAL },
      201: { description: "It was written to the configuration.", schema: TRIAL },
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
