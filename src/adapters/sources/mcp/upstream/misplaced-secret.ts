import { fixable } from "../../../../errors/arsenal-error.ts";
import { isPerCaller, readReference } from "../../../../guard/secrets/reference.ts";
import type { HttpSettings, McpServerSettings, StdioSettings, WebSocketSettings } from "../settings.ts";

type Transport = McpServerSettings["transport"];

interface MisplacedSecret {
  readonly field: string;
  readonly message: string;
  readonly fix: string;
}

/** Returns the first secret reference in a setting that cannot hold one; undefined if there is none. */
export function misplacedSecret(transport: Transport): MisplacedSecret | undefined {
  return transport.kind === "stdio" ? inProgram(transport) : inAddress(transport);
}

export function refuseMisplaced({ name, transport }: McpServerSettings): void {
  const found = misplacedSecret(transport);
  if (found === undefined) return;
  const { field, message, fix } = found;
  throw fixable("CONFIG_INVALID", `${field} of the MCP server "${name}" ${message}.`, fix, { field });
}

/** True if each caller has their own credentials for the server. */
export function hasOwnCredentials({ transport }: McpServerSettings): boolean {
  if (transport.kind === "stdio") return false;
  const { identity } = (transport.kind !== "websocket" && transport.oauth) || {};
  return [...Object.values(transport.headers ?? {}), identity?.token ?? ""].some(isPerCaller);
}

function inProgram({ command, args = [], cwd = "", env = {} }: StdioSettings): MisplacedSecret | undefined {
  if ([command, cwd].some(hasInside) || args.some((text) => hasInside(text) || isReference(text)))
    return {
      field: "args",
      message: "refers to a secret, but every user of this machine can read a program's arguments",
      fix: "Give it to the server as a variable, under env.",
    };
  const shared = Object.entries(env).find(([, text]) => isPerCaller(text));
  if (shared === undefined) return undefined;
  return {
    field: `env.${shared[0]}`,
    message: "depends on the caller, but one process serves all callers",
    fix: "Use a server that is reached over HTTP, or write a reference without {principal} and {tenant}.",
  };
}

function inAddress(transport: HttpSettings | WebSocketSettings): MisplacedSecret | undefined {
  if (hasInside(transport.url))
    return {
      field: "url",
      message: "refers to a secret, but addresses are shown and logged",
      fix: "Give it to the server as a header, under headers.",
    };
  if (transport.kind === "websocket" || !isPerCaller(transport.oauth?.clientSecret ?? "")) return undefined;
  return {
    field: "oauth.client_secret",
    message: "depends on the caller, but one login serves all callers",
    fix: "Give each caller a token of their own under headers.",
  };
}

const hasInside = (text: string): boolean => text.includes("${secret:");

/** Excludes `file:`, because programs use it for their own addresses, and a path is not secret. */
function isReference(text: string): boolean {
  const reference = readReference(text);
  return reference !== undefined && reference.kind !== "file";
}
