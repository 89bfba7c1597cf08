import { showValue } from "../../../errors/show-value.ts";
import { present } from "../../../base/present.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { SettingProblem } from "../source-adapter.ts";
import type { McpServerSettings, StdioSettings, WrittenMcpServer } from "./settings.ts";
import { identityProblem } from "./oauth/identity-grant.ts";
import { misplacedSecret } from "./upstream/misplaced-secret.ts";

/** Returns the settings with an explicit transport, or the reason why they are invalid. */
export function readServer(written: WrittenMcpServer): McpServerSettings | SettingProblem {
  const { command, args, env, cwd, limits, url, endpoint, headers, oauth, type, transport: given, ...rest } = written;
  const flat = { command, args, env, cwd, limits, url: url ?? endpoint, headers, oauth };
  const isNested = isPlainObject(given);
  const read = toTransport(
    isNested ? ({ ...given, type: given["kind"] } as FlatServer) : { ...flat, type: given ?? type },
  );
  if ("message" in read) return isNested ? { ...read, field: `transport.${read.field}` } : read;
  return misplacedSecret(read) ?? present({ ...rest, transport: read });
}

type FlatServer = {
  readonly [Key in "command" | "args" | "env" | "cwd" | "limits" | "url" | "headers" | "oauth" | "type"]?:
    | WrittenMcpServer[Key]
    | undefined;
};

const TYPES: readonly unknown[] = ["stdio", "http", "streamable-http", "sse", "ws", "websocket"];

function toTransport(server: FlatServer): McpServerSettings["transport"] | SettingProblem {
  const { type, command, url, headers, oauth } = server;
  if (type !== undefined && !TYPES.includes(type)) {
    const fix = "Use one of stdio, http, sse, websocket.";
    return { field: "kind", value: type, message: `is ${showValue(type)}, which is not a transport`, fix };
  }
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
  if (server.limits !== undefined) {
    const fix = "Remove limits, or start the server with command:.";
    return { field: "limits", value: server.limits, message: "cannot be set for a remote server", fix };
  }
  if (socket) return present({ kind: "websocket", url, headers });
  const problem = oauth && identityProblem(oauth);
  return problem ?? present({ kind: type === "sse" ? "sse" : "http", url, headers, oauth });
}

function toStdio({ command, args = [], env, cwd, limits }: FlatServer): StdioSettings | SettingProblem {
  const [program = "", ...first] = typeof command === "string" ? [command] : (command ?? []);
  if (program === "")
    return { field: "command", message: "is missing", fix: "Write command: with the program that runs the server." };
  const all = [...first, ...args];
  return present({ kind: "stdio", command: program, args: all.length === 0 ? undefined : all, env, cwd, limits });
}

/** Returns an address without password, query and fragment. */
function withoutSecrets(url: string): string {
  return url.replace(/\/\/[^@/]*@/, "//…@").replace(/[?#].*$/s, "?…");
}
