import type { Surroundings } from "../../adapters/surroundings.ts";
import type { RegistrySettings } from "../../config/sections.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { fileRegistry } from "./file-registry.ts";
import { httpRegistry } from "./http-registry.ts";
import type { RegistryEntry } from "./server-json.ts";

/** Lists MCP servers. All data of a registry is untrusted. */
export interface Registry {
  readonly name: string;
  /** Its address, file or folder. */
  readonly location: string;
  /** True if its servers may have private addresses. */
  readonly allowPrivate: boolean;
  /** Allowed hosts of package registries, in addition to the public ones. */
  readonly packageHosts: readonly string[];
  /** Lists the latest version of every server. Rejects with SOURCE_UNAVAILABLE or PROTOCOL_ERROR. */
  list(options: ListOptions): Promise<RegistryListing>;
  /** Returns one version, by default the latest; undefined if the registry does not have it. */
  get(name: string, version: string | undefined, options: ListOptions): Promise<RegistryEntry | undefined>;
  /** Lists every version of a server, newest first. */
  versions(name: string, options: ListOptions): Promise<readonly RegistryEntry[]>;
}

export interface ListOptions {
  readonly signal?: AbortSignal | undefined;
  /** Lists only servers that changed since this time, including deleted ones. */
  readonly updatedSince?: string | undefined;
}

export interface RegistryListing {
  readonly entries: readonly RegistryEntry[];
  /** Remarks for display: documents that were left out, pages that were not read. */
  readonly remarks: readonly string[];
}

export const OFFICIAL_REGISTRY: RegistrySettings = {
  name: "official",
  url: "https://registry.modelcontextprotocol.io",
};

/** Opens the configured registries, or the official one, without contacting them. Throws CONFIG_INVALID. */
export function openRegistries(
  settings: readonly RegistrySettings[] | undefined,
  surroundings: Pick<Surroundings, "egress" | "secrets" | "clock">,
): readonly Registry[] {
  const seen = new Set<string>();
  return (settings ?? [OFFICIAL_REGISTRY]).map((each, index) => {
    const field = `registries.${index}`;
    const { name, url, file, folder } = each;
    if (seen.has(name)) {
      const problem = `${field}.name is ${showValue(name)}, which another registry has.`;
      throw fixable("CONFIG_INVALID", problem, "Give each its own name.", { field: `${field}.name`, value: name });
    }
    seen.add(name);
    const locations = [url, file, folder].filter((location) => location !== undefined);
    if (locations.length !== 1) {
      const problem = `The registry ${showValue(name)} has ${locations.length} of url, file and folder.`;
      throw fixable("CONFIG_INVALID", problem, "Write exactly one of the three.", { field });
    }
    if (url !== undefined && !/^https?:\/\/[^/]/.test(url)) {
      const problem = `The url of the registry ${showValue(name)} is ${showValue(url)}, which is not an address.`;
      throw fixable("CONFIG_INVALID", problem, "Write https://HOST.", { field: `${field}.url`, value: url });
    }
    return url === undefined ? fileRegistry(each) : httpRegistry({ ...each, url }, surroundings);
  });
}
