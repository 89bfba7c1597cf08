import { isDeepStrictEqual } from "node:util";
import type { A2aAgentSettings } from "../../adapters/sources/a2a/settings.ts";
import { toA2aAgents } from "../a2a-config.ts";
import { toSnake } from "./key-style.ts";
import type { ConfiguredDocument } from "../openapi-config.ts";
import type { ConfiguredMcpServer } from "../clients/mcp-servers.ts";
import type { ResolvedConfig } from "./resolve-config.ts";

/** A configuration, and the servers and OpenAPI documents it names. */
export interface ConfiguredState {
  readonly config: ResolvedConfig;
  readonly servers: readonly ConfiguredMcpServer[];
  readonly documents: readonly ConfiguredDocument[];
}

/** What a changed configuration asks for. */
export interface ConfigChanges {
  /** Names of servers, documents and agents that are gone, or come back changed. */
  readonly leaving: readonly string[];
  /** Servers that are new or changed. */
  readonly coming: readonly ConfiguredMcpServer[];
  /** Documents that are new or changed. */
  readonly comingDocuments: readonly ConfiguredDocument[];
  /** Agents that are new or changed. */
  readonly comingAgents: readonly A2aAgentSettings[];
  /** Sections that changed and hold from the next start only, as files spell them. */
  readonly needRestart: readonly string[];
}

/** What to do so that a running program follows its configuration; what did not change is in none of the lists. */
export function configChanges(before: ConfiguredState, after: ConfiguredState): ConfigChanges {
  const has = (servers: readonly ConfiguredMcpServer[]) => {
    const byName = new Map(servers.map((server) => [server.name, server]));
    return (server: ConfiguredMcpServer): boolean => isDeepStrictEqual(byName.get(server.name), server);
  };
  const [oldAgents, agents] = [toA2aAgents(before.config).agents, toA2aAgents(after.config).agents];
  const [old, next] = [sectionsOf(before.config), sectionsOf(after.config)];
  return {
    leaving: [
      ...before.servers.filter((server) => !has(after.servers)(server)).map(({ name }) => name),
      ...before.documents
        .filter((document) => !isAmong(document, after.documents))
        .map(({ settings }) => settings.name),
      ...oldAgents.filter((agent) => !isAmong(agent, agents)).map(({ name }) => name),
    ],
    coming: after.servers.filter((server) => !has(before.servers)(server)),
    comingDocuments: after.documents.filter((document) => !isAmong(document, before.documents)),
    comingAgents: agents.filter((agent) => !isAmong(agent, oldAgents)),
    needRestart: [...next.keys()].filter((section) => !isDeepStrictEqual(old.get(section), next.get(section))),
  };
}

function isAmong<Entry>(entry: Entry, entries: readonly Entry[]): boolean {
  return entries.some((each) => isDeepStrictEqual(each, entry));
}

/** The parts of a configuration that are read once, at the start. */
function sectionsOf({
  mcp,
  a2a,
  openapi: _openapi,
  toolsets: _toolsets,
  ...others
}: ResolvedConfig): ReadonlyMap<string, unknown> {
  const { servers: _servers, ...ownMcp } = mcp;
  const { agents: _agents, ...ownA2a } = a2a;
  const sections = Object.entries({ ...others, mcp: ownMcp, a2a: ownA2a });
  return new Map(sections.map(([key, section]) => [toSnake(key), section]));
}
