export interface Tokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly refresh_token?: string | undefined;
  readonly scope?: string | undefined;
  /** In milliseconds since the epoch. Undefined if the authorization server named no expiry. */
  readonly expires_at?: number | undefined;
  readonly [member: string]: unknown;
}

/** The registration of this client at an authorization server. */
export interface RegisteredClient {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly [member: string]: unknown;
}

/** A server's challenge to a request without a token or with too few scopes. */
export interface Challenge {
  readonly scope?: string;
  readonly resourceMetadataUrl?: string;
}

export interface IssuedCredentials {
  readonly client?: RegisteredClient;
  /** The redirect address of this client's registration. */
  readonly redirectUri?: string;
  readonly tokens?: Tokens;
}

/** Everything stored for one MCP server. Credentials are kept by authorization server, and never sent to another one. */
export interface ServerCredentials {
  readonly issuer?: string;
  /** The server's last challenge, until a person grants it. */
  readonly wanted?: Challenge;
  readonly byIssuer: Readonly<Record<string, IssuedCredentials>>;
}

export function tokensOf(credentials: ServerCredentials): Tokens | undefined {
  return credentials.issuer === undefined ? undefined : credentials.byIssuer[credentials.issuer]?.tokens;
}

/** Merges two lists of scopes. Each scope appears once, in the order of first appearance. */
export function joinScopes(...scopes: readonly (string | undefined)[]): string | undefined {
  const words = new Set(scopes.flatMap((scope) => scope?.split(/\s+/) ?? []).filter((word) => word !== ""));
  return words.size === 0 ? undefined : [...words].join(" ");
}

/** Stores credentials from authorization servers, by the address of the MCP server. */
export interface TokenStore {
  read(serverUrl: string): Promise<ServerCredentials>;
  /** Changes the stored credentials of one server. Concurrent changes, in any process, are not lost. */
  update(serverUrl: string, change: (current: ServerCredentials) => ServerCredentials): Promise<ServerCredentials>;
  /** Runs `work` while no other process works on this server. */
  exclusively<T>(serverUrl: string, work: () => Promise<T>): Promise<T>;
}

export const NO_CREDENTIALS: ServerCredentials = Object.freeze({ byIssuer: Object.freeze({}) });

/** Creates a store that lasts as long as the process. */
export function createTokenMemory(): TokenStore {
  const kept = new Map<string, ServerCredentials>();
  const turns = new Map<string, Promise<unknown>>();

  return {
    read: (serverUrl) => Promise.resolve(kept.get(serverUrl) ?? NO_CREDENTIALS),
    update(serverUrl, change) {
      const changed = change(kept.get(serverUrl) ?? NO_CREDENTIALS);
      kept.set(serverUrl, changed);
      return Promise.resolve(changed);
    },
    exclusively(serverUrl, work) {
      const turn = (turns.get(serverUrl) ?? Promise.resolve()).then(work, work);
      turns.set(serverUrl, turn);
      return turn;
    },
  };
}

/** Reads the challenge from a `WWW-Authenticate` header. */
export function challengeOf(header: string | null | undefined): Challenge {
  if (!header) return {};
  const scope = field(header, "scope");
  const resourceMetadataUrl = field(header, "resource_metadata");
  return {
    ...(scope !== undefined && { scope }),
    ...(resourceMetadataUrl !== undefined && URL.canParse(resourceMetadataUrl) && { resourceMetadataUrl }),
  };
}

export function asksForScope(status: number, header: string | null | undefined): boolean {
  return status === 403 && /\berror="?insufficient_scope\b/.test(header ?? "");
}

function field(header: string, name: string): string | undefined {
  const [, quoted, bare] = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]*)"|([^\\s,]+))`).exec(header) ?? [];
  const value = quoted ?? bare;
  return value === "" ? undefined : value;
}
