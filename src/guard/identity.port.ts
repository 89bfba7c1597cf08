import type { Principal } from "./principal.ts";

/** What a surface knows of a caller before it knows who it is. */
export interface Credentials {
  /** Lower-case header names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The address the connection came from; absent on standard streams. */
  readonly remoteAddress?: string;
}

/** Tells who a caller is. */
export interface Identity {
  readonly name: string;
  /** The caller; undefined where the credentials prove nobody. Rejects only where the answer could not be found out. */
  authenticate(credentials: Credentials, options?: { readonly signal?: AbortSignal }): Promise<Principal | undefined>;
  /** What a refused HTTP caller is told in `WWW-Authenticate`. */
  readonly challenge: string;
}
