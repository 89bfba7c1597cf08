import { isDeepStrictEqual } from "node:util";
import { type ConfiguredDocument, toA2aAgents } from "../api-config.ts";
import { toSnake } from "./key-style.ts";
import type { ConfiguredMcpServer } from "../clients/mcp-servers.ts";
import type { ResolvedConfig } from "./resolve-config.ts";

/** A configuration, and the servers and OpenAPI documents it names. */
export interface ConfiguredState {
  readonly config: ResolvedConfig;
  readonly servers: readonly ConfiguredMcpServer[];
  readonly documents: readonly ConfiguredDocument[];
}

/** What to do so that a running program follows its configuration; what did not change is in none of the lists. */
export function configChanges(before: ConfiguredState, after: ConfiguredState) {
  const [oldAgents, agents] = [toA2aAgents(before.config).agents, toA2aAgents(after.config).agents];
  const [old, next] = [sectionsOf(before.config), sectionsOf(after.config)];
  return {
    /** Names of servers, documents and agents that are gone, or come back changed. */
    leaving: [
      ...missingIn(after.servers, before.servers),
      ...missingIn(after.documents, before.documents),
      ...missingIn(agents, oldAgents),
    ].map(({ name }) => name),
    /** What is new or changed. */
    coming: missingIn(before.servers, after.servers),
    comingDocuments: missingIn(before.documents, after.documents),
    comingAgents: missingIn(oldAgents, agents),
    /** Sections that changed and hold from the next start only, as files spell them. */
    needRestart: [...next.keys()].filter((section) => !isDeepStrictEqual(old.get(section), next.get(section))),
  };
}

/** The entries that are not, or not in the same way, in a list whose names are unique. */
function missingIn<Entry extends { readonly name: string }>(list: readonly Entry[], entries: readonly Entry[]) {
  const byName = new Map(list.map((entry) => [entry.name, entry]));
  return entries.filter((entry) => !isDeepStrictEqual(byName.get(entry.name), entry));
}

/** The parts of a configuration that are read once, at the start. */
function sectionsOf(config: ResolvedConfig): ReadonlyMap<string, unknown> {
  const { mcp, a2a, openapi: _openapi, toolsets: _toolsets, ...others } = config;
  const { servers: _servers, ...ownMcp } = mcp;
  const { agents: _agents, ...ownA2a } = a2a;
  const sections = Object.entries({ ...others, mcp: ownMcp, a2a: ownA2a });
  return new Map(sections.map(([key, section]) => [toSnake(key), section]));
}
