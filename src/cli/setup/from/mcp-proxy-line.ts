import { basename } from "node:path";
import { present } from "../../../base/present.ts";
import type { ServerEntry } from "../entry-styles.ts";
import type { LeftOut, Reason } from "./carried.ts";
import { shellCommands } from "./shell-words.ts";

/** A server that a command line of mcp-proxy starts or connects to. */
export interface ProxiedServer {
  /** From `--named-server`, or else derived from the program or address. */
  readonly name: string;
  readonly entry: ServerEntry;
}

const ADDRESS: Reason = [
  "all servers share the gateway's address",
  "Set it with toolarsenal serve --host HOST --port PORT.",
];
const PATHS: Reason = ["paths are fixed: /mcp, /sse and /mcp/upstreams/NAME", "Change the address in your clients."];
const CERTIFICATES: Reason = ["certificates belong to the gateway", "Name them under server: tls:."];
const ORIGINS: Reason = ["origins belong to the gateway", "List them under server: allowed_origins:."];
const SERVED: Reason = ["the gateway serves both eras, with sessions that resume", "Nothing to do."];
const TUNNEL: Reason = ["the gateway opens no tunnel", "Use a tunnel of your own in front of it."];
const LOGGING: Reason = ["logging belongs to the gateway", "Set telemetry: level: in arsenal.yaml."];

/** Options of both programs named mcp-proxy that setup cannot write, with the number of words after each. */
const LEFT_OUT: Readonly<Record<string, readonly [words: number, reason: Reason]>> = {
  "--port": [1, ADDRESS],
  "--host": [1, ADDRESS],
  "--sse-port": [1, ADDRESS],
  "--sse-host": [1, ADDRESS],
  "--server": [1, PATHS],
  "--endpoint": [1, PATHS],
  "--sseEndpoint": [1, PATHS],
  "--streamEndpoint": [1, PATHS],
  "--stateless": [0, SERVED],
  "--no-stateless": [0, SERVED],
  "--modern": [0, SERVED],
  "--no-modern": [0, SERVED],
  "--eventStore": [0, SERVED],
  "--no-eventStore": [0, SERVED],
  "--eventStoreMaxEvents": [1, SERVED],
  "--upstreamProtocol": [1, ["the protocol of each server is found out", "Nothing to do."]],
  "--keepAliveTimeout": [1, SERVED],
  "--gracefulShutdownTimeout": [1, SERVED],
  "--maxBodySize": [1, ["the size of requests is limited by the gateway", "Nothing to do, unless yours are larger."]],
  "--apiKey": [1, ["keys are stored as hashes here", "Create one for each caller: toolarsenal keys create."]],
  "--sslCa": [1, CERTIFICATES],
  "--sslCert": [1, CERTIFICATES],
  "--sslKey": [1, CERTIFICATES],
  "--tunnel": [0, TUNNEL],
  "--tunnelSubdomain": [1, TUNNEL],
  "--corsAddAllowedHeader": [1, ORIGINS],
  "--allow-origin": [1, ORIGINS],
  "--expose-header": [1, ORIGINS],
  "--debug": [0, LOGGING],
  "--no-debug": [0, LOGGING],
  "--log-level": [1, LOGGING],
  "--pass-environment": [
    0,
    ["a program gets only PATH, HOME, the locale and what its entry names", "Name further variables under env:."],
  ],
  "--no-pass-environment": [0, ["this is what the gateway does", "Nothing to do."]],
  "--verify-ssl": [1, ["certificates are always checked", "Add your own authority with NODE_EXTRA_CA_CERTS=FILE."]],
  "--no-verify-ssl": [0, ["certificates are always checked", "Add your own authority with NODE_EXTRA_CA_CERTS=FILE."]],
  "--token-url": [1, ["the token endpoint is found in the server's metadata", "Nothing to do."]],
};

/** Options that setup can write, with the number of words after each. */
const CARRIED: Readonly<Record<string, number>> = {
  "--shell": 0,
  "--cwd": 1,
  "--transport": 1,
  "--client-id": 1,
  "--client-secret": 1,
  "--requestTimeout": 1,
  "--connectionTimeout": 1,
  "--env": 2,
  "--headers": 2,
  "--named-server": 2,
  "--named-server-config": 1,
};
const SHORT: Readonly<Record<string, string>> = { "-e": "--env", "-H": "--headers" };

/** Returns the words after mcp-proxy in a command; undefined if the command starts another program. */
export function proxyArguments(words: readonly string[]): readonly string[] | undefined {
  const isProxy = (word: string): boolean => /^mcp-proxy(@[\w.^~-]+)?$/.test(basename(word));
  const at = words.findIndex(isProxy);
  const runners = /^(?:npx|bunx|pnpx|pnpm|yarn|uvx|uv|pipx|exec|sudo|env|nohup|dlx|run|x|tool|--yes|-y|--)$/;
  return at !== -1 && words.slice(0, at).every((word) => runners.test(basename(word)))
    ? words.slice(at + 1)
    : undefined;
}

