import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { nearest, showValue } from "../../errors/show-value.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { present } from "../../base/present.ts";
import { type ClientContext, type ClientInput, expandClientText } from "./client-references.ts";
import type { McpOAuthConfig, McpServerConfig } from "../config.ts";
import { toCamel, toSnake } from "../load/key-style.ts";
import { config, MAX_TIMEOUT_MS } from "../../adapters/sources/mcp/settings.ts";
import { refuseTooManyServers, type ServerNote, type ServerProblem } from "./server-problem.ts";

/** The servers of a client's configuration in our format, with problems and notes. */
export interface ClientServers {
  readonly servers: readonly McpServerConfig[];
  readonly problems: readonly ServerProblem[];
  readonly notes: readonly ServerNote[];
  /** The env files that entries name, readable or not. */
  readonly envFiles: readonly string[];
}

/** The location of a client's configuration. */
export type ClientPlace = Omit<ClientContext, "inputs"> & {
  /** The name of the file, for messages. */
  readonly file?: string;
};

type Type = NonNullable<McpServerConfig["type"]>;

/** The names that clients use for a transport. */
const TYPES: Readonly<Record<string, Type>> = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  streamable_http: "http",
  streamableHttp: "http",
  sse: "sse",
  ws: "websocket",
  websocket: "websocket",
};

/** Keys of the clients' own allow rules. Ignored, because the policy decides. */
const ALLOWANCES: ReadonlySet<string> = new Set(["alwaysAllow", "autoApprove", "trust"]);

const SETTINGS = config.properties as Readonly<Record<string, JsonSchema>>;

/** The settings of a server that are numbers. */
const NUMBERS = Object.entries(SETTINGS).filter(([, { type }]) => type === "integer");

const KNOWN: ReadonlySet<string> = new Set(
  "command args env envFile cwd limits url serverUrl httpUrl endpoint type transport transportType headers disabled enabled timeout namespace oauth auth"
    .split(" ")
    .concat(
      NUMBERS.map(([key]) => toSnake(key)),
      [...ALLOWANCES],
    ),
);

/** Returns the members of a client's entry that are supported here. */
export function knownMembers(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => KNOWN.has(key) && !ALLOWANCES.has(key)));
}

/** Reads servers in the formats of Claude Desktop, Cursor, Windsurf, `.mcp.json` and VS Code. Invalid servers are reported; the rest still load. */
export async function readClientConfig(
  block: Readonly<Record<string, unknown>>,
  place: ClientPlace,
): Promise<ClientServers> {
  const problems: ServerProblem[] = [];
  const notes: ServerNote[] = [];
  const servers: McpServerConfig[] = [];
  const envFiles: string[] = [];
  const from = place.file === undefined ? {} : { file: place.file };
  const context: ClientContext = { ...place, inputs: readInputs(block["inputs"]) };
  for (const key of ["mcpServers", "servers"]) {
    const entries = block[key];
    if (entries === undefined || entries === null) continue;
    if (!isPlainObject(entries)) {
      const message = `must be an object with a server under each name, not ${Array.isArray(entries) ? "a list" : showValue(entries)}`;
      const fix = "Write each server under its name; a list of servers belongs under mcp: servers:.";
      problems.push({ server: key, field: key, message, fix, ...from });
      continue;
    }
    refuseTooManyServers(Object.keys(entries).length);
    for (const [name, entry] of Object.entries(entries)) {
      const note = (message: string): void => void notes.push({ server: name, message, ...from });
      try {
        const server = await readServer(name, entry, context, { note, envFiles });
        if (server !== undefined) servers.push(server);
      } catch (error) {
        if (!(error instanceof RefusedServer)) throw error;
        problems.push({ server: name, ...error.problem, ...from });
      }
    }
  }
  return { servers, problems, notes, envFiles };
}

type Problem = Omit<ServerProblem, "server" | "file">;

/** Thrown to skip one server. */
class RefusedServer extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

function refuse(problem: Problem): never {
  throw new RefusedServer(problem);
}

