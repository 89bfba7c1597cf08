/** What a token endpoint gave, and what was asked of it. */
export interface Tokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly refresh_token?: string | undefined;
  readonly scope?: string | undefined;
  /** In milliseconds since the epoch; absent where the authorization server did not say. */
  readonly expires_at?: number | undefined;
  readonly [member: string]: unknown;
}

/** This client as an authorization server knows it. */
export interface RegisteredClient {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly [member: string]: unknown;
}

/** What a server said when it refused a request for want of a token, or of a wider one. */
export interface Challenge {
  readonly scope?: string;
  readonly resourceMetadataUrl?: string;
}

/** What one authorization server gave us. */
export interface IssuedCredentials {
  readonly client?: RegisteredClient;
  /** Where this client said it takes answers when it registered. */
  readonly redirectUri?: string;
  readonly tokens?: Tokens;
}

/** Everything kept for one MCP server. What one authorization server issued is never shown to another. */
export interface ServerCredentials {
  /** The authorization server whose tokens are in use. */
  readonly issuer?: string;
  /** What the server asked for last, where a person has not granted it yet. */
  readonly wanted?: Challenge;
  readonly byIssuer: Readonly<Record<string, IssuedCredentials>>;
}

/** The tokens in use with a server. */
export function tokensOf(credentials: ServerCredentials): Tokens | undefined {
  return credentials.issuer === undefined ? undefined : credentials.byIssuer[credentials.issuer]?.tokens;
}

/** Both lists of scopes in one, each once, in the order they first appear. */
export function joinScopes(...scopes: readonly (string | undefined)[]): string | undefined {
  const words = new Set(scopes.flatMap((scope) => scope?.split(/\s+/) ?? []).filter((word) => word !== ""));
  return words.size === 0 ? undefined : [...words].join(" ");
}
