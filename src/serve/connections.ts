import type { Principal } from "../guard/principal.ts";

/** A server that callers sign in to individually, as one caller sees it. */
export interface Connection {
  readonly server: string;
  /** The server's address, without parts that may be secret. */
  readonly url: string;
  readonly signedIn: boolean;
  /** The granted scopes, if the authorization server named them. */
  readonly scope?: string;
  /** True if calls use the gateway's own login until the caller signs in. */
  readonly hasFallback: boolean;
}

/** Signs callers in to servers, and out of them. No method returns a token. */
export interface Connections {
  /** Returns the servers that a caller can sign in to, by name. */
  list(principal: Principal): Promise<readonly Connection[]>;
  /** Starts a sign-in. The browser must visit `url`, and must bring back `state` to `redirectUri`. */
  begin(
    server: string,
    principal: Principal,
    options: { readonly redirectUri: string; readonly signal?: AbortSignal },
  ): Promise<{ readonly url: string; readonly state: string }>;
  /** Finishes a sign-in with the parameters that the browser brought back. Returns the server's name. */
  finish(params: URLSearchParams): Promise<string>;
  /** Deletes a caller's tokens, in every process, and revokes them. Returns false if the caller had no tokens. */
  signOut(server: string, principal: Principal): Promise<boolean>;
  /** Resolves when a caller is signed in. Rejects when the signal fires. */
  signedIn(server: string, principal: Principal, signal: AbortSignal): Promise<void>;
}