async function readServer(
  name: string,
  entry: unknown,
  context: ClientContext,
  { note, envFiles }: { readonly note: (message: string) => void; readonly envFiles: string[] },
): Promise<McpServerConfig | undefined> {
  if (name === "") refuse({ field: "name", value: name, message: "is empty", fix: "Give the server a name." });
  if (!isPlainObject(entry))
    return refuse({ field: "entry", message: "is not an object", fix: 'Write { "command": "…" } or { "url": "…" }.' });
  const unknown = Object.keys(entry).filter((key) => !KNOWN.has(key));
  if (unknown.length > 0) note(`left out ${unknown.join(", ")}, which ToolArsenal does not know`);
  const allowances = Object.keys(entry).filter((key) => ALLOWANCES.has(key));
  if (allowances.length > 0) note(`left out ${allowances.join(", ")}: configure permissions under security:`);
  if (entry["disabled"] === true || entry["enabled"] === false) {
    note("is disabled");
    return undefined;
  }

  /** In `${NAME}`, the entry's env files take precedence over the environment. */
  let environment = context.environment;
  const expand = (field: string, text: string): string =>
    expandClientText(text, { ...context, environment }, (problem) => refuse({ field, ...problem }));
  const text = (...fields: readonly string[]): string | undefined => {
    const field = fields.find((candidate) => isGiven(entry[candidate]));
    if (field === undefined) return undefined;
    const value = entry[field];
    if (typeof value === "string" && value !== "") return expand(field, value);
    return refuse({ field, value: shape(value), message: "must be a non-empty string", fix: `Fix ${field}.` });
  };
  /** Converts numbers and flags to text. */
  const asText = (field: string, value: unknown): string =>
    ["string", "number", "boolean"].includes(typeof value)
      ? expand(field, String(value))
      : refuse({ field, message: "must be a string", fix: "Put it in quotes." });
  const texts = (field: string): Record<string, string> | undefined => {
    const value = entry[field];
    if (!isGiven(value)) return undefined;
    if (!isPlainObject(value))
      return refuse({ field, message: "must be an object with string values", fix: 'Write { "NAME": "value" }.' });
    const members = Object.entries(value).filter(([, member]) => member !== null);
    return Object.fromEntries(members.map(([key, member]) => [key, asText(`${field}.${key}`, member)]));
  };
  const whole = (field: string, max = MAX_TIMEOUT_MS): number | undefined => {
    const value = entry[field];
    if (!isGiven(value)) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value > 0 && value <= max) return value;
    const message = `must be a whole number from 1 to ${max}`;
    return refuse({ field, value: shape(value), message, fix: `Fix ${field}.` });
  };
  /** Reads variables from one or several env files. If two files set a variable, the later file wins. */
  const readEnvFiles = async (): Promise<Readonly<Record<string, string>>> => {
    const values: Record<string, string> = {};
    for (const path of [entry["envFile"] ?? []].flat() as readonly unknown[]) {
      const field = "envFile";
      const message = "must be a path, or a list of paths";
      if (typeof path !== "string" || path === "")
        return refuse({ field, value: shape(path), message, fix: "Write envFile: PATH." });
      const file = resolve(context.folder, expand(field, path));
      envFiles.push(file);
      const content = await readFile(file, "utf8").catch(() =>
        refuse({ field, value: path, message: `is ${path}, which cannot be read`, fix: "Check the path." }),
      );
      Object.assign(values, parseEnv(content));
    }
    return values;
  };

  const type = readType(entry);
  const fromFiles = await readEnvFiles();
  const filled = Object.entries(fromFiles).filter(([, value]) => value !== "");
  if (filled.length > 0) environment = { ...environment, ...Object.fromEntries(filled) };
  const { args } = entry;
  if (isGiven(args) && !Array.isArray(args))
    refuse({ field: "args", value: shape(args), message: "must be a list of strings", fix: 'Write ["…", "…"].' });
  const command = text("command");
  const words = (args as readonly unknown[] | undefined)?.map((word, index) => asText(`args.${index}`, word));
  const env = { ...fromFiles, ...texts("env") };
  const cwd = text("cwd");
  const headers = texts("headers");
  const url = text("url", "serverUrl", "httpUrl", "endpoint");
  const timeout = whole("timeout");
  const numbers: Readonly<Record<string, number | undefined>> = Object.fromEntries(
    NUMBERS.map(([key, { maximum }]) => [key, whole(toSnake(key), Number(maximum))]),
  );
  return present({
    name,
    type,
    command,
    args: words,
    env: Object.keys(env).length === 0 ? undefined : env,
    cwd: cwd === undefined ? undefined : resolve(context.folder, cwd),
    limits: readLimits(entry["limits"]),
    url,
    headers,
    oauth: clientOAuth(entry["oauth"] ?? entry["auth"], expand),
    namespace: text("namespace"),
    ...numbers,
    timeoutMs: numbers["timeoutMs"] ?? (timeout === undefined ? undefined : inMilliseconds(timeout)),
  });
}

