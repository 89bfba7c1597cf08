/** The response of a token endpoint. */
export interface Tokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly refresh_token?: string | undefined;
  readonly scope?: string | undefined;
  /** In milliseconds since the epoch, if the authorization server named a time. */
  readonly expires_at?: number | undefined;
  readonly [member: string]: unknown;
}

/** This client's registration at an authorization server. */
export interface RegisteredClient {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly [member: string]: unknown;
}

/** A server's challenge, from its refusal of a request without a token or with too few scopes. */
export interface Challenge {
  readonly scope?: string;
  readonly resourceMetadataUrl?: string;
}

export interface IssuedCredentials {
  readonly client?: RegisteredClient;
  /** The redirect address that this client registered. */
  readonly redirectUri?: string;
  readonly tokens?: Tokens;
}

/** Everything kept for one MCP server. Credentials of one authorization server are never sent to another. */
export interface ServerCredentials {
  readonly issuer?: string;
  /** The server's last challenge, if a person has not granted it yet. */
  readonly wanted?: Challenge;
  readonly byIssuer: Readonly<Record<string, IssuedCredentials>>;
}

export function tokensOf(credentials: ServerCredentials): Tokens | undefined {
  return credentials.issuer === undefined ? undefined : credentials.byIssuer[credentials.issuer]?.tokens;
}

/** Both lists of scopes in one, each once, in the order they first appear. */
export function joinScopes(...scopes: readonly (string | undefined)[]): string | undefined {
  const words = new Set(scopes.flatMap((scope) => scope?.split(/\s+/) ?? []).filter((word) => word !== ""));
  return words.size === 0 ? undefined : [...words].join(" ");
}

/** Stores credentials from authorization servers, by the address of the MCP server they are for. */
export interface TokenStore {
  read(serverUrl: string): Promise<ServerCredentials>;
  /** Changes the stored credentials of one server. Concurrent changes, in this process or another, are neither lost nor undone. */
  update(serverUrl: string, change: (current: ServerCredentials) => ServerCredentials): Promise<ServerCredentials>;
  /** Runs `work` exclusively for this server, across all processes. */
  exclusively<T>(serverUrl: string, work: () => Promise<T>): Promise<T>;
}

export const NO_CREDENTIALS: ServerCredentials = Object.freeze({ byIssuer: Object.freeze({}) });

/** Keeps credentials for as long as the process runs. */
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

/** Reads the challenge in a refusal's `WWW-Authenticate` header. */
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
