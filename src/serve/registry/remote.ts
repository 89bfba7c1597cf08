import type { RegistryAddition, RegistryOption, RegistryServer, RegistryTrial } from "./administration.ts";

/** MCP servers in the gateway's registries, over REST. */
export interface RemoteRegistries {
  /** Returns the servers that fit a request, best first. */
  search(query: string, options?: RegistrySearch): Promise<RegistryResults>;
  /** Returns one server with its versions and the ways to run it. */
  get(name: string, options?: Omit<RegistrySearch, "limit"> & { readonly version?: string }): Promise<RegistryDetails>;
  /** Downloads, verifies and tries a server. With `confirm`, also writes it to the gateway's configuration. */
  add(asked: RegistryAddition, options?: { readonly signal?: AbortSignal }): Promise<RegistryTrial>;
}

/** The options of a search in registries. */
export interface RegistrySearch {
  /** Searches only this registry. */
  readonly registry?: string;
  /** Defaults to 10. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** Servers of registries, and registries that could not be read. */
export interface RegistryResults {
  readonly servers: readonly RegistryServer[];
  readonly remarks: readonly string[];
}

/** A server of a registry with its versions, newest first, and the ways to run it. */
export interface RegistryDetails extends RegistryServer {
  readonly versions: readonly string[];
  readonly options: readonly RegistryOption[];
}