/** Reads the limits of a server's program. Misspelt limits are refused, because the program would run without them. */
function readLimits(value: unknown): Readonly<Record<string, number>> | undefined {
  if (!isGiven(value)) return undefined;
  const known = SETTINGS["limits"]?.properties as Readonly<Record<string, JsonSchema>>;
  const names = Object.keys(known).map(toSnake).join(", ");
  if (!isPlainObject(value))
    return refuse({ field: "limits", value: shape(value), message: "must be an object", fix: `Write ${names}.` });
  const members = Object.entries(value).map(([name, given]): readonly [string, number] => {
    const field = `limits.${name}`;
    const key = toCamel(name);
    if (!Object.hasOwn(known, key)) return refuse({ field, message: "is not a limit", fix: `Use ${names}.` });
    const { minimum, maximum } = known[key] as { readonly minimum: number; readonly maximum: number };
    if (Number.isInteger(given) && Number(given) >= minimum && Number(given) <= maximum) return [key, Number(given)];
    const message = `must be a whole number from ${minimum} to ${maximum}`;
    return refuse({ field, value: shape(given), message, fix: `Fix ${field}.` });
  });
  return Object.fromEntries(members);
}

function readType(entry: Readonly<Record<string, unknown>>): Type | undefined {
  const field = ["type", "transport", "transportType"].find((candidate) => typeof entry[candidate] === "string");
  if (field === undefined) return undefined;
  const written = String(entry[field]);
  if (Object.hasOwn(TYPES, written)) return TYPES[written];
  const near = nearest(written, Object.keys(TYPES));
  const fix = near === undefined ? "Write stdio, http, sse or websocket." : `Did you mean "${near}"?`;
  return refuse({ field, value: written, message: `is ${showValue(written)}, which is not a transport`, fix });
}

const OAUTH_KEYS = Object.keys(SETTINGS["oauth"]?.properties ?? {});
const OAUTH_ALIASES: Readonly<Record<string, string>> = { scopes: "scope", callbackPort: "redirectPort" };

/** Reads the OAuth settings of a client's server and ignores unknown ones. Clients write clientId, client_id or CLIENT_ID. */
function clientOAuth(value: unknown, expand: (field: string, text: string) => string): McpOAuthConfig | undefined {
  if (!isPlainObject(value)) return undefined;
  const members = Object.entries(value).flatMap(([key, given]): readonly (readonly [string, string | number])[] => {
    const camel = toCamel(/[a-z]/.test(key) ? key : key.toLowerCase());
    const name = Object.hasOwn(OAUTH_ALIASES, camel) ? OAUTH_ALIASES[camel] : camel;
    const text = Array.isArray(given) ? given.join(" ") : given;
    if (name === "redirectPort") return isPort(given) ? [[name, given]] : [];
    if (name === undefined || !OAUTH_KEYS.includes(name) || typeof text !== "string" || text === "") return [];
    if (name === "grant" && text !== "authorization_code" && text !== "client_credentials") return [];
    return [[name, expand(`oauth.${key}`, text)]];
  });
  return Object.fromEntries(members);
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= 65_535;
}

/** Reads the `inputs` of a VS Code file: the values that VS Code prompts its user for. */
export function readInputs(value: unknown): readonly ClientInput[] {
  return (Array.isArray(value) ? value : []).flatMap((input: unknown) => {
    if (!isPlainObject(input) || typeof input["id"] !== "string") return [];
    const { id, description, default: fallback } = input;
    const textOf = (member: unknown): string | undefined => (typeof member === "string" ? member : undefined);
    return [present({ id, description: textOf(description), default: textOf(fallback) })];
  });
}

/** Some clients count seconds, at most an hour. Others count milliseconds, at least four seconds. */
function inMilliseconds(timeout: number): number {
  return timeout <= 3600 ? timeout * 1000 : timeout;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function shape(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (Array.isArray(value) ? "a list" : "an object") : value;
}
