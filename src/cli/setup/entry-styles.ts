import { present } from "../../base/present.ts";
import { asRecord, asTexts } from "../../tool/json-schema.ts";
import { mapTexts } from "./map-texts.ts";

export type ServerEntry = Readonly<Record<string, unknown>>;

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

/** How one client writes a server. `read` converts to the common form, which is that of Claude Desktop: `command`, `args`, `env`, `url`, `headers`. */
export interface EntryStyle {
  /** Converts an entry to the common form. Returns undefined if the entry is not an MCP server, such as a built-in feature of the client. */
  read(entry: ServerEntry): ServerEntry | undefined;
  program(started: Program): ServerEntry;
  /** Omitted if the client can only start programs. */
  address?(url: string): ServerEntry;
}

const same = (entry: ServerEntry): ServerEntry => entry;
const plain = ({ command, args }: Program): ServerEntry => ({ command, args });

/** Entries with a `type`. `http` is the client's name for streamable HTTP. */
const typed = (http: string): EntryStyle => ({
  read: same,
  program: (started) => ({ type: "stdio", ...plain(started) }),
  address: (url) => ({ type: http, url }),
});

/** Replaces the client's own references to the environment: `{env:NAME}`, `$NAME`. */
const withReferences = (entry: ServerEntry, pattern: RegExp): ServerEntry =>
  mapTexts(entry, (text) => text.replaceAll(pattern, "${$1}")) as ServerEntry;

/** Converts a list of variables that the client passes on by name. */
const passedOn = (names: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(asTexts(names).map((name) => [name, `\${${name}}`]));

const orNothing = (values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined =>
  Object.keys(values).length === 0 ? undefined : values;

export const STYLES = {
  /** Claude Desktop, Junie. */
  programs: { read: same, program: plain },
  /** Cursor, LM Studio. */
  url: { read: same, program: plain, address: (url) => ({ url }) },
  /** Windsurf. */
  serverUrl: { read: same, program: plain, address: (serverUrl) => ({ serverUrl }) },
  /** VS Code, Claude Code, JetBrains Air. */
  typed: typed("http"),
  cline: typed("streamableHttp"),
  /** Nests all members except switches: `"transport": { "type": "stdio", "command": … }`. */
  clineCli: {
    read: ({ transport, ...entry }) => ({
      ...entry,
      ...(typeof transport === "string" ? { transport } : asRecord(transport)),
    }),
    program: (started) => ({ transport: { type: "stdio", ...plain(started) } }),
    address: (url) => ({ transport: { type: "streamableHttp", url } }),
  },
  roo: typed("streamable-http"),
  gemini: {
    read: (entry) => withReferences(entry, /\$([A-Za-z_][A-Za-z0-9_]*)/g),
    program: plain,
    address: (httpUrl) => ({ httpUrl }),
  },
  warp: {
    read: ({ working_directory: cwd, ...entry }) => ({ ...entry, ...present({ cwd }) }),
    program: plain,
    address: (url) => ({ url }),
  },
  /** Older versions nest the program: `"command": { "path": …, "args": … }`. An entry without `command` and `url` belongs to an extension. */
  zed: {
    read({ source: _source, settings: _settings, ...entry }) {
      const { path, args, env } = asRecord(entry["command"]);
      if (path !== undefined) return { ...entry, ...present({ command: path, args, env }) };
      return entry["command"] === undefined && entry["url"] === undefined ? undefined : entry;
    },
    program: plain,
    address: (url) => ({ url }),
  },
  /** The entry contains the name, and secrets are written `${{ secrets.NAME }}`. */
  continue: {
    read({ name: _name, requestOptions, ...entry }) {
      const read = { ...entry, ...present({ headers: asRecord(requestOptions)["headers"] }) };
      return withReferences(read, /\${1,2}\{\{\s*secrets\.([A-Za-z0-9_]+)\s*\}\}/g);
    },
    program: (started) => ({ type: "stdio", ...plain(started) }),
    address: (url) => ({ type: "streamable-http", url }),
  },
  goose: {
    read({ type, cmd, args, envs, env_keys, uri, headers, timeout, enabled }) {
      const env = orNothing({ ...passedOn(env_keys), ...asRecord(envs) });
      const common = present({ env, timeout, ...(enabled === false && { enabled: false }) });
      if (type === "stdio") return present({ command: cmd, args, ...common });
      if (type === "streamable_http" || type === "sse")
        return present({ type: type === "sse" ? "sse" : "http", url: uri, headers, ...common });
      return undefined;
    },
    program: ({ command, args }) => ({ ...GOOSE, type: "stdio", cmd: command, args, envs: {} }),
    address: (uri) => ({ ...GOOSE, type: "streamable_http", uri, envs: {}, headers: {} }),
  },
  codex: {
    read({ http_headers, env_http_headers, bearer_token_env_var: bearer, env_vars, env, tool_timeout_sec, ...entry }) {
      const headers = {
        ...asRecord(http_headers),
        ...Object.fromEntries(Object.entries(asRecord(env_http_headers)).map(([key, name]) => [key, `\${${name}}`])),
        ...(typeof bearer === "string" && { Authorization: `Bearer \${${bearer}}` }),
      };
      const variables = orNothing({ ...passedOn(env_vars), ...asRecord(env) });
      const timeout = typeof tool_timeout_sec === "number" ? Math.ceil(tool_timeout_sec) : undefined;
      return { ...entry, ...present({ env: variables, headers: orNothing(headers), timeout }) };
    },
    program: plain,
    address: (url) => ({ url }),
  },
  /** One list contains the program and its arguments. */
  opencode: {
    read({ type, command, environment, enabled, url, headers }) {
      const [program, ...args] = asTexts(command);
      const common = present({ env: environment, headers, ...(enabled === false && { enabled }) });
      const read =
        type === "local"
          ? present({ command: program, args: args.length === 0 ? undefined : args, ...common })
          : type === "remote"
            ? present({ type: "http", url, ...common })
            : undefined;
      return read && withReferences(read, /\{env:([^}]+)\}/g);
    },
    program: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
    address: (url) => ({ type: "remote", url, enabled: true }),
  },
} as const satisfies Readonly<Record<string, EntryStyle>>;

const GOOSE = { enabled: true, name: "toolarsenal", description: "The tools of ToolArsenal.", timeout: 300 };

export type StyleName = keyof typeof STYLES;

export const styleOf = (name: StyleName): EntryStyle => STYLES[name];
