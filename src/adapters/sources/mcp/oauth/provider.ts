import { isDeepStrictEqual } from "node:util";
import { outsideCalls } from "../../../../guard/egress/domain-bound.ts";
import { createEgress, type Egress } from "../../../../guard/egress/egress.ts";
import { createCredentials, type Credentials } from "../connection/credentials.ts";
import { isUnattended, type OAuthSettings } from "../settings.ts";
import {
  asksForScope,
  type Challenge,
  challengeOf,
  createTokenMemory,
  joinScopes,
  type TokenStore,
  type Tokens,
  tokensOf,
} from "./credentials.ts";
import { lacksRights, needsLogin, toOAuthFailure } from "./failures.ts";
import { createFlowClient, runFlow } from "./flow-client.ts";
import { type FetchLike, oauthFetch } from "./guarded-fetch.ts";
import type { IdentityGrant } from "./identity-grant.ts";
import { createTokenFile } from "./token-file.ts";

export interface OAuthParts {
  /** The server's name in the configuration, for `toolarsenal login NAME`. */
  readonly serverName: string;
  readonly serverUrl: string;
  /** Headers of the server's settings. Authorization servers of another origin do not receive them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly credentials?: Credentials;
  /** Defaults to the settings' `tokenFile`, or the token file in the user's configuration folder. */
  readonly tokenStore?: TokenStore;
  readonly egress?: Egress;
  /** The error for a caller who must log in first. Defaults to an error that names `toolarsenal login`. */
  readonly loginError?: (why: string) => Error;
  /** Receives warnings for the operator, such as a damaged token file. */
  readonly warn?: (message: string) => void;
}

