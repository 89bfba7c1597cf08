import { ArsenalError } from "../../errors/arsenal-error.ts";

/** The most MCP servers that one configuration may have. */
const MAX_SERVERS = 1_000;

/** Throws `CONFIG_INVALID` for more servers than a configuration may have. */
export function refuseTooManyServers(count: number): void {
  if (count <= MAX_SERVERS) return;
  const [given, limit] = [count, MAX_SERVERS].map((each) => each.toLocaleString("en"));
  const fix = "Remove some, or run several gateways.";
  const message = `${given} MCP servers are configured, and at most ${limit} are allowed. ${fix}`;
  throw new ArsenalError("CONFIG_INVALID", message, { field: "mcpServers", value: count, fix });
}

/** Why one configured MCP server is left out. The others are not affected. */
export interface ServerProblem {
  /** The server's name as it was written. */
  readonly server: string;
  /** Dotted, from the server's own entry: `url`, `env.TOKEN`. */
  readonly field: string;
  /** As it was written; absent where it may be a secret. */
  readonly value?: unknown;
  readonly message: string;
  readonly fix: string;
  /** The file that has it, where there are several. */
  readonly file?: string;
}

/** What is said of a server that is used all the same. */
export interface ServerNote {
  readonly server: string;
  readonly message: string;
  readonly file?: string;
}

/** A problem on one line: `github (mcp.json): url is "htp:/x", which is no address. Write …` */
export function showProblem({ server, file, field, message, fix }: ServerProblem): string {
  return `${server}${file === undefined ? "" : ` (${file})`}: ${field} ${message}. ${fix}`;
}
