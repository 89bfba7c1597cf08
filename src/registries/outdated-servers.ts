import { isArsenalError } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";
import { compareVersions } from "./read/compare-versions.ts";
import type { Registry } from "./read/registry.ts";
import type { RegistryEntry } from "./read/server-json.ts";
import { isFromFile, type LockedServer, type LockedServers } from "./lock-file.ts";
import { digestOf } from "./prepare-server.ts";

/** The result of comparing an added server with its registry. */
export interface ServerCurrency {
  /** The name in the configuration. */
  readonly name: string;
  readonly server: string;
  readonly version: string;
  readonly latest?: string;
  /** `changed`: the registry's entry for the pinned version has changed since the server was added. */
  readonly state: "current" | "outdated" | "changed" | "deprecated" | "deleted" | "unknown";
  readonly reason?: string;
}

/** Compares the added servers with their registries. If a registry cannot be read, the state of its servers is unknown. */
export function compareWithRegistries(
  locked: LockedServers,
  registries: readonly Registry[],
  options: { readonly signal?: AbortSignal | undefined },
): Promise<readonly ServerCurrency[]> {
  return Promise.all(Object.entries(locked).map(([name, server]) => compare(name, server, registries, options)));
}

async function compare(
  name: string,
  locked: LockedServer,
  registries: readonly Registry[],
  options: { readonly signal?: AbortSignal | undefined },
): Promise<ServerCurrency> {
  const own = { name, server: locked.name, version: locked.version };
  const registry = registries.find((each) => each.name === locked.registry);
  if (registry === undefined) {
    const reason = isFromFile(locked) ? "It came from a file." : `The registry ${locked.registry} is not configured.`;
    return { ...own, state: "unknown", reason };
  }
  try {
    const [latest, same] = await Promise.all([
      registry.get(locked.name, undefined, options),
      registry.get(locked.name, locked.version, options),
    ]);
    return { ...own, ...(latest !== undefined && { latest: latest.server.version }), ...stateOf(locked, latest, same) };
  } catch (error) {
    if (!isArsenalError(error)) throw error;
    return { ...own, state: "unknown", reason: messageOf(error) };
  }
}

function stateOf(
  locked: LockedServer,
  latest: RegistryEntry | undefined,
  same: RegistryEntry | undefined,
): Pick<ServerCurrency, "state" | "reason"> {
  if (same === undefined || same.status === "deleted" || latest === undefined)
    return { state: "deleted", reason: same?.statusMessage ?? "The registry no longer has this version." };
  if (digestOf(same.server) !== locked.entry)
    return {
      state: "changed",
      reason: "The registry changed this version after you added it. Find out why before you update.",
    };
  if (compareVersions(latest.server.version, locked.version) > 0) return { state: "outdated" };
  if (same.status === "deprecated")
    return { state: "deprecated", reason: same.statusMessage ?? "Its publisher deprecated it." };
  return { state: "current" };
}
