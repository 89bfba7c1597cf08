import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { type ClientContext, type ClientInput, expandClientText } from "./client-references.ts";
import { clientOAuth } from "./client-oauth.ts";
import type { McpServerConfig } from "../config.ts";
import { MAX_CONCURRENT, MAX_MESSAGE_BYTES, MAX_TIMEOUT_MS, MAX_TOOLS } from "../../adapters/sources/mcp/settings.ts";
import { refuseTooManyServers, type ServerNote, type ServerProblem } from "./server-problem.ts";

/** The servers of a client's configuration in our words, and what is to be said of them. */
export interface ClientServers {
  readonly servers: readonly McpServerConfig[];
  readonly problems: readonly ServerProblem[];
  readonly notes: readonly ServerNote[];
  /** The env files that entries name, readable or not. */
  readonly envFiles: readonly string[];
}

/** Where a client's configuration was found. */
export type ClientPlace = Omit<ClientContext, "inputs"> & {
  /** Names the file in problems. */
  readonly file?: string;
};

type Type = NonNullable<McpServerConfig["type"]>;

/** How clients spell a transport. */
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

/** What the clients' own answers to "may it run?" are called. Here policy decides. */
const ALLOWANCES: ReadonlySet<string> = new Set(["alwaysAllow", "autoApprove", "trust"]);

const KNOWN: ReadonlySet<string> = new Set(
  "command args env envFile cwd url serverUrl httpUrl endpoint type transport transportType headers disabled enabled timeout timeout_ms connect_timeout_ms max_concurrent max_message_bytes max_tools namespace oauth auth"
    .split(" ")
    .concat([...ALLOWANCES]),
);

/** The members of a client's entry that mean something here. */
export function knownMembers(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => KNOWN.has(key) && !ALLOWANCES.has(key)));
}

/**
 * Reads servers as Claude Desktop, Cursor, Windsurf, `.mcp.json` (`mcpServers`) and VS Code (`servers`, `inputs`) have them. A bad one is
 * reported and the others are read all the same.
 */
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
      const message = `must be a mapping of names to servers, not ${Array.isArray(entries) ? "a list" : showValue(entries)}`;
      const fix = "Write each server under its name; a list of servers belongs under mcp: servers:.";
      problems.push({ server: key, field: key, message, fix, ...from });
      continue;
    }
    refuseTooManyServers(Object.keys(entries).length);
    for (const [name, entry] of Object.entries(entries)) {
      const note = (message: string): void => void notes.push({ server: name, message, ...from });
      const refuse: Refuse = (problem) => {
        throw new RefusedServer({ server: name, ...problem, ...from });
      };
      try {
        const server = await readServer(name, entry, context, { note, refuse, envFiles });
        if (server !== undefined) servers.push(server);
      } catch (error) {
        if (!(error instanceof RefusedServer)) throw error;
        problems.push(error.problem);
      }
    }
  }
  return { servers, problems, notes, envFiles };
}

type Refuse = (problem: Omit<ServerProblem, "server" | "file">) => never;

