import type { McpServerSettings } from "../adapters/sources/mcp/settings.ts";
import type { BuiltinParts } from "../adapters/sources/builtin/settings.ts";
import type { Emit } from "../observe/events.ts";
import type { Source } from "../register/source.port.ts";
import { configuredBuiltins } from "./configured-builtins.ts";
import type { ConfiguredExecutors } from "./configured-executors.ts";
import type { ResolvedConfig } from "./resolve-config.ts";

/** What of an arsenal its configuration fills. */
export interface Startable extends BuiltinParts {
  readonly emit: Emit;
  isClosed(): boolean;
  addEnsemble(source: Source): Promise<unknown>;
  /** Returns at once: the server is tried until it comes. */
  addMcpServer(server: McpServerSettings): Promise<unknown>;
}

/**
 * Checks that the sandboxes work, adds the built-in tools and begins to connect the MCP servers; undefined where nothing of that is configured.
 * A server that is wrong is told of and leaves the others be. Whoever needs the arsenal must wait for it: what it rejects with is told by
 * nobody else.
 */
export function startConfigured(
  config: ResolvedConfig,
  { check, codeSandbox }: ConfiguredExecutors,
  arsenal: Startable,
): Promise<void> | undefined {
  const { emit, isClosed, addEnsemble, addMcpServer, ...parts } = arsenal;
  const builtins = configuredBuiltins(config, { ...parts, codeSandbox });
  const hasServers = config.mcp.servers.length > 0;
  if (!config.execution.enableSandbox && builtins === undefined && !hasServers) return undefined;

  async function start(): Promise<void> {
    await check();
    if (builtins !== undefined && !isClosed()) await addEnsemble(builtins);
    if (!hasServers) return;
    const { toMcpServers } = await import("./mcp-servers.ts");
    const { servers, problems } = toMcpServers(config);
    for (const { server, message, fix } of problems)
      emit("ensemble-failed", { ensemble: server, message: `${message}. ${fix}` });
    for (const server of servers) if (!isClosed()) await addMcpServer(server);
  }

  const started = start();
  started.catch(() => {});
  return started;
}
