import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../../base/crypto.ts";
import { messageOf } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Clock } from "../../observe/clock.ts";
import { makeFolder } from "../../system/make-folder.ts";
import { replaceFile } from "../../system/replace-file.ts";
import type { Registry, RegistryListing } from "./registry.ts";
import { readEntry, type RegistryEntry } from "./server-json.ts";

/** An older list is updated before it is used. */
const FRESH_MS = 3_600_000;
/** Clocks differ, so changes from the last minutes before the list was read are requested again. */
const OVERLAP_MS = 300_000;

interface KeptListing {
  readonly at: number;
  readonly entries: readonly RegistryEntry[];
}

/**
 * Lists the servers of a registry and caches the list in a file for an hour. After that, only changes are requested. If the registry cannot be
 * reached, the cached list is used, with a remark.
 */
export async function listKept(
  registry: Registry,
  options: {
    readonly folder: string | false;
    readonly clock: Pick<Clock, "now">;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<RegistryListing> {
  const { folder, clock, signal } = options;
  const isRemote = /^https?:/.test(registry.location);
  if (folder === false || !isRemote) return registry.list({ signal });
  const path = join(folder, "registries", `${sha256(registry.location).slice(0, 16)}.json`);
  const kept = await readKept(path, registry);
  const now = clock.now();
  if (kept !== undefined && now - kept.at < FRESH_MS && kept.at <= now) return { entries: kept.entries, remarks: [] };
  try {
    const updatedSince = kept === undefined ? undefined : new Date(kept.at - OVERLAP_MS).toISOString();
    const { entries: changed, remarks } = await registry.list({ signal, updatedSince });
    const entries = merge(kept?.entries ?? [], changed);
    await makeFolder(join(folder, "registries"), 0o700);
    await replaceFile(path, JSON.stringify({ at: now, servers: entries.map(toAnswer) })).catch(() => {});
    return { entries, remarks };
  } catch (error) {
    if (kept === undefined || signal?.aborted === true) throw error;
    const since = new Date(kept.at).toISOString().slice(0, 16).replace("T", " ");
    return { entries: kept.entries, remarks: [`${messageOf(error)} Showing its list of ${since} UTC.`] };
  }
}

/** Merges changes into a list: newer entries replace older ones, and deleted servers are removed. */
function merge(before: readonly RegistryEntry[], changed: readonly RegistryEntry[]): readonly RegistryEntry[] {
  const all = new Map(before.map((entry) => [entry.server.name, entry]));
  for (const entry of changed) all.set(entry.server.name, entry);
  return [...all.values()].filter(({ status }) => status !== "deleted");
}

function toAnswer({ registry: _registry, server, ...meta }: RegistryEntry): object {
  return { server, _meta: { "io.modelcontextprotocol.registry/official": meta } };
}

async function readKept(path: string, { name }: Registry): Promise<KeptListing | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    if (!isPlainObject(value) || typeof value["at"] !== "number" || !Array.isArray(value["servers"])) return undefined;
    const read = value["servers"].map((each) => readEntry(each, name));
    return { at: value["at"], entries: read.filter((entry) => "server" in entry) };
  } catch {
    return undefined;
  }
}
