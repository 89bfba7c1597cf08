import type { McpServerSettings } from "../../adapters/sources/mcp/settings.ts";
import type { OpenApiSettings } from "../../adapters/sources/openapi/settings.ts";
import type { BuiltinParts } from "../../adapters/sources/builtin/settings.ts";
import type { Emit } from "../../observe/events.ts";
import type { Source } from "../../register/source.port.ts";
import { configuredBuiltins } from "./configured-builtins.ts";
import type { ConfiguredExecutors } from "./configured-executors.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";
import type { ServerProblem } from "../clients/server-problem.ts";

/** What of an arsenal its configuration fills. */
export interface Startable extends BuiltinParts {
  readonly emit: Emit;
  isClosed(): boolean;
  addEnsemble(source: Source): Promise<unknown>;
  /** Returns at once: the server is tried until it comes. */
  addMcpServer(server: McpServerSettings): Promise<unknown>;
  addOpenApi(settings: OpenApiSettings): Promise<unknown>;
}

/**
 * Checks that the sandboxes work, adds the built-in tools, reads local OpenAPI documents and begins to connect MCP servers and to fetch other
 * documents. Undefined if nothing of this is configured. An invalid server or document is reported by an event; the others still load.
 * Callers must await the result before they use the arsenal: a rejection is reported nowhere else.
 */
export function startConfigured(
  config: ResolvedConfig,
  { check, codeSandbox }: ConfiguredExecutors,
  arsenal: Startable,
): Promise<void> | undefined {
  const { emit, isClosed, addEnsemble, addMcpServer, addOpenApi, ...parts } = arsenal;
  const builtins = configuredBuiltins(config, { ...parts, codeSandbox });
  const hasServers = config.mcp.servers.length > 0;
  const hasDocuments = config.openapi.length > 0;
  if (!config.execution.enableSandbox && builtins === undefined && !hasServers && !hasDocuments) return undefined;
  const report = (problems: readonly ServerProblem[]): void => {
    for (const { server, field, message, fix } of problems)
      emit("ensemble-failed", { ensemble: server, message: `${field} ${message}. ${fix}` });
  };

  async function start(): Promise<void> {
    await check();
    if (builtins !== undefined && !isClosed()) await addEnsemble(builtins);
    if (hasDocuments) await startDocuments();
    if (!hasServers) return;
    const { toMcpServers } = await import("../clients/mcp-servers.ts");
    const { servers, problems } = toMcpServers(config);
    report(problems);
    for (const server of servers) if (!isClosed()) await addMcpServer(server);
  }

  /** Files are waited for; an address may be slow, and must not hold up everything else. */
  async function startDocuments(): Promise<void> {
    const { isLocalDocument, toOpenApis } = await import("../openapi-config.ts");
    const { documents, problems } = toOpenApis(config);
    report(problems);
    const started = documents.map(async ({ settings }) => {
      // What goes wrong is an event already.
      const added = isClosed() ? undefined : addOpenApi(settings).catch(() => {});
      if (isLocalDocument(settings.document)) await added;
    });
    await Promise.all(started);
  }

  const started = start();
  started.catch(() => {});
  return started;
}
