import { checkOf } from "../../tool/shape/check.ts";
import {
  choice,
  flag,
  type InputOf,
  list,
  openEntry,
  schema,
  type Shape,
  string,
  strings,
  text,
} from "../../tool/shape/shape.ts";

/** A value that a server needs, as server.json declares it. */
const INPUT = {
  description: string("Its meaning."),
  isRequired: flag("Whether the server needs it."),
  isSecret: flag("Whether it is a secret."),
  format: choice("Its format.", ["string", "number", "boolean", "filepath"]),
  value: string("A fixed value, in which {names} stand for variables."),
  default: string("The default."),
  placeholder: string("An example."),
  choices: strings("The values to choose from."),
};

const VALUE = openEntry("A value.", INPUT);
/** A value without variables. */
export type DeclaredValue = InputOf<typeof VALUE>;
const VARIABLES = schema<Readonly<Record<string, DeclaredValue>>>({ type: "object", additionalProperties: VALUE });

const ARGUMENT = openEntry(
  "An argument.",
  {
    ...INPUT,
    variables: VARIABLES,
    type: choice("Its kind.", ["positional", "named"]),
    name: string("The flag, with its dashes."),
    valueHint: string("The name of a positional argument."),
    isRepeated: flag("Whether it may be repeated."),
  },
  ["type"],
);
export type DeclaredArgument = InputOf<typeof ARGUMENT>;

const NAMED_VALUE = openEntry(
  "An environment variable or a header.",
  { ...INPUT, variables: VARIABLES, name: text("Its name.") },
  ["name"],
);
export type NamedValue = InputOf<typeof NAMED_VALUE>;

const TRANSPORT = {
  type: choice("The transport.", ["stdio", "streamable-http", "sse"]),
  url: string("The address."),
  headers: list("Headers.", NAMED_VALUE),
};

const PACKAGE = openEntry(
  "A package.",
  {
    registryType: text("npm, pypi, oci, nuget, mcpb and the like."),
    registryBaseUrl: string("The package registry."),
    identifier: text("The package's name, or its address."),
    version: string("The version."),
    fileSha256: string("The SHA-256 of its file."),
    runtimeHint: string("The program that runs it."),
    transport: openEntry("How it is reached.", TRANSPORT, ["type"]),
    runtimeArguments: list("Arguments of the program that runs it.", ARGUMENT),
    packageArguments: list("Arguments of the package.", ARGUMENT),
    environmentVariables: list("Environment variables.", NAMED_VALUE),
  },
  ["registryType", "identifier", "transport"],
);
export type DeclaredPackage = InputOf<typeof PACKAGE>;

const REMOTE = openEntry("An address.", { ...TRANSPORT, variables: VARIABLES }, ["type", "url"]);
export type DeclaredRemote = InputOf<typeof REMOTE>;

const SERVER = openEntry(
  "A server.",
  {
    name: text("Its name: namespace/name."),
    description: string("Its purpose."),
    title: string("Its name for people."),
    version: text("Its version."),
    websiteUrl: string("Its website."),
    repository: openEntry("Its source code.", {
      url: string("The address."),
      source: string("The host."),
      subfolder: string("The folder in it."),
    }),
    packages: list("Its packages.", PACKAGE),
    remotes: list("Its addresses.", REMOTE),
  },
  ["name", "version"],
);

/** A server as a registry describes it (`server.json`). All of its data is untrusted. */
export type ServerJson = InputOf<typeof SERVER>;

export const STATUSES = ["active", "deprecated", "deleted"] as const;

const META = openEntry("What the registry adds.", {
  status: choice("The server's status.", STATUSES),
  statusMessage: string("Why."),
  publishedAt: string("When it was published."),
  updatedAt: string("When it changed last."),
  isLatest: flag("Whether it is the latest version."),
});

/** A server in a registry, with the registry's metadata. */
export interface RegistryEntry {
  /** The configured name of the registry. */
  readonly registry: string;
  readonly server: ServerJson;
  readonly status: (typeof STATUSES)[number];
  readonly statusMessage?: string;
  readonly publishedAt?: string;
  readonly updatedAt?: string;
  readonly isLatest?: boolean;
}

const OFFICIAL = "io.modelcontextprotocol.registry/official";
const RESPONSE = openEntry("An answer.", { server: SERVER, _meta: openEntry("", { [OFFICIAL]: META }) }, ["server"]);

/** Longer documents are refused. The largest real ones have about 20 kB. */
const MAX_CHARACTERS = 200_000;

export interface EntryProblem {
  readonly field: string;
  readonly message: string;
}

/** Reads one entry of a registry's response, or a plain server.json. */
export function readEntry(value: unknown, registry: string): RegistryEntry | EntryProblem {
  const size = JSON.stringify(value)?.length ?? 0;
  if (size > MAX_CHARACTERS) return { field: "server", message: `has ${size} characters, more than ${MAX_CHARACTERS}` };
  const isAnswer = typeof value === "object" && value !== null && "server" in value;
  const answer = isAnswer ? value : { server: value };
  const [problem] = problemsOf(RESPONSE, answer);
  if (problem !== undefined)
    return { ...problem, field: isAnswer ? problem.field : problem.field.replace(/^server\.?/, "") };
  const { server, _meta } = answer as InputOf<typeof RESPONSE>;
  const { status = "active", ...meta } = _meta?.[OFFICIAL] ?? {};
  return { registry, server, ...meta, status };
}

function problemsOf(shape: Shape, value: unknown): readonly EntryProblem[] {
  const problems: EntryProblem[] = [];
  checkOf(shape)(value, "", (field, _value, message) => void problems.push({ field, message }));
  return problems;
}

/** Returns the publisher's namespace: `io.github.octo` for `io.github.octo/weather`. */
export function namespaceOf({ name }: Pick<ServerJson, "name">): string {
  return name.slice(0, Math.max(0, name.indexOf("/")));
}

/** Returns a short name for the configuration: `weather` for `io.github.octo/weather-mcp`. */
export function shortName({ name }: Pick<ServerJson, "name">): string {
  const last = name.slice(name.indexOf("/") + 1).toLowerCase();
  const plain = last.replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
  const bare = plain.replace(/^(?:mcp-server-|mcp-|server-)|(?:-mcp-server|-mcp|-server)$/g, "");
  return bare || plain || "server";
}