interface ProxyLine {
  /** The values of each supported option. */
  readonly options: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** The command line of the server itself, or its address. */
  readonly command: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

function parseLine(given: readonly string[], field: string): ProxyLine {
  const leftOut: LeftOut[] = [];
  const options = new Map<string, (readonly string[])[]>();
  const command: string[] = [];
  const separator = given.indexOf("--");
  const own = separator === -1 ? given : given.slice(0, separator);
  const words = own.flatMap((word) => {
    const [, option = "", value = ""] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
    return option in LEFT_OUT || option in CARRIED ? [option, value] : [word];
  });
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const option = SHORT[word] ?? word;
    const left = LEFT_OUT[option];
    const count = left?.[0] ?? CARRIED[option];
    if (count === undefined) {
      command.push(word);
      continue;
    }
    if (left === undefined) options.set(option, [...(options.get(option) ?? []), words.slice(at + 1, at + 1 + count)]);
    else leftOut.push({ field: `${field}: ${option}`, reason: left[1][0], instead: left[1][1] });
    at += count;
  }
  if (separator !== -1) command.push(...given.slice(separator + 1));
  return { options, command, leftOut };
}

/** Parses one command line of mcp-proxy. Two programs have this name, one from npm and one from PyPI. */
export function readProxyLine(
  words: readonly string[],
  { field, env = {} }: { readonly field: string; readonly env?: Readonly<Record<string, unknown>> },
): { readonly servers: readonly ProxiedServer[]; readonly leftOut: readonly LeftOut[] } {
  const line = parseLine(words, field);
  const { options, command } = line;
  const leftOut = [...line.leftOut];
  const leave = (option: string, reason: string, instead: string): void =>
    void leftOut.push({ field: `${field}: ${option}`, reason, instead });
  for (const [file = ""] of options.get("--named-server-config") ?? [])
    leave("--named-server-config", "its servers are in a file of their own", `Run setup --from ${file} too.`);
  const servers = (options.get("--named-server") ?? []).map(([name = "", text = ""]): ProxiedServer => {
    const [executable = "", ...args] = shellCommands(text)[0]?.words ?? [];
    return { name, entry: present({ command: executable, args, env: orNothing(env) }) };
  });
  const [first, ...rest] = command;
  if (first === undefined)
    for (const option of ["--env", "--cwd", "--headers"].filter((each) => options.has(each))) {
      const reason = "it is for the server that follows the options, and none follows";
      leave(option, reason, "Write it into the entry of the server that needs it.");
    }
  else
    servers.push(/^https?:\/\//.test(first) ? remoteServer(first, line, env) : startedServer(first, rest, line, env));
  return { servers, leftOut };
}

const last = ({ options }: ProxyLine, option: string): string | undefined => options.get(option)?.at(-1)?.[0];

const pairs = ({ options }: ProxyLine, option: string): Readonly<Record<string, string>> =>
  Object.fromEntries((options.get(option) ?? []).map(([key = "", value = ""]) => [key, value]));

function timeouts(line: ProxyLine): Readonly<Record<string, number | undefined>> {
  const read = (option: string): number | undefined => Number(last(line, option)) || undefined;
  return { timeout_ms: read("--requestTimeout"), connect_timeout_ms: read("--connectionTimeout") };
}

/** Returns the server at an address, which mcp-proxy serves over stdio. */
function remoteServer(url: string, line: ProxyLine, env: Readonly<Record<string, unknown>>): ProxiedServer {
  const { API_ACCESS_TOKEN: token } = env;
  const headers = {
    ...(typeof token === "string" && { Authorization: `Bearer ${token}` }),
    ...pairs(line, "--headers"),
  };
  const clientId = last(line, "--client-id");
  const oauth =
    clientId === undefined
      ? undefined
      : present({ clientId, clientSecret: last(line, "--client-secret"), grant: "client_credentials" });
  const type = last(line, "--transport") === "streamablehttp" ? "http" : "sse";
  const entry = present({ type, url, headers: orNothing(headers), oauth, ...timeouts(line) });
  return { name: URL.canParse(url) ? new URL(url).hostname : "server", entry };
}

/** Returns the program that mcp-proxy serves over HTTP. */
function startedServer(
  executable: string,
  args: readonly string[],
  line: ProxyLine,
  env: Readonly<Record<string, unknown>>,
): ProxiedServer {
  const started = line.options.has("--shell")
    ? { command: "sh", args: ["-c", [executable, ...args].join(" ")] }
    : { command: executable, args };
  const variables = orNothing({ ...env, ...pairs(line, "--env") });
  const entry = present({ ...started, env: variables, cwd: last(line, "--cwd"), ...timeouts(line) });
  return { name: programName([executable, ...args]), entry };
}

function orNothing(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  return Object.keys(members).length === 0 ? undefined : members;
}

/** Derives a name from a program: `npx -y @scope/server-git@1.2.0 /srv` becomes `server-git`, `node ./build/index.js` becomes `index`. */
function programName(words: readonly string[]): string {
  const runners = /^(?:npx|bunx|pnpx|uvx|uv|pipx|node|tsx|bun|deno|python3?|sh|bash|run|exec|dlx|tool)$/;
  const found = words.find((word) => !word.startsWith("-") && !runners.test(basename(word))) ?? words[0] ?? "server";
  return (
    basename(found)
      .replace(/(?<=.)@[^@/]*$/, "")
      .replace(/\.(?:[cm]?[jt]s|py)$/, "") || "server"
  );
}
