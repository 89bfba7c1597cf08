import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import {
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from "jose";

/** A real OpenID provider on loopback, with one client that gets tokens for itself and one that people sign in to. */
export interface OidcServer {
  readonly issuer: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** The gateway as a client: people sign in under any name and password. `ada` is an operator and an approver. */
  readonly dashboard: { readonly id: string; readonly secret: string };
  /** How long the tokens of people are valid, in seconds. */
  tokensLastS: number;
  /** The key that the provider publishes. */
  readonly publicKey: JWK;
  /** The paths that were requested, oldest first. */
  readonly requests: string[];
  /** An access token as the provider issues it, for one resource (RFC 8707). */
  accessToken(resource: string, scope?: string): Promise<string>;
  /** An ID token as the provider issues it. */
  idToken(): Promise<string>;
  /** A token that the provider never issued, signed with the provider's own key. */
  forge(claims: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
  close(): Promise<void>;
}

/** The part of the package, which has no types, that is used here. */
interface Provider {
  callback(): RequestListener;
  readonly Client: {
    find(id: string): Promise<unknown>;
    readonly prototype: {
      redirectUriAllowed(uri: string): boolean;
      postLogoutRedirectUriAllowed(uri: string): boolean;
    };
  };
  readonly IdToken: new (
    claims: JWTPayload,
    options: { readonly client: unknown; readonly ctx: object },
  ) => {
    scope: string;
    set(claim: string, value: unknown): void;
    issue(options: { readonly use: "idtoken" }): Promise<string>;
  };
}

const PACKAGE: string = "oidc-provider";
const CLIENT = { id: "app", secret: "secret-of-the-app" };
const DASHBOARD = { id: "dashboard", secret: "secret: of the dashboard" };

/** Starts the provider. It issues JWTs for any resource, with the scopes `tools:use` and `mail`. */
export async function startOidcServer(): Promise<OidcServer> {
  const { default: Provider } = (await import(PACKAGE)) as {
    readonly default: new (issuer: string, options: object) => Provider;
  };
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const own = { kid: "the-provider's", use: "sig", alg: "RS256" };
  const key = { ...(await exportJWK(privateKey)), ...own };

  const requests: string[] = [];
  const server = createServer(({ url = "" }) => void requests.push(url));
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const seconds = (): number => 600;
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    scopes: ["openid", "tools:use", "mail"],
    ttl: {
      ClientCredentials: seconds,
      IdToken: seconds,
      Interaction: seconds,
      Session: seconds,
      Grant: seconds,
      AccessToken: () => started.tokensLastS,
    },
    findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    extraTokenClaims: (_context: unknown, { accountId }: { accountId?: string }) =>
      accountId === "ada" ? { roles: ["operator", "approver"] } : {},
    cookies: { keys: ["of a provider for tests"] },
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
      {
        client_id: DASHBOARD.id,
        client_secret: DASHBOARD.secret,
        grant_types: ["authorization_code"],
        redirect_uris: ["http://127.0.0.1/ui/sign-in/callback"],
        post_logout_redirect_uris: ["http://127.0.0.1/ui"],
        response_types: ["code"],
      },
    ],
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: "tools:use mail",
          audience: resource,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  });
  // Gateways listen on any free port, which a provider cannot know before, and some are below a path.
  const isOnLoopback = (uri: string, path: string): boolean =>
    /^http:\/\/127\.0\.0\.1:\d+(?:\/tools)?(\/ui.*)$/.exec(uri)?.[1] === path;
  provider.Client.prototype.redirectUriAllowed = (uri) => isOnLoopback(uri, "/ui/sign-in/callback");
  provider.Client.prototype.postLogoutRedirectUriAllowed = (uri) => isOnLoopback(uri, "/ui");
  server.on("request", provider.callback());

  const started: OidcServer = {
    issuer,
    client: CLIENT,
    dashboard: DASHBOARD,
    tokensLastS: 600,
    publicKey: { ...(await exportJWK(publicKey)), ...own },
    requests,
    async accessToken(resource, scope = "tools:use") {
      const { id: client_id, secret: client_secret } = CLIENT;
      const form = { grant_type: "client_credentials", client_id, client_secret, resource, scope };
      const response = await fetch(`${issuer}/token`, { method: "POST", body: new URLSearchParams(form) });
      const { access_token: token } = (await response.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`The provider gave no token: ${response.status}`);
      return token;
    },
    async idToken() {
      const client = await provider.Client.find(CLIENT.id);
      const token = new provider.IdToken({ sub: "dana" }, { client, ctx: {} });
      token.scope = "openid";
      token.set("nonce", "of the login");
      return token.issue({ use: "idtoken" });
    },
    forge: async (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid: own.kid, ...header })
        .sign(await importJWK(key, "RS256")),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => void server.close(closed));
    },
  };
  return started;
}
