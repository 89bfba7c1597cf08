import { loadSource } from "../../adapters/sources/load-source.ts";
import type { NamedSource } from "../../adapters/sources/named-source.ts";
import { a2a } from "../../adapters/sources/a2a/settings.ts";
import { builtins } from "../../adapters/sources/builtin/settings.ts";
import { descriptors } from "../../adapters/sources/descriptor/settings.ts";
import { mcp } from "../../adapters/sources/mcp/settings.ts";
import { openapi } from "../../adapters/sources/openapi/settings.ts";
import { scripts } from "../../adapters/sources/scripts/settings.ts";
import { placeOf, type WatchedFiles } from "../../adapters/sources/source-adapter.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf, showValue } from "../../errors/show-value.ts";
import { toNamespace } from "../../tool/normalise/slug.ts";
import { nameTaken, type ServerProblem } from "../clients/server-problem.ts";
import type { ResolvedConfig } from "./resolve-config.ts";

export interface ConfiguredSource {
  /** The ensemble's name, a valid namespace. For a descriptor it is the path, because the name is inside the file. */
  readonly name: string;
  /** The name as written in the configuration. */
  readonly writtenAs: string;
  /** The argument of `arsenal.add`. */
  readonly settings: NamedSource;
  /** The local files that define the source. */
  readonly watched?: WatchedFiles;
}

type Spelled = NamedSource & { readonly name?: string; readonly namespace?: string; readonly disabled?: boolean };

/** Converts the sections that define sources to entries of `sources`. */
function spelledSources(config: ResolvedConfig): readonly Spelled[] {
  return [
    ...config.sources,
    ...config.mcp.servers.map(mcp),
    ...config.openapi.map(openapi),
    ...config.a2a.agents.map(a2a),
    ...config.scripts.map(scripts),
    ...(config.builtins.tools.length === 0 ? [] : [builtins(config.builtins)]),
    ...config.ensembles.map((path) => descriptors(path)),
  ];
}

/** Returns the configured sources. Invalid sources are reported; the rest are still used. */
export async function configuredSources(config: ResolvedConfig): Promise<{
  readonly sources: readonly ConfiguredSource[];
  readonly problems: readonly ServerProblem[];
}> {
  const sources: ConfiguredSource[] = [];
  const problems: ServerProblem[] = [];
  const taken = new Map<string, string>();
  for (const { disabled = false, ...entry } of spelledSources(config)) {
    if (disabled) continue;
    const adapter = await loadSource(entry.type);
    const { type, ...settings } = withNamespaces(entry, "name" in (adapter.config.properties ?? {}));
    const writtenAs = entry.name ?? type;
    try {
      for (const each of (await adapter.expand?.(settings)) ?? [settings]) {
        const watched = adapter.watch?.(each);
        const name = "name" in each ? String(each.name) : (watched?.files[0] ?? type);
        const earlier = taken.get(name);
        const problem = adapter.problem?.(each);
        if (earlier !== undefined) {
          const as = earlier === writtenAs ? "" : ` (as ${showValue(earlier)}, which has the same normalised form)`;
          problems.push(nameTaken(writtenAs, "source", as));
        } else if (problem !== undefined) problems.push({ server: writtenAs, ...problem });
        else {
          taken.set(name, writtenAs);
          const written = "name" in each ? writtenAs : name;
          sources.push({
            name,
            writtenAs: written,
            settings: { ...each, type } as NamedSource,
            ...(watched && { watched }),
          });
        }
      }
    } catch (error) {
      const { fix = "Check its settings." } = isArsenalError(error) ? error.details : {};
      const message = `cannot be used: ${messageOf(error).replace(` ${fix}`, "").replace(/\.$/, "")}`;
      problems.push({
        server: entry.name ?? placeOf(adapter.reach(settings)),
        field: "type",
        value: type,
        message,
        fix,
      });
    }
  }
  return { sources, problems };
}

/** Adds the name, which defaults to the name of the type, and valid namespaces. */
function withNamespaces({ name, namespace, ...entry }: Spelled, isNamed: boolean): Spelled {
  return {
    ...entry,
    ...(isNamed && { name: toNamespace(name ?? entry.type) }),
    ...(namespace !== undefined && { namespace: toNamespace(namespace) }),
  } as Spelled;
}
