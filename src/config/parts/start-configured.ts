import type { A2aAgentSettings, AddAgentOptions } from "../../adapters/sources/a2a/settings.ts";
import type { BuiltinParts, BuiltinSettings } from "../../adapters/sources/builtin/settings.ts";
import type { McpServerSettings } from "../../adapters/sources/mcp/settings.ts";
import type { OpenApiSettings } from "../../adapters/sources/openapi/settings.ts";
import type { Invocables } from "../../adapters/sources/descriptor/invocable.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import type { Source } from "../../register/source.port.ts";
import { toNamespace } from "../../tool/normalise/slug.ts";
import { present } from "../../tool/present.ts";
import type { ServerProblem } from "../clients/server-problem.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";
import { type ConfiguredDocument, isLocalDocument, toA2aAgents, toOpenApis } from "../api-config.ts";
import type { EnsembleReport } from "./configured-ensembles.ts";
import type { ConfiguredExecutors } from "./configured-executors.ts";

/** What starting an arsenal began and does not wait for. */
export interface Started {
  /** Resolves once every configured OpenAPI document, source file and agent card has been read, with how each one fared. Never rejects. */
  readonly documents: Promise<readonly DocumentReport[]>;
  /** How each configured ensemble fared. */
  readonly ensembles: readonly EnsembleReport[];
  /** Ends what is still under way. */
  close(): Promise<void>;
}

/** The part of an arsenal that its configuration fills. */
interface Startable {
  readonly emit: Emit;
  isClosed(): boolean;
  /** Each returns how many tools came. */
  addEnsemble(source: Source): Promise<number>;
  addOpenApi(settings: OpenApiSettings): Promise<number>;
  addA2aAgent(settings: A2aAgentSettings, options?: AddAgentOptions): Promise<number>;
  /** Returns at once; the server is retried in the background. */
  addMcpServer(server: McpServerSettings): Promise<unknown>;
}

/** Checks the sandboxes and adds everything configured; servers, agents and remote documents connect in the background. Rejects only if a sandbox or a built-in tool fails. */
export async function startConfigured(
  config: ResolvedConfig,
  own: Pick<ConfiguredExecutors, "check" | "codeSandbox"> &
    BuiltinParts & { readonly clock: Clock; readonly handlers?: Invocables | undefined },
  arsenal: Startable,
): Promise<Started> {
  const { emit, isClosed, addEnsemble, addMcpServer } = arsenal;
  const report = (problems: readonly ServerProblem[]): void => {
    for (const { server, field, message, fix } of problems)
      emit("ensemble-failed", { ensemble: server, message: `${field} ${message}. ${fix}` });
  };

  await own.check();
  if (config.builtins.tools.length > 0) {
    const { builtinSource } = await import("../../adapters/sources/builtin/builtin.ts");
    const { codeSandbox: sandbox } = own;
    // The key was checked to be a reference when the configuration was read.
    const settings = { ...config.builtins, code: present({ sandbox }) } as BuiltinSettings;
    const { ownFiles } = await import("../load/own-files.ts");
    if (!isClosed()) await addEnsemble(builtinSource(settings, { ...own, ownFiles: ownFiles(config) }));
  }
  const scripts: DocumentReport[] = [];
  if (config.scripts.length > 0) {
    const { scriptsSource } = await import("../../adapters/sources/scripts/scripts.ts");
    for (const { disabled = false, name, namespace, ...rest } of config.scripts) {
      if (disabled || isClosed()) continue;
      const renamed = namespace === undefined ? {} : { namespace: toNamespace(namespace) };
      const source = scriptsSource({ ...rest, ...renamed, name: toNamespace(name) }, own);
      scripts.push(await loaded("files", source.name, rest.paths.join(", "), () => addEnsemble(source)));
    }
  }
  let documents: Started["documents"] = Promise.resolve([]);
  if (config.openapi.length > 0) {
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
  let cards: Started["documents"] = Promise.resolve([]);
  if (config.a2a.agents.length > 0) {
    const { agents, problems } = toA2aAgents(config);
    report(problems);
    if (!isClosed()) cards = connectAgents(arsenal, agents);
  }
  const all = Promise.all([documents, cards]).then((reports) => [...scripts, ...reports.flat()]);
  if (config.ensembles.length === 0 || isClosed()) return { documents: all, ensembles: [], close: async () => {} };
  // Last, so that a name that a server has too is the ensemble's problem.
  const { addEnsembles } = await import("./configured-ensembles.ts");
  const { reports: ensembles, close } = await addEnsembles(config, own, arsenal);
  return { documents: all, ensembles, close };
}

/** How one document, entry of source files or agent fared: how many tools it gave, or why it gave none. */
export interface DocumentReport {
  readonly kind: "OpenAPI" | "files" | "A2A";
  readonly name: string;
  /** The path or address of the document, the files or the agent. */
  readonly document: string;
  readonly tools?: number;
  readonly error?: Error;
}

/** Adds the operations of each document as tools. Resolves once local documents are loaded; `reports` also waits for remote ones, and never rejects. */
export async function loadDocuments(
  arsenal: Pick<Startable, "addOpenApi">,
  documents: readonly ConfiguredDocument[],
): Promise<{ readonly reports: Promise<readonly DocumentReport[]> }> {
  const loading = documents.map((settings) =>
    loaded("OpenAPI", settings.name, settings.document, () => arsenal.addOpenApi(settings)),
  );
  await Promise.all(loading.filter((_, index) => isLocalDocument(documents[index]?.document ?? "")));
  return { reports: Promise.all(loading) };
}

/** Connects agents, all at once. Never rejects: one that cannot be reached is reported, and retried in the background. */
export function connectAgents(
  arsenal: Pick<Startable, "addA2aAgent">,
  agents: readonly A2aAgentSettings[],
): Promise<readonly DocumentReport[]> {
  const connect = (agent: A2aAgentSettings): Promise<DocumentReport> =>
    loaded("A2A", agent.name, agent.url, () => arsenal.addA2aAgent(agent, { patient: true }));
  return Promise.all(agents.map(connect));
}

async function loaded(
  kind: DocumentReport["kind"],
  name: string,
  document: string,
  add: () => Promise<number>,
): Promise<DocumentReport> {
  try {
    return { kind, name, document, tools: await add() };
  } catch (error) {
    return { kind, name, document, error: reasonOf(error) };
  }
}

/** What is wrong with the document itself says more than that its ensemble is unavailable. */
export function reasonOf(error: unknown): Error {
  const reason = isArsenalError(error) && isArsenalError(error.cause) ? error.cause : error;
  return reason instanceof Error ? reason : new Error(String(reason));
}
