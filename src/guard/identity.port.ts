import type { Principal } from "./principal.ts";

/** The data about an unauthenticated caller. */
export interface Credentials {
  /** Lower-case header names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The address of the connection; omitted on standard streams. */
  readonly remoteAddress?: string;
  /** The requested resource, by its public address and without a query: `https://tools.example.com/mcp`. */
  readonly resource?: string;
}

/** Why credentials were refused, in the terms of RFC 6750. Contains no part of the credentials. */
export type Refusal =
  | { readonly error: "invalid_token"; readonly description: string }
  /** The caller is known and would be accepted with all of `scopes`. */
  | { readonly error: "insufficient_scope"; readonly description: string; readonly scopes: readonly string[] };

/** The caller, or the reason of the refusal. Both are omitted if the caller sent no credentials. */
export interface Identified {
  readonly principal?: Principal;
  readonly refusal?: Refusal;
  /** The person's groups, according to the issuer. Omitted for callers without an issuer. */
  readonly groups?: readonly string[];
  /** Returns false once the credentials are revoked or expired. Streams opened with them then end. Omitted if credentials cannot be revoked. */
  readonly isValid?: () => Promise<boolean>;
}

/** The authorization servers for callers without a token, as protected resource metadata (RFC 9728). */
export interface TokenOrigin {
  /** The trusted issuers. */
  readonly authorizationServers: readonly string[];
  /** The scopes that every token needs. */
  readonly scopes: readonly string[];
}

/** The redirect and the resource of a browser sign-in. */
export interface SignInAttempt {
  /** The address that the issuer redirects the browser to. */
  readonly redirectUri: string;
  /** The resource of the token: `https://tools.example.com`. */
  readonly resource: string;
}

/** Signs users in with a browser. They authenticate at an issuer, which redirects them back. Keeps no state between the two steps. */
export interface SignIn {
  /** The name of the sign-in page, for display: `login.example.com`. */
  readonly name: string;
  /** True if callers cannot authenticate in any other way, such as with an API key. */
  readonly onlyWay: boolean;
  /** Returns the address for the browser, and the secret that `finish` needs. */
  begin(
    attempt: SignInAttempt & { readonly state: string },
  ): Promise<{ readonly url: string; readonly verifier: string }>;
  /**
   * Exchanges the redirect's query parameters for a bearer token. Rejects with `UNAUTHENTICATED` if the issuer refuses, and with
   * `PROTOCOL_ERROR` or `TRANSPORT_FAILED` if it fails.
   */
  finish(
    answer: Readonly<Record<string, string>>,
    attempt: SignInAttempt & { readonly verifier: string },
  ): Promise<string>;
  /** Returns the sign-out address that leads back to `returnTo`. Undefined if the issuer has none. */
  end(returnTo: string): Promise<string | undefined>;
}

/** Authenticates callers. */
export interface Identity {
  readonly name: string;
  /** The caller; undefined if the credentials are missing or invalid. Rejects only if the check itself failed. */
  authenticate(credentials: Credentials, options?: { readonly signal?: AbortSignal }): Promise<Principal | undefined>;
  /** Like `authenticate`, with the reason for a refusal. If omitted, a refused caller gets only the challenge. */
  identify?(credentials: Credentials, options?: { readonly signal?: AbortSignal }): Promise<Identified>;
  /** Calls `changed` when credentials may have been revoked. Returns a function that unsubscribes. */
  watch?(changed: () => void): () => void;
  /** The `WWW-Authenticate` header of a refused HTTP request. */
  readonly challenge: string;
  /** The origin of tokens, if callers use tokens of an authorization server. HTTP surfaces publish it. */
  readonly tokenOrigin?: TokenOrigin;
  /** The sign-in for the dashboard. Omitted if the dashboard needs a key or token. */
  readonly signIn?: SignIn;
}
