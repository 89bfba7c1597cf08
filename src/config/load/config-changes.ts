import { isDeepStrictEqual } from "node:util";
import type { ConfiguredSource } from "./configured-sources.ts";
import { toSnake } from "./key-style.ts";
import type { ResolvedConfig } from "./resolve-config.ts";

/** A configuration, and the sources that it names. */
export interface ConfiguredState<Of extends ConfiguredSource = ConfiguredSource> {
  readonly config: ResolvedConfig;
  readonly sources: readonly Of[];
}

/** Returns the steps by which a running program applies a changed configuration. Unchanged entries are in none of the lists. */
export function configChanges<Of extends ConfiguredSource>(before: ConfiguredState<Of>, after: ConfiguredState<Of>) {
  const [old, next] = [sectionsOf(before.config), sectionsOf(after.config)];
  return {
    /** Names of removed or changed sources. */
    leaving: missingIn(after.sources, before.sources).map(({ name }) => name),
    /** Sources that are new or changed. */
    coming: missingIn(before.sources, after.sources),
    /** Changed sections that take effect only at the next start, as files spell them. */
    needRestart: [...next.keys()].filter((section) => !isDeepStrictEqual(old.get(section), next.get(section))),
  };
}

/** Returns the entries that are missing or different in another list. Names must be unique. */
function missingIn<Entry extends { readonly name: string }>(list: readonly Entry[], entries: readonly Entry[]) {
  const byName = new Map(list.map((entry) => [entry.name, entry]));
  return entries.filter((entry) => !isDeepStrictEqual(byName.get(entry.name), entry));
}

/** Returns the parts of a configuration that are read only on start. */
function sectionsOf(config: ResolvedConfig): ReadonlyMap<string, unknown> {
  const { mcp, a2a, sources: _sources, openapi: _openapi, toolsets: _toolsets, ...more } = config;
  const { scripts: _scripts, builtins: _builtins, ensembles: _ensembles, ...others } = more;
  const { servers: _servers, ...ownMcp } = mcp;
  const { agents: _agents, ...ownA2a } = a2a;
  const sections = Object.entries({ ...others, mcp: ownMcp, a2a: ownA2a });
  return new Map(sections.map(([key, section]) => [toSnake(key), section]));
}
