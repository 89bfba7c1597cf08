import type { Principal } from "../guard/principal.ts";

/** A server that callers sign in to themselves, as one caller sees it. */
export interface Connection {
  readonly server: string;
  /** The server's address, without anything that may be secret. */
  readonly url: string;
  readonly signedIn: boolean;
  /** The scopes that were granted, if the authorization server named them. */
  readonly scope?: string;
  /** True if calls use the login of the gateway until the caller signs in. */
  readonly hasFallback: boolean;
}

/** Signs callers in to servers, and out again. Nothing here returns a token. */
export interface Connections {
  /** The servers that a caller can sign in to, by name. */
  list(principal: Principal): Promise<readonly Connection[]>;
  /** Starts a sign-in. The browser visits `url`, and has to bring `state` when it comes back to `redirectUri`. */
  begin(
    server: string,
    principal: Principal,
    options: { readonly redirectUri: string; readonly signal?: AbortSignal },
  ): Promise<{ readonly url: string; readonly state: string }>;
  /** Ends a sign-in with the parameters that the browser brought. Returns the server's name. */
  finish(params: URLSearchParams): Promise<string>;
  /** Forgets a caller's tokens, in every process, and revokes them. False if there were none. */
  signOut(server: string, principal: Principal): Promise<boolean>;
  /** Resolves when a caller is signed in. Rejects when the signal fires. */
  signedIn(server: string, principal: Principal, signal: AbortSignal): Promise<void>;
}
