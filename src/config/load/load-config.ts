import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import { systemClock } from "../../observe/clock.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { IN_MEMORY } from "./chosen-adapters.ts";
import { type ClientServers, readClientConfig } from "../clients/client-config.ts";
import { deprecatedSettings } from "./deprecated-settings.ts";
import { CLIENT_KEYS } from "./key-style.ts";
import type { McpServerConfig } from "../config.ts";
import { configuredExecutors } from "./configured-executors.ts";
import { configuredPolicy } from "./configured-policy.ts";
import { readMcpConfigFile } from "../clients/mcp-config-file.ts";
import { isLocal } from "../../adapters/sources/source-adapter.ts";
import { alternativesOf, checkConfig, schemaOf } from "./check-config.ts";
import { CONFIG_SCHEMA } from "../schema.ts";
import { readYaml } from "./read-yaml.ts";
import { foldShortForm, type ResolvedConfig, resolveConfig } from "./resolve-config.ts";
import { nameTaken, refuseTooManyServers, type ServerNote, type ServerProblem } from "../clients/server-problem.ts";

/** A validated configuration with defaults. */
export interface LoadedConfig {
  /** The configuration with absolute paths. `mcp.servers` includes servers in the format of MCP clients. */
  readonly config: ResolvedConfig;
  /** The base of relative paths in the file. */
  readonly folder: string;
  /** Servers that are skipped, with the reasons. `configuredSources` reports problems of other sources. */
  readonly problems: readonly ServerProblem[];
  /** Ignored settings of servers that are still used, and deprecated settings. */
  readonly notes: readonly ServerNote[];
  readonly envFiles: readonly string[];
  /** The path of the file, if it is empty or contains only comments. */
  readonly emptyFile?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a YAML or JSON configuration, and adds the servers of `mcpConfigs`. Without a path, uses the defaults. Throws `CONFIG_INVALID` with file,
 * line, key, value and fix.
 */
export async function loadConfig(
  path: string | undefined,
  environment: Environment = process.env,
  options: { readonly mcpConfigs?: readonly string[]; readonly folder?: string } = {},
): Promise<LoadedConfig> {
  const folder = path === undefined ? resolve(options.folder ?? ".") : dirname(resolve(path));
  const own =
    path === undefined
      ? { config: resolveConfig({}), clients: NO_SERVERS, isEmpty: false }
      : await parse(await readText(path), path, environment, folder);
  const emptyFile = path !== undefined && own.isEmpty ? { emptyFile: path } : {};
  const files = await Promise.all((options.mcpConfigs ?? []).map((file) => readMcpConfigFile(file, environment)));
  const { config, ...said } = withClients(own.config, [own.clients, ...files]);
  const absolute = withAbsolutePaths(config, folder);
  // Only validates the policy, so that an invalid rule is reported together with other problems.
  if (absolute.security.policyFile !== undefined) configuredPolicy(absolute, systemClock);
  await (await configuredExecutors(absolute)).check();
  const readFrom = [path, ...(options.mcpConfigs ?? []), ...said.envFiles].flatMap((file) =>
    file ? [resolve(file)] : [],
  );
  return { config: { ...absolute, readFrom }, folder, ...emptyFile, ...said };
}

/** Parses a configuration from text. `name` identifies the text in messages. */
export async function parseConfig(
  source: string,
  name: string,
  environment: Environment = process.env,
): Promise<ResolvedConfig> {
  const { config, clients } = await parse(source, name, environment, resolve("."));
  return withClients(config, [clients]).config;
}

const NO_SERVERS: ClientServers = { servers: [], problems: [], notes: [], envFiles: [] };

function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    const fix = "Check the path, or leave --config out.";
    const details = { field: "config", value: path, cause };
    throw fixable("CONFIG_INVALID", `The configuration file ${path} cannot be read.`, fix, details);
  });
}

async function parse(
  source: string,
  name: string,
  environment: Environment,
  folder: string,
): Promise<{ readonly config: ResolvedConfig; readonly clients: ClientServers; readonly isEmpty: boolean }> {
  try {
    const { value, origin, isEmpty } = await readYaml(source, name, environment, (key) => CLIENT_KEYS.includes(key));
    const members = isPlainObject(value) ? Object.entries(value) : [];
    const foreign = members.filter(([key]) => CLIENT_KEYS.includes(key));
    const own =
      foreign.length === 0 ? value : Object.fromEntries(members.filter((member) => !foreign.includes(member)));
    const clients = await readClientConfig(Object.fromEntries(foreign), { environment, folder });
    const old = deprecatedSettings(own, CONFIG_SCHEMA).map(({ key, message }) => ({ server: key, message }));
    return {
      config: foldShortForm(checkConfig(own, "snake", origin), "snake", origin),
      clients: { ...clients, notes: [...old, ...clients.notes] },
      isEmpty,
    };
  } catch (cause) {
    if (isArsenalError(cause)) throw cause;
    // Possible causes are nesting that overflows the parser's stack, and an alias bomb.
    const fix = "Check its anchors and aliases, and write it with less nesting.";
    const problem = `${name}: the file cannot be read: ${messageOf(cause)}.`;
    throw fixable("CONFIG_INVALID", problem, fix, { field: name, cause });
  }
}

/** Adds the clients' servers to the configuration's own. If a name is repeated, the later server is reported. */
function withClients(
  config: ResolvedConfig,
  clients: readonly ClientServers[],
): Pick<LoadedConfig, "config" | "problems" | "notes" | "envFiles"> {
  const named = new Map<string, McpServerConfig>(config.mcp.servers.map((server) => [server.name, server]));
  const problems: ServerProblem[] = [];
  for (const { servers, problems: found } of clients) {
    problems.push(...found);
    for (const server of servers) {
      const { name } = server;
      if (named.has(name)) problems.push(nameTaken(name, "MCP server"));
      else named.set(name, server);
    }
  }
  refuseTooManyServers(named.size);
  return {
    config: { ...config, mcp: { ...config.mcp, servers: [...named.values()] } },
    problems,
    notes: clients.flatMap(({ notes }) => notes),
    envFiles: clients.flatMap(({ envFiles }) => envFiles),
  };
}

/** Copies a value with absolute paths for files and folders. Addresses and the name of the in-memory store do not change. */
function withAbsolutePaths<Value>(value: Value, folder: string, schema: JsonSchema = CONFIG_SCHEMA): Value {
  const { format, items } = schema;
  const inside = (member: unknown, of: unknown): unknown => withAbsolutePaths(member, folder, (of ?? {}) as JsonSchema);
  if (typeof value === "string") {
    const isPath =
      format === "path" || format === "folder" || alternativesOf(schema).some((choice) => choice["format"] === "path");
    return (isPath && value !== IN_MEMORY && isLocal(value) ? resolve(folder, value) : value) as Value;
  }
  if (Array.isArray(value)) return value.map((item) => inside(item, items)) as Value;
  if (!isPlainObject(value)) return value;
  const { properties } = schemaOf(schema, value);
  if (properties === undefined) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, inside(member, properties[key])]),
  ) as Value;
}
