import type { OAuthClientMetadata, OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/client";
import type { FetchLike } from "./guarded-fetch.ts";
import { isUnattended, type OAuthSettings } from "../settings.ts";
import type { IdentityGrant } from "./identity-grant.ts";
import { type Challenge, type IssuedCredentials, joinScopes, type TokenStore } from "./credentials.ts";

interface FlowParts {
  readonly settings: OAuthSettings;
  readonly serverUrl: string;
  readonly store: TokenStore;
  /** The redirect address for the browser. Omitted for a grant without a person. */
  readonly redirectUri?: string | undefined;
  /** The scopes to request, if the caller chose them. */
  readonly scope?: string | undefined;
  readonly state?: string;
  /** The state of a flow that began in another process or before a restart. */
  readonly progress?: FlowProgress;
  /** Receives the address that a person must visit. May throw if this process cannot show it to a person. */
  readonly onRedirect: (url: URL) => void;
  /** Gets tokens for an identity. Required for the grant `id_jag`. */
  readonly identityGrant?: IdentityGrant | undefined;
  /** Called before this client registers with an authorization server. May also throw. */
  readonly onUnknownClient?: () => void;
}

/** The state of a flow while the person is at the authorization server. Plain data that contains secrets. */
export interface FlowProgress {
  readonly registered?: IssuedCredentials["client"];
  readonly verifier?: string | undefined;
  readonly discovery?: OAuthDiscoveryState | undefined;
  readonly requestedScope?: string | undefined;
}

/** A client of one flow, with the progress of the flow. */
export interface FlowClient extends OAuthClientProvider {
  progress(): FlowProgress;
}

/** Implements the provider of the MCP SDK's `auth()`, from the settings and the token store. Create one for each run of a flow. */
export function createFlowClient(parts: FlowParts): FlowClient {
  const { settings, serverUrl, store, redirectUri } = parts;
  const machine = isUnattended(settings);
  /** Stored only together with new tokens, so an aborted login leaves the previous login unchanged. */
  let { registered, verifier, discovery } = parts.progress ?? {};
  let requestedScope = parts.progress?.requestedScope ?? parts.scope;

  const clientMetadata: OAuthClientMetadata = {
    client_name: "ToolArsenal",
    redirect_uris: redirectUri === undefined ? [] : [redirectUri],
    grant_types: machine ? ["client_credentials"] : ["authorization_code", "refresh_token"],
    response_types: machine ? undefined : ["code"],
    scope: settings.scope,
  };

  async function issuedBy(issuer: string): Promise<IssuedCredentials> {
    return (await store.read(serverUrl)).byIssuer[issuer] ?? {};
  }

  const inUse = (): { readonly issuer: string } => ({
    issuer: discovery?.authorizationServerMetadata?.issuer ?? discovery?.authorizationServerUrl ?? "",
  });

  const client: FlowClient = {
    progress: () => ({ ...(registered && { registered }), verifier, discovery, requestedScope }),
    redirectUrl: redirectUri,
    clientMetadata,
    ...(settings.clientMetadataUrl === undefined ? {} : { clientMetadataUrl: settings.clientMetadataUrl }),
    ...(parts.state === undefined ? {} : { state: () => parts.state ?? "" }),

    async clientInformation({ issuer } = inUse()) {
      if (settings.clientId !== undefined)
        return {
          client_id: settings.clientId,
          client_secret: settings.clientSecret,
          issuer: settings.issuer ?? issuer,
        };
      if (registered !== undefined) return { ...registered, issuer };
      const issued = await issuedBy(issuer);
      if (issued.client !== undefined && isUsable(issued, parts)) return { ...issued.client, issuer };
      parts.onUnknownClient?.();
      return undefined;
    },

    async tokens({ issuer } = inUse()) {
      const { tokens } = await issuedBy(issuer);
      return tokens === undefined ? undefined : { ...tokens, issuer };
    },

    async saveTokens(tokens, { issuer } = inUse()) {
      const { issuer: _stamp, ...granted } = tokens;
      await store.update(serverUrl, (credentials) => {
        const before = credentials.byIssuer[issuer];
        // A server may omit the scopes from its response if it granted exactly the requested ones.
        const scope = granted.scope ?? requestedScope ?? before?.tokens?.scope;
        const issued: IssuedCredentials = {
          ...before,
          ...(registered && { client: registered, ...(redirectUri !== undefined && { redirectUri }) }),
          tokens: {
            ...granted,
            ...(scope !== undefined && { scope }),
            ...(granted.expires_in !== undefined && { expires_at: Date.now() + granted.expires_in * 1000 }),
          },
        };
        return { ...credentials, issuer, byIssuer: { ...credentials.byIssuer, [issuer]: issued } };
      });
    },

    redirectToAuthorization(url) {
      requestedScope = url.searchParams.get("scope") ?? requestedScope;
      parts.onRedirect(url);
    },

    saveCodeVerifier: (value) => void (verifier = value),
    codeVerifier() {
      if (verifier === undefined) throw new Error("No login was started.");
      return verifier;
    },
    saveDiscoveryState: (state) => void (discovery = state),
    discoveryState: () => discovery,

    async invalidateCredentials(what) {
      const { issuer } = inUse();
      if (issuer === "") return;
      if (what === "client") registered = undefined;
      await store.update(serverUrl, (credentials) => {
        const { client: known, tokens, ...rest } = credentials.byIssuer[issuer] ?? {};
        const issued = {
          ...rest,
          ...(known && what !== "client" && { client: known }),
          ...(tokens && what !== "tokens" && { tokens }),
        };
        return { ...credentials, byIssuer: { ...credentials.byIssuer, [issuer]: issued } };
      });
    },
  };

  // Without a method to save a registration, the SDK neither registers a new client nor sends this client to another authorization server.
  if (settings.clientId === undefined)
    client.saveClientInformation = ({ issuer: _stamp, ...information }) => void (registered = information);
  const { clientId, privateKey, privateKeyAlgorithm: alg = "ES256" } = settings;
  if (clientId !== undefined && privateKey !== undefined)
    client.addClientAuthentication = async (...request) => {
      const { createPrivateKeyJwtAuth } = await import("@modelcontextprotocol/client");
      await createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey, alg })(...request);
    };
  if (settings.grant === "id_jag") {
    if (parts.identityGrant === undefined) throw new Error("No identity is configured.");
    const { prepareTokenRequest, ...grant } = parts.identityGrant;
    Object.assign(client, grant);
    client.prepareTokenRequest = (scope) => prepareTokenRequest((requestedScope = joinScopes(scope)));
  } else if (machine)
    client.prepareTokenRequest = (scope) => {
      requestedScope = joinScopes(scope);
      return new URLSearchParams({
        grant_type: "client_credentials",
        ...(requestedScope && { scope: requestedScope }),
      });
    };
  return client;
}

/** Runs a flow that answers the server's challenge and requests the wanted scopes. `anew` requests new consent instead of renewing the tokens. */
export async function runFlow(
  client: OAuthClientProvider,
  { serverUrl, scope }: Pick<FlowParts, "serverUrl" | "scope">,
  { resourceMetadataUrl: url }: Challenge,
  options: { readonly fetchFn: FetchLike; readonly anew?: boolean },
): Promise<void> {
  const { auth } = await import("@modelcontextprotocol/client");
  await auth(client, {
    serverUrl,
    ...(scope !== undefined && { scope }),
    ...(url !== undefined && { resourceMetadataUrl: new URL(url) }),
    forceReauthorization: options.anew === true,
    fetchFn: options.fetchFn,
  });
}

/** A registration is valid only for its redirect address. A metadata document is valid only while the settings name it. */
function isUsable(issued: IssuedCredentials, { settings, redirectUri, onUnknownClient }: FlowParts): boolean {
  // A renewal must use the client that the tokens were issued to.
  if (onUnknownClient !== undefined) return true;
  const id = issued.client?.client_id;
  return (
    issued.redirectUri === redirectUri && (id === settings.clientMetadataUrl || id?.startsWith("https://") !== true)
  );
}
