import type { McpServerSettings } from "../../adapters/sources/mcp/settings.ts";
import type { Emit } from "../../observe/events.ts";
import type { Source } from "../../register/source.port.ts";
import type { ServerProblem } from "../clients/server-problem.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";
import type { ConfiguredExecutors } from "./configured-executors.ts";
import { type DocumentReport, type DocumentTaker, loadDocuments } from "./load-documents.ts";

/** What starting an arsenal began and does not wait for. */
export interface Started {
  /** Resolves once every configured OpenAPI document has been read, with how each one fared. Never rejects. */
  readonly documents: Promise<readonly DocumentReport[]>;
}

/** The part of an arsenal that its configuration fills. */
export interface Startable extends DocumentTaker {
  readonly emit: Emit;
  isClosed(): boolean;
  addEnsemble(source: Source): Promise<unknown>;
  /** Returns at once; the server is retried in the background. */
  addMcpServer(server: McpServerSettings): Promise<unknown>;
}

/**
 * Checks that the sandboxes work, adds the built-in tools, reads local OpenAPI documents, and begins to connect MCP servers and to fetch other
 * documents. Invalid servers and documents are reported by events; the rest still load. Rejects only if a sandbox or the built-in tools fail.
 */
export async function startConfigured(
  config: ResolvedConfig,
  own: Pick<ConfiguredExecutors, "check"> & { readonly builtins: Source | undefined },
  arsenal: Startable,
): Promise<Started> {
  const { emit, isClosed, addEnsemble, addMcpServer } = arsenal;
  const report = (problems: readonly ServerProblem[]): void => {
    for (const { server, field, message, fix } of problems)
      emit("ensemble-failed", { ensemble: server, message: `${field} ${message}. ${fix}` });
  };

  await own.check();
  if (own.builtins !== undefined && !isClosed()) await addEnsemble(own.builtins);
  let documents: Started["documents"] = Promise.resolve([]);
  if (config.openapi.length > 0) {
    const { toOpenApis } = await import("../openapi-config.ts");
    const found = toOpenApis(config);
    report(found.problems);
    if (!isClosed()) documents = (await loadDocuments(arsenal, found.documents)).reports;
  }
  if (config.mcp.servers.length > 0) {
    const { toMcpServers } = await import("../clients/mcp-servers.ts");
    const { servers, problems } = toMcpServers(config);
    report(problems);
    for (const server of servers) if (!isClosed()) await addMcpServer(server);
  }
  return { documents };
}
