import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";

/** The most MCP servers that one configuration may have. */
const MAX_SERVERS = 1_000;

/** Throws `CONFIG_INVALID` for more servers than a configuration may have. */
export function refuseTooManyServers(count: number): void {
  if (count <= MAX_SERVERS) return;
  const [given, limit] = [count, MAX_SERVERS].map((each) => each.toLocaleString("en"));
  const problem = `${given} MCP servers are configured, and at most ${limit} are allowed.`;
  const fix = "Remove some, or run several gateways.";
  throw fixable("CONFIG_INVALID", problem, fix, { field: "mcpServers", value: count });
}

/** The reason why one configured MCP server is left out. The others are not affected. */
export interface ServerProblem {
  /** The server's name as it was written. */
  readonly server: string;
  /** Dotted, from the server's own entry: `url`, `env.TOKEN`. */
  readonly field: string;
  /** The value as it was written; omitted if it may be a secret. */
  readonly value?: unknown;
  readonly message: string;
  readonly fix: string;
  /** The file that contains the server, if there are several files. */
  readonly file?: string;
}

/** The problem of a server whose name is already taken. `what` names the other servers. */
export function nameTaken(server: string, what: string, more = ""): ServerProblem {
  const message = `is ${showValue(server)}, and another ${what} already has that name${more}`;
  return { server, field: "name", value: server, message, fix: "Give each its own name." };
}

/** A remark on a server that is used anyway. */
export interface ServerNote {
  readonly server: string;
  readonly message: string;
  readonly file?: string;
}

/** A problem on one line: `github (mcp.json): url is "htp:/x", which is not an address. Write …` */
export function showProblem({ server, file, field, message, fix }: ServerProblem): string {
  return `${server}${file === undefined ? "" : ` (${file})`}: ${field} ${message}. ${fix}`;
}
