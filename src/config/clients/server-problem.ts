import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";

const MAX_SERVERS = 1_000;

export function refuseTooManyServers(count: number): void {
  if (count <= MAX_SERVERS) return;
  const [given, limit] = [count, MAX_SERVERS].map((each) => each.toLocaleString("en"));
  const problem = `${given} MCP servers are configured, and at most ${limit} are allowed.`;
  const fix = "Remove some, or run several gateways.";
  throw fixable("CONFIG_INVALID", problem, fix, { field: "mcpServers", value: count });
}

/** Why one configured MCP server is skipped. Other servers are not affected. */
export interface ServerProblem {
  readonly server: string;
  /** The path of the field in the server's entry, with dots: `url`, `env.TOKEN`. */
  readonly field: string;
  /** The value as written. Omitted if it may be a secret. */
  readonly value?: unknown;
  readonly message: string;
  readonly fix: string;
  /** The file that contains the server. Present if there are several files. */
  readonly file?: string;
}

/** Returns the problem of a server whose name is taken. `what` describes the other servers. */
export function nameTaken(server: string, what: string, more = ""): ServerProblem {
  const message = `is ${showValue(server)}, and another ${what} already has that name${more}`;
  return { server, field: "name", value: server, message, fix: "Give each its own name." };
}

/** A remark on a server that is still used. */
export interface ServerNote {
  readonly server: string;
  readonly message: string;
  readonly file?: string;
}

/** Formats a problem on one line: `github (mcp.json): url is "htp:/x", which is not an address. Write …` */
export function showProblem({ server, file, field, message, fix }: ServerProblem): string {
  return `${server}${file === undefined ? "" : ` (${file})`}: ${field} ${message}. ${fix}`;
}
