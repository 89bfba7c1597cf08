import type { Principal } from "./principal.ts";

/** What a surface knows of a caller before it knows who it is. */
export interface Credentials {
  /** Lower-case header names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The address the connection came from; absent on standard streams. */
  readonly remoteAddress?: string;
  /** What the caller asks for, by the address clients know it by and without a query: `https://tools.example.com/mcp`. */
  readonly resource?: string;
}

/** Why credentials that were there did not let a caller in, in the words of RFC 6750. Nothing of the credentials is in it. */
export type Refusal =
  | { readonly error: "invalid_token"; readonly description: string }
  /** The caller is known and would be let in with all of `scopes`. */
  | { readonly error: "insufficient_scope"; readonly description: string; readonly scopes: readonly string[] };

/** Who a caller is, or why it is nobody. Neither is there if the caller brought no credentials. */
export interface Identified {
  readonly principal?: Principal;
  readonly refusal?: Refusal;
}

/** Where a caller without a token gets one: what RFC 9728 tells of a protected resource. */
export interface TokenOrigin {
  /** The issuers whose tokens are taken. */
  readonly authorizationServers: readonly string[];
  /** The scopes every token needs. */
  readonly scopes: readonly string[];
}

/** What the browser of a person who signs in comes back to, and for what. */
export interface SignInAttempt {
  /** Where the issuer sends the browser back to. */
  readonly redirectUri: string;
  /** What the token is for: `https://tools.example.com`. */
  readonly resource: string;
}

/** Signs people in with a browser: they prove themselves to an issuer, which sends them back. Keeps nothing between the two steps. */
export interface SignIn {
  /** Where people sign in, as they read it: `login.example.com`. */
  readonly name: string;
  /** True if callers have no other way to prove themselves, such as an API key. */
  readonly onlyWay: boolean;
  /** Returns the address that the browser must visit, and the secret that `finish` needs. */
  begin(
    attempt: SignInAttempt & { readonly state: string },
  ): Promise<{ readonly url: string; readonly verifier: string }>;
  /**
   * Exchanges what the browser brought back, as query parameters, for a bearer token. Rejects with `UNAUTHENTICATED` if the issuer refuses, and with
   * `PROTOCOL_ERROR` or `TRANSPORT_FAILED` if it fails.
   */
  finish(
    answer: Readonly<Record<string, string>>,
    attempt: SignInAttempt & { readonly verifier: string },
  ): Promise<string>;
  /** Returns the address where people sign out and that leads back to `returnTo`. Undefined if the issuer has none. */
  end(returnTo: string): Promise<string | undefined>;
}

/** Tells who a caller is. */
export interface Identity {
  readonly name: string;
  /** The caller; undefined if the credentials prove nobody. Rejects only if the answer could not be found out. */
  authenticate(credentials: Credentials, options?: { readonly signal?: AbortSignal }): Promise<Principal | undefined>;
  /** The same, with the reason for a refusal. If omitted, a refused caller only gets the challenge. */
  identify?(credentials: Credentials, options?: { readonly signal?: AbortSignal }): Promise<Identified>;
  /** The `WWW-Authenticate` header of a refused HTTP request. */
  readonly challenge: string;
  /** Where tokens come from, if callers bring tokens of an authorization server. HTTP surfaces publish it. */
  readonly tokenOrigin?: TokenOrigin;
  /** How people sign in to the dashboard. Undefined if they must bring a key or token. */
  readonly signIn?: SignIn;
}