/** Leaves the reading of one server. */
class RefusedServer extends Error {
  readonly problem: ServerProblem;
  constructor(problem: ServerProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

async function readServer(
  name: string,
  entry: unknown,
  context: ClientContext,
  parts: { readonly note: (message: string) => void; readonly refuse: Refuse; readonly envFiles: string[] },
): Promise<McpServerConfig | undefined> {
  const { note, refuse, envFiles } = parts;
  if (name === "") refuse({ field: "name", value: name, message: "is empty", fix: "Give the server a name." });
  if (!isPlainObject(entry))
    return refuse({
      field: "entry",
      message: "is no mapping",
      fix: 'Write { "command": "…" } or { "url": "…" }.',
    });
  const unknown = Object.keys(entry).filter((key) => !KNOWN.has(key));
  if (unknown.length > 0) note(`left out ${unknown.join(", ")}, which ToolArsenal does not know`);
  const allowances = Object.keys(entry).filter((key) => ALLOWANCES.has(key));
  if (allowances.length > 0) note(`left out ${allowances.join(", ")}: what may run is said under security:`);
  if (entry["disabled"] === true || entry["enabled"] === false) {
    note("is disabled");
    return undefined;
  }

  /** The entry's env files fill `${NAME}` in the entry, before the environment does. */
  let environment = context.environment;
  const expand = (field: string, text: string): string => {
    try {
      return expandClientText(text, field, { ...context, environment });
    } catch (error) {
      if (!isArsenalError(error)) throw error;
      const { value, fix = "" } = error.details;
      return refuse({ field, value, message: error.message.slice(`${field}: `.length, -`. ${fix}`.length), fix });
    }
  };
  const text = (...fields: readonly string[]): string | undefined => {
    const field = fields.find((candidate) => entry[candidate] !== undefined && entry[candidate] !== null);
    if (field === undefined) return undefined;
    const value = entry[field];
    if (typeof value === "string" && value !== "") return expand(field, value);
    return refuse({ field, value: shape(value), message: "must be a text that is not empty", fix: `Fix ${field}.` });
  };
  const texts = (field: string): Record<string, string> | undefined => {
    const value = entry[field];
    if (value === undefined || value === null) return undefined;
    if (!isPlainObject(value))
      return refuse({ field, message: "must be a mapping of names to texts", fix: 'Write { "NAME": "value" }.' });
    const members = Object.entries(value).filter(([, member]) => member !== null);
    return Object.fromEntries(
      members.map(([key, member]) => {
        if (!["string", "number", "boolean"].includes(typeof member))
          refuse({ field: `${field}.${key}`, message: "must be a text", fix: "Put it in quotes." });
        return [key, expand(`${field}.${key}`, String(member))];
      }),
    );
  };
  const whole = (field: string, max = MAX_TIMEOUT_MS): number | undefined => {
    const value = entry[field];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value > 0 && value <= max) return value;
    const message = `must be a whole number from 1 to ${max}`;
    return refuse({ field, value: shape(value), message, fix: `Fix ${field}.` });
  };

  const type = readType(entry, refuse);
  const fromFiles = await readEnvFiles(entry["envFile"], context, { expand, refuse, envFiles });
  const filled = Object.entries(fromFiles).filter(([, value]) => value !== "");
  if (filled.length > 0) environment = { ...environment, ...Object.fromEntries(filled) };
  const command = text("command");
  const args = readArgs(entry["args"], expand, refuse);
  const env = { ...fromFiles, ...texts("env") };
  const cwd = text("cwd");
  const headers = texts("headers");
  const url = text("url", "serverUrl", "httpUrl", "endpoint");
  const timeout = whole("timeout");
  const oauth = clientOAuth(entry["oauth"] ?? entry["auth"], expand);
  return compact({
    name,
    type,
    command,
    args,
    env: Object.keys(env).length === 0 ? undefined : env,
    cwd: cwd === undefined ? undefined : resolve(context.folder, cwd),
    url,
    headers,
    oauth,
    namespace: text("namespace"),
    timeoutMs: whole("timeout_ms") ?? (timeout === undefined ? undefined : inMilliseconds(timeout)),
    connectTimeoutMs: whole("connect_timeout_ms"),
    maxConcurrent: whole("max_concurrent", MAX_CONCURRENT),
    maxMessageBytes: whole("max_message_bytes", MAX_MESSAGE_BYTES),
    maxTools: whole("max_tools", MAX_TOOLS),
  });
}

function readType(entry: Readonly<Record<string, unknown>>, refuse: Refuse): Type | undefined {
  const field = ["type", "transport", "transportType"].find((candidate) => typeof entry[candidate] === "string");
  const written = field === undefined ? undefined : String(entry[field]);
  if (field === undefined || written === undefined) return undefined;
  if (Object.hasOwn(TYPES, written)) return TYPES[written];
  const known = Object.keys(TYPES);
  const near = nearest(written, known);
  return refuse({
    field,
    value: written,
    message: `is ${showValue(written)}, which is no transport`,
    fix: near === undefined ? "Write stdio, http, sse or websocket." : `Did you mean "${near}"?`,
  });
}

function readArgs(
  value: unknown,
  expand: (field: string, text: string) => string,
  refuse: Refuse,
): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value))
    return refuse({ field: "args", value: shape(value), message: "must be a list of texts", fix: 'Write ["…", "…"].' });
  return value.map((argument: unknown, index) => {
    if (typeof argument !== "string" && typeof argument !== "number" && typeof argument !== "boolean")
      return refuse({ field: `args.${index}`, message: "must be a text", fix: "Put it in quotes." });
    return expand(`args.${index}`, String(argument));
  });
}

/** The values of an env file, or of several; of two that name a variable, the later counts. */
async function readEnvFiles(
  value: unknown,
  { folder }: ClientContext,
  parts: {
    readonly expand: (field: string, text: string) => string;
    readonly refuse: Refuse;
    readonly envFiles: string[];
  },
): Promise<Readonly<Record<string, string>>> {
  const { expand, refuse, envFiles } = parts;
  if (value === undefined || value === null) return {};
  const values: Record<string, string> = {};
  for (const path of Array.isArray(value) ? value : [value]) {
    if (typeof path !== "string" || path === "")
      return refuse({
        field: "envFile",
        value: shape(path),
        message: "must be a path, or a list of paths",
        fix: "Write envFile: PATH.",
      });
    const file = resolve(folder, expand("envFile", path));
    envFiles.push(file);
    const text = await readFile(file, "utf8").catch(() =>
      refuse({ field: "envFile", value: path, message: `is ${path}, which cannot be read`, fix: "Check the path." }),
    );
    Object.assign(values, parseEnv(text));
  }
  return values;
}

/** What VS Code asks its user for: the `inputs` of its file. */
export function readInputs(value: unknown): readonly ClientInput[] {
  return (Array.isArray(value) ? value : []).flatMap((input: unknown) => {
    if (!isPlainObject(input) || typeof input["id"] !== "string") return [];
    const { id, description, default: fallback } = input;
    return [
      {
        id,
        ...(typeof description === "string" ? { description } : {}),
        ...(typeof fallback === "string" ? { default: fallback } : {}),
      },
    ];
  });
}

/** Some clients count seconds, up to an hour; others milliseconds, and nobody gives a tool under four seconds in them. */
function inMilliseconds(timeout: number): number {
  return timeout <= 3600 ? timeout * 1000 : timeout;
}

function shape(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (Array.isArray(value) ? "a list" : "a mapping") : value;
}

function compact(server: {
  readonly [Key in keyof McpServerConfig]: McpServerConfig[Key] | undefined;
}): McpServerConfig {
  const members = Object.entries(server).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members) as unknown as McpServerConfig;
}