export interface Refusable {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Adds tokens to the requests to one server, and renews the tokens. Never waits for a person. */
export type OAuthProvider = ReturnType<typeof createOAuthProvider>;

const MORE_RIGHTS = "asks for more rights than its token has.";

/** The longest a renewal may take. It holds a lock. */
const RENEWAL_MS = 60_000;

export function oauthParts(settings: OAuthSettings, parts: OAuthParts) {
  const { serverName, serverUrl, headers = {}, tokenStore } = parts;
  const { egress = createEgress(), credentials = createCredentials(serverName) } = parts;
  const { tokenFile, issuer, identity } = settings;
  // An unattended program can get its tokens again with one request, so they are not stored on disk.
  const ownStore = (): TokenStore =>
    isUnattended(settings) ? createTokenMemory() : createTokenFile({ path: tokenFile, warn: parts.warn });
  return {
    credentials,
    store: tokenStore ?? ownStore(),
    async createFetch(options: { readonly signal?: AbortSignal | undefined; onOutage?(why: string): void }) {
      const own = await credentials.fill(headers, "headers");
      return oauthFetch(egress, { serverUrl, issuer, identity, headers: own, ...options });
    },
    /** Gets tokens for the identity in resolved settings; undefined if the settings have no identity. */
    async identityGrant(filled: OAuthSettings, fetchFn: FetchLike): Promise<IdentityGrant | undefined> {
      if (filled.identity === undefined) return undefined;
      const { createIdentityGrant } = await import("./identity-grant.ts");
      return createIdentityGrant(filled.identity, fetchFn, credentials.redactor.add);
    },
  };
}

/** Creates the OAuth provider of a running program. It uses the stored tokens, renews them, and throws if a person must log in. */
export function createOAuthProvider(settings: OAuthSettings, parts: OAuthParts) {
  const { serverName, serverUrl, loginError = (why: string) => needsLogin(serverName, why) } = parts;
  const machine = isUnattended(settings);
  const { store, credentials, createFetch, identityGrant } = oauthParts(settings, parts);
  let tokens: Tokens | undefined;
  let loaded = false;
  let renewal: Promise<void> | undefined;

  async function load(): Promise<Tokens | undefined> {
    const stored = await store.read(serverUrl);
    tokens = tokensOf(stored);
    for (const { tokens: issued, client } of Object.values(stored.byIssuer))
      for (const secret of [issued?.access_token, issued?.refresh_token, issued?.id_token, client?.client_secret])
        if (typeof secret === "string") credentials.redactor.add(secret);
    loaded = true;
    return tokens;
  }

  /** True if the store has a better token than the refused one, after a login or a renewal by another process. */
  async function isReplaced(refused: string | undefined): Promise<boolean> {
    const current = await load();
    return current !== undefined && current.access_token !== refused && !(Number(current.expires_at) <= Date.now());
  }

  /** Renews once for all requests that were refused together. */
  function renewTogether(refused: string | undefined, challenge: Challenge): Promise<void> {
    return (renewal ??= outsideCalls(() => renew(refused, challenge)).finally(() => void (renewal = undefined)));
  }

  async function renew(refused: string | undefined, challenge: Challenge): Promise<void> {
    if (await isReplaced(refused)) return;
    if (!machine && tokens?.refresh_token === undefined)
      return askForLogin(challenge, tokens === undefined ? "asks for a login." : "no longer accepts its token.");
    await store.exclusively(serverUrl, async () => {
      if (await isReplaced(refused)) return;
      await getTokens(challenge);
    });
    await load();
  }

  async function getTokens(challenge: Challenge): Promise<void> {
    let outage: string | undefined;
    let loginNeeded = false;
    const scope = joinScopes(settings.scope, challenge.scope);
    const refuse = (): never => {
      loginNeeded = true;
      throw new Error("A person is needed.");
    };
    const signal = AbortSignal.timeout(RENEWAL_MS);
    const fetchFn = await createFetch({ signal, onOutage: (why) => void (outage = why) });
    const filled = await credentials.fillOAuth(settings);
    const client = createFlowClient({
      settings: filled,
      serverUrl,
      store,
      identityGrant: await identityGrant(filled, fetchFn),
      // Never sent. With a redirect address, the SDK uses the grant of a person, which `refuse` ends before any redirect.
      ...(machine ? {} : { redirectUri: "http://127.0.0.1/callback", onUnknownClient: refuse }),
      onRedirect: refuse,
    });
    try {
      await runFlow(client, { serverUrl, scope }, challenge, { fetchFn });
    } catch (error) {
      // An unreachable server has not refused the tokens. They are kept for the next attempt.
      if (loginNeeded && outage !== undefined)
        throw toOAuthFailure(new TypeError(`its token endpoint ${outage}`), serverName);
      if (loginNeeded) return askForLogin(challenge, "cannot renew its token without a person.");
      throw toOAuthFailure(error, serverName);
    }
  }

  /** Stores the server's challenge, so the login requests exactly its scopes. */
  async function askForLogin(challenge: Challenge, why: string): Promise<never> {
    const stored = await store.read(serverUrl);
    const scope = joinScopes(tokensOf(stored)?.scope, challenge.scope);
    const wanted = { ...challenge, ...(scope === undefined ? {} : { scope }) };
    if (!isDeepStrictEqual(stored.wanted, wanted)) await store.update(serverUrl, (current) => ({ ...current, wanted }));
    throw loginError(why);
  }

  /** Gets a token with more scopes than the one that was sent, if this needs no person. */
  async function widen(sent: string | undefined, challenge: Challenge): Promise<void> {
    if (await isReplaced(sent)) return;
    if (!machine) return askForLogin(challenge, MORE_RIGHTS);
    const scope = joinScopes(tokens?.scope, challenge.scope);
    await renewTogether(sent, { ...challenge, ...(scope === undefined ? {} : { scope }) });
  }

  async function token(): Promise<string | undefined> {
    return (loaded ? tokens : await load())?.access_token;
  }

  return {
    /** Makes the next request read the tokens again, because they may have been replaced or revoked. */
    forget(): void {
      loaded = false;
    },
    /**
     * Makes a request with a token. If the server refuses it, gets a better token and repeats the request. `discard` receives unused responses.
     * Rejects if a person must log in.
     */
    async authorized<Answer extends Refusable>(
      attempt: (token: string | undefined) => Promise<Answer>,
      discard: (answer: Answer) => void,
    ): Promise<Answer> {
      let sent = await token();
      let answer = await attempt(sent);
      if (answer.status === 401) {
        discard(answer);
        await renewTogether(sent, challengeOf(answer.headers["www-authenticate"]));
        sent = await token();
        answer = await attempt(sent);
      }
      const lacks = (): boolean => asksForScope(answer.status, answer.headers["www-authenticate"]);
      if (!lacks()) return answer;
      discard(answer);
      await widen(sent, challengeOf(answer.headers["www-authenticate"]));
      answer = await attempt(await token());
      if (!lacks()) return answer;
      // The server refused the request even with more scopes.
      discard(answer);
      const challenge = challengeOf(answer.headers["www-authenticate"]);
      if (machine) throw lacksRights(serverName, challenge.scope);
      return askForLogin(challenge, MORE_RIGHTS);
    },
  };
}
