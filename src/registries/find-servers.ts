import { fixable } from "../errors/arsenal-error.ts";
import { messageOf, nearest, showValue } from "../errors/show-value.ts";
import { rankTexts } from "../facade/rank-texts.ts";
import type { Clock } from "../observe/clock.ts";
import type { FoundServer } from "./prepare-server.ts";
import { listKept } from "./read/listing-cache.ts";
import type { Registry } from "./read/registry.ts";
import { type RegistryEntry, shortName } from "./read/server-json.ts";

export interface FindOptions {
  /** The folder for cached lists of registries; false disables the cache. */
  readonly cache: string | false;
  readonly clock: Pick<Clock, "now">;
  readonly signal?: AbortSignal | undefined;
}

/** Servers of all registries, and remarks about registries that could not be read. */
export interface FoundServers {
  readonly entries: readonly RegistryEntry[];
  readonly remarks: readonly string[];
}

/** Lists the servers of all registries in parallel. A failed registry becomes a remark. Throws if all registries fail. */
export async function listServers(registries: readonly Registry[], options: FindOptions): Promise<FoundServers> {
  const listed = await Promise.allSettled(
    registries.map((each) => listKept(each, { folder: options.cache, clock: options.clock, signal: options.signal })),
  );
  options.signal?.throwIfAborted();
  const failed = listed.filter((each) => each.status === "rejected");
  if (failed.length > 0 && failed.length === listed.length) throw failed[0]?.reason;
  const entries = listed.flatMap((each) => (each.status === "fulfilled" ? each.value.entries : []));
  const remarks = listed.flatMap((each) =>
    each.status === "fulfilled" ? each.value.remarks : [messageOf(each.reason)],
  );
  return { entries, remarks };
}

/** Ranks servers for a request with the arsenal's own retrieval, over names, titles and descriptions. */
export async function rankServers(
  entries: readonly RegistryEntry[],
  query: string,
  options: { readonly limit: number; readonly signal?: AbortSignal | undefined },
): Promise<readonly RegistryEntry[]> {
  const offered = entries.filter(({ status }) => status !== "deleted");
  const texts = offered.map(({ server }) => {
    const plain = shortName(server).replaceAll("-", " ");
    const words = [server.title, plain, server.description].filter((each) => each !== undefined && each !== "");
    return { words: words.join(". "), fallback: `The server ${plain}.` };
  });
  return (await rankTexts(texts, query, options)).flatMap(({ index }) => offered[index] ?? []);
}

/** Finds one server by its full name, or by an unambiguous last part of its name. Throws INPUT_INVALID or SOURCE_UNAVAILABLE. */
export async function findServer(
  registries: readonly Registry[],
  asked: { readonly name: string; readonly version?: string | undefined },
  options: FindOptions,
): Promise<FoundServer & { readonly remarks: readonly string[] }> {
  const { name, version } = asked;
  if (registries.length === 0) {
    const fix = "Add one under registries:, or use --file server.json.";
    throw fixable("INPUT_INVALID", "No registry is configured.", fix, { field: "registries" });
  }
  if (!name.includes("/")) return findByShortName(registries, asked, options);
  const failures: unknown[] = [];
  for (const registry of registries) {
    try {
      const entry = await registry.get(name, version, { signal: options.signal });
      if (entry !== undefined) return { ...foundIn(registry, entry), remarks: failures.map(messageOf) };
    } catch (error) {
      options.signal?.throwIfAborted();
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  const what = version === undefined ? showValue(name) : `${showValue(name)} in version ${showValue(version)}`;
  const names = registries.map((each) => each.name).join(", ");
  const fix = `Search with: toolarsenal search --registries ${showValue(shortName({ name }))}`;
  throw fixable("INPUT_INVALID", `No registry has ${what} (searched: ${names}).`, fix, { field: "NAME", value: name });
}

async function findByShortName(
  registries: readonly Registry[],
  { name, version }: { readonly name: string; readonly version?: string | undefined },
  options: FindOptions,
): Promise<FoundServer & { readonly remarks: readonly string[] }> {
  const { entries, remarks } = await listServers(registries, options);
  const last = (entry: RegistryEntry): string => entry.server.name.slice(entry.server.name.indexOf("/") + 1);
  const same = entries.filter((entry) => last(entry) === name || shortName(entry.server) === name);
  const names = [...new Set(same.map((entry) => entry.server.name))];
  const [only] = names;
  if (only === undefined || names.length > 1) {
    const near = nearest(name, entries.map(last));
    const missing =
      near === undefined
        ? `Search with: toolarsenal search --registries ${showValue(name)}`
        : `Did you mean ${showValue(near)}?`;
    const problem =
      only === undefined
        ? `No registry has a server named ${showValue(name)}.`
        : `${names.length} servers are named ${showValue(name)}: ${names.slice(0, 8).join(", ")}.`;
    throw fixable("INPUT_INVALID", problem, only === undefined ? missing : "Write the full name.", {
      field: "NAME",
      value: name,
    });
  }
  const found = await findServer(registries, { name: only, version }, options);
  return { ...found, remarks: [...remarks, ...found.remarks] };
}

function foundIn({ allowPrivate, packageHosts }: Registry, entry: RegistryEntry): FoundServer {
  return { entry, allowPrivate, packageHosts };
}
