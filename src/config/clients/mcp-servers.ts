import type { McpServerSettings, StdioSettings } from "../../adapters/sources/mcp/settings.ts";
import { misplacedSecret } from "../../adapters/sources/mcp/upstream/misplaced-secret.ts";
import { showValue } from "../../errors/show-value.ts";
import { present } from "../../tool/present.ts";
import { toNamespace } from "../../tool/normalise/slug.ts";
import type { McpServerConfig } from "../config.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";
import { nameTaken, type ServerProblem } from "./server-problem.ts";

/** A configured server: its name fits a namespace and an address, and the one that was written is kept. */
export interface ConfiguredMcpServer extends McpServerSettings {
  readonly writtenAs: string;
}

/** The servers a configuration names, as the arsenal takes them. A bad one is reported, and the others are there all the same. */
export function toMcpServers(config: Pick<ResolvedConfig, "mcp">): {
  readonly servers: readonly ConfiguredMcpServer[];
  readonly problems: readonly ServerProblem[];
} {
  const servers = new Map<string, ConfiguredMcpServer>();
  const problems: ServerProblem[] = [];
  for (const server of config.mcp.servers) {
    const { name: writtenAs, disabled, namespace, timeoutMs, connectTimeoutMs, maxConcurrent, ...rest } = server;
    if (disabled === true) continue;
    const name = toNamespace(writtenAs);
    const earlier = servers.get(name)?.writtenAs;
    const read = toTransport(server);
    const transport = "message" in read ? read : (misplacedSecret(read) ?? read);
    if (earlier !== undefined) {
      const as = earlier === writtenAs ? "" : ` (as ${showValue(earlier)}, which reads the same)`;
      problems.push(nameTaken(writtenAs, "MCP server", as));
    } else if ("message" in transport) problems.push({ server: writtenAs, ...transport });
    else {
      const own = namespace === undefined ? undefined : toNamespace(namespace);
      const { maxMessageBytes, maxTools, trustAnnotations } = rest;
      const limits = { timeoutMs, connectTimeoutMs, maxConcurrent, maxMessageBytes, maxTools };
      servers.set(name, present({ name, writtenAs, transport, namespace: own, trustAnnotations, ...limits }));
    }
  }
  return { servers: [...servers.values()], problems };
}

type Problem = Omit<ServerProblem, "server">;

function toTransport(server: McpServerConfig): McpServerSettings["transport"] | Problem {
  const { type, command, url = server.endpoint, headers, oauth } = server;
  if (type === "stdio" || (type === undefined && command !== undefined)) return toStdio(server);
  if (url === undefined) {
    return type === undefined
      ? {
          field: "command",
          message: "is missing, and so is url",
          fix: "Write command: for a program, or url: for an address.",
        }
      : { field: "url", message: `is missing, and type is ${type}`, fix: "Write url:, the server's address." };
  }
  const socket = type === "ws" || type === "websocket" || (type === undefined && /^wss?:/i.test(url));
  const schemes = socket ? ["ws:", "wss:"] : ["http:", "https:"];
  if (!schemes.includes(URL.parse(url)?.protocol ?? "")) {
    const value = withoutSecrets(url);
    const message = `is ${showValue(value)}, which is not an address of ${socket ? "a WebSocket" : "HTTP"}`;
    const fix = `Write an address that starts with ${schemes.map((scheme) => `${scheme}//`).join(" or ")}.`;
    return { field: "url", value, message, fix };
  }
  if (socket) return present({ kind: "websocket", url, headers });
  return present({ kind: type === "sse" ? "sse" : "http", url, headers, oauth });
}

function toStdio({ command, args = [], env, cwd }: McpServerConfig): StdioSettings | Problem {
  const [program = "", ...first] = typeof command === "string" ? [command] : (command ?? []);
  if (program === "")
    return { field: "command", message: "is missing", fix: "Write command:, the program that is the server." };
  const all = [...first, ...args];
  return present({ kind: "stdio", command: program, args: all.length === 0 ? undefined : all, env, cwd });
}

/** An address as it may be shown: without a password in it, or what follows the path. */
function withoutSecrets(url: string): string {
  return url.replace(/\/\/[^@/]*@/, "//…@").replace(/[?#].*$/s, "?…");
}
