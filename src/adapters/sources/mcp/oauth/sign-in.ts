import { randomBytes } from "node:crypto";
import { fixable } from "../../../../errors/arsenal-error.ts";
import type { OAuthSettings } from "../settings.ts";
import { askForChallenge } from "./authorize.ts";
import { joinScopes, type ServerCredentials } from "./credentials.ts";
import { toOAuthFailure } from "./failures.ts";
import { createFlowClient, type FlowProgress, runFlow } from "./flow-client.ts";
import { oauthParts, type OAuthParts } from "./provider.ts";
import type { Account, UserTokens } from "./user-tokens.ts";

export interface SignInServer extends Pick<
  OAuthParts,
  "serverName" | "serverUrl" | "headers" | "credentials" | "egress"
> {
  readonly oauth: OAuthSettings;
}

/** The state of a sign-in while the person is at the authorization server. */
interface SignInAttempt {
  readonly server: string;
  readonly account: Account;
  readonly redirectUri: string;
  readonly scope?: string;
  readonly progress: FlowProgress;
}

/** Starts a person's sign-in. Returns the address to visit, and the `state` that the browser must return. */
export async function beginSignIn(
  account: Account,
  { oauth, ...server }: SignInServer,
  {
    tokens,
    redirectUri,
    signal,
  }: { readonly tokens: UserTokens; readonly redirectUri: string; readonly signal?: AbortSignal },
): Promise<{ readonly url: string; readonly state: string }> {
  const { serverName, serverUrl } = server;
  const { store, credentials, createFetch } = oauthParts(oauth, { ...server, tokenStore: tokens.of(account) });
  const state = randomBytes(32).toString("base64url");
  try {
    const fetchFn = await createFetch({ signal });
    const before: ServerCredentials = await store.read(serverUrl);
    const challenge = before.wanted ?? (await askForChallenge(serverUrl, fetchFn));
    const scope = joinScopes(oauth.scope, challenge.scope);
    let url: string | undefined;
    const settings = await credentials.fillOAuth(oauth);
    const client = createFlowClient({
      settings,
      serverUrl,
      store,
      redirectUri,
      scope,
      state,
      onRedirect: (to) => void (url = to.href),
    });
    await runFlow(client, { serverUrl, scope }, challenge, { fetchFn, anew: true });
    if (url === undefined) throw new Error("the authorization server did not ask for consent");
    const attempt: SignInAttempt = {
      server: serverName,
      account: { id: account.id, ...(account.tenant !== undefined && { tenant: account.tenant }) },
      redirectUri,
      ...(scope !== undefined && { scope }),
      progress: client.progress(),
    };
    await tokens.keepAttempt(state, attempt);
    return { url, state };
  } catch (error) {
    throw toOAuthFailure(error, serverName);
  }
}

/** Completes a sign-in with the redirect of the authorization server. Returns the server and the person. */
export async function finishSignIn(
  params: URLSearchParams,
  find: (server: string) => SignInServer | undefined,
  tokens: UserTokens,
): Promise<{ readonly server: string; readonly account: Account }> {
  const attempt = (await tokens.takeAttempt(params.get("state") ?? "")) as SignInAttempt | undefined;
  const found = attempt && find(attempt.server);
  if (attempt === undefined || found === undefined) {
    const problem = "This sign-in was not started here, was used already, or took longer than ten minutes.";
    throw fixable("UNAUTHENTICATED", problem, "Start it again on the page Connections.");
  }
  const { oauth, ...server } = found;
  const { serverName, serverUrl } = server;
  const { store, credentials, createFetch } = oauthParts(oauth, { ...server, tokenStore: tokens.of(attempt.account) });
  try {
    const fetchFn = await createFetch({});
    const client = createFlowClient({
      settings: await credentials.fillOAuth(oauth),
      serverUrl,
      store,
      redirectUri: attempt.redirectUri,
      scope: attempt.scope,
      progress: attempt.progress,
      onRedirect: () => undefined,
    });
    const { StreamableHTTPClientTransport: Transport } = await import("@modelcontextprotocol/client");
    // The transport is used only for its `finishAuth`, which checks the issuer before any other part of the redirect.
    await new Transport(new URL(serverUrl), { authProvider: client, fetch: fetchFn }).finishAuth(params);
    await store.update(serverUrl, ({ wanted: _granted, ...kept }) => kept);
    await tokens.signedIn(attempt.account, serverUrl);
    return { server: attempt.server, account: attempt.account };
  } catch (error) {
    throw toOAuthFailure(error, serverName);
  }
}
