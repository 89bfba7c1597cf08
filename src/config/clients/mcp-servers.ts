import type { HttpSettings, McpServerSettings, StdioSettings } from "../../adapters/sources/mcp/settings.ts";
import { misplacedSecret } from "../../adapters/sources/mcp/upstream/misplaced-secret.ts";
import { showValue } from "../../errors/show-value.ts";
import { toNamespace } from "../../tool/normalise/slug.ts";
import type { McpServerConfig } from "../config.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";
import type { ServerProblem } from "./server-problem.ts";

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
    if (server.disabled === true) continue;
    const { name: writtenAs } = server;
    const name = toNamespace(writtenAs);
    const refuse = (problem: Omit<ServerProblem, "server">): void =>
      void problems.push({ server: writtenAs, ...problem });
    const earlier = servers.get(name);
    if (earlier !== undefined) {
      const as = earlier.writtenAs === writtenAs ? "" : ` (as ${showValue(earlier.writtenAs)}, which reads the same)`;
      const message = `is ${showValue(writtenAs)}, and another MCP server already has that name${as}`;
      refuse({ field: "name", value: writtenAs, message, fix: "Give each server its own name." });
      continue;
    }
    const transport = toTransport(server);
    if ("message" in transport) {
      refuse(transport);
      continue;
    }
    const misplaced = misplacedSecret(transport);
    if (misplaced !== undefined) {
      refuse(misplaced);
      continue;
    }
    const { namespace, timeoutMs, connectTimeoutMs, maxConcurrent, maxMessageBytes, maxTools, trustAnnotations } =
      server;
    servers.set(name, {
      name,
      writtenAs,
      transport,
      ...(namespace === undefined ? {} : { namespace: toNamespace(namespace) }),
      ...(trustAnnotations === undefined ? {} : { trustAnnotations }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
      ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
      ...(maxMessageBytes === undefined ? {} : { maxMessageBytes }),
      ...(maxTools === undefined ? {} : { maxTools }),
    });
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
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const socket = type === "ws" || type === "websocket" || (type === undefined && /^wss?:/i.test(url));
  const schemes = socket ? ["ws:", "wss:"] : ["http:", "https:"];
  if (address === undefined || !schemes.includes(address.protocol)) {
    const value = withoutSecrets(url);
    const start = socket ? "ws:// or wss://" : "http:// or https://";
    const kind = socket ? "a WebSocket" : "HTTP";
    return {
      field: "url",
      value,
      message: `is ${showValue(value)}, which is no address of ${kind}`,
      fix: `Write an address that starts with ${start}.`,
    };
  }
  const sent = headers === undefined ? {} : { headers };
  if (socket) return { kind: "websocket", url, ...sent };
  const kind: HttpSettings["kind"] = type === "sse" ? "sse" : "http";
  return { kind, url, ...sent, ...(oauth === undefined ? {} : { oauth }) };
}

function toStdio({ command, args = [], env, cwd }: McpServerConfig): StdioSettings | Problem {
  const [program = "", ...first] = typeof command === "string" ? [command] : (command ?? []);
  if (program === "")
    return { field: "command", message: "is missing", fix: "Write command:, the program that is the server." };
  const all = [...first, ...args];
  return {
    kind: "stdio",
    command: program,
    ...(all.length === 0 ? {} : { args: all }),
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/** An address as it may be shown: without a password in it, or what follows the path. */
function withoutSecrets(url: string): string {
  return url.replace(/\/\/[^@/]*@/, "//…@").replace(/[?#].*$/s, "?…");
}
