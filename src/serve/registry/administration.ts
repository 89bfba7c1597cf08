import type { Principal } from "../../guard/principal.ts";

/** A server in a registry's list. Its texts come from the publisher. */
export interface RegistryServer {
  readonly name: string;
  readonly publisher: string;
  readonly version: string;
  readonly description: string;
  readonly title?: string;
  readonly registry: string;
  readonly status: "active" | "deprecated" | "deleted";
  readonly statusMessage?: string;
  readonly publishedAt?: string;
  readonly repository?: string;
  /** `npm`, `pypi`, `oci`, `nuget`, `mcpb` or `remote`. */
  readonly kinds: readonly string[];
}

/** One way to run a server, with its requirements. */
export interface RegistryOption {
  readonly kind: string;
  readonly label: string;
  /** The reason why the option cannot run here. Omitted if it can. */
  readonly missing?: string;
  readonly inputs: readonly {
    readonly key: string;
    readonly description?: string;
    readonly required: boolean;
    readonly secret: boolean;
    readonly default?: string;
    readonly choices?: readonly string[];
  }[];
}

/** A server that was downloaded, verified and connected once. */
export interface RegistryTrial {
  readonly name: string;
  readonly server: string;
  readonly version: string;
  readonly kind: string;
  readonly package: string;
  readonly checksum?: string;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly findings: readonly {
    readonly subject: string;
    readonly severity: string;
    readonly message: string;
    readonly excerpt: string;
  }[];
  readonly remarks: readonly string[];
  readonly needsSignIn?: true;
  /** True if the server was written to the configuration. */
  readonly persisted: boolean;
}

/** A request to add a server. */
export interface RegistryAddition {
  readonly name: string;
  readonly version?: string | undefined;
  readonly registry?: string | undefined;
  readonly kind?: string | undefined;
  readonly as?: string | undefined;
  readonly inputs?: Readonly<Record<string, string>> | undefined;
  /** False only tries the server and writes nothing. */
  readonly confirm: boolean;
  /** The checksum that was shown. A different checksum is refused. */
  readonly checksum?: string | undefined;
}

/** Finds servers in registries and adds them to the configuration. Only these methods contact a registry. */
export interface RegistryAdministration {
  /** Returns servers, best first. Rejects with SOURCE_UNAVAILABLE if no registry answers. */
  find(
    asked: { readonly query: string; readonly registry?: string | undefined; readonly limit: number },
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly servers: readonly RegistryServer[]; readonly remarks: readonly string[] }>;
  /** Rejects with INPUT_INVALID if no registry has the server. */
  get(
    asked: { readonly name: string; readonly version?: string | undefined; readonly registry?: string | undefined },
    options: { readonly signal: AbortSignal },
  ): Promise<RegistryServer & { readonly versions: readonly string[]; readonly options: readonly RegistryOption[] }>;
  /** Rejects with SERVER_REFUSED if the server is dangerous, and with PERMISSION_DENIED if the caller may not run commands here. */
  add(asked: RegistryAddition, by: Principal, options: { readonly signal: AbortSignal }): Promise<RegistryTrial>;
}
