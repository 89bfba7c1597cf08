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
  /** The server's name in the configuration, as `toolarsenal login NAME` takes it. */
  readonly serverName: string;
  readonly serverUrl: string;
  /** Headers of the server's settings; authorization servers of another origin do not get them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly credentials?: Credentials;
  /** The store of tokens. Defaults to the settings' `tokenFile`, or the one in the user's configuration folder. */
  readonly tokenStore?: TokenStore;
  readonly egress?: Egress;
  /** The error for a caller who has to log in first. Defaults to one that names `toolarsenal login`. */
  readonly loginError?: (why: string) => Error;
  /** Receives warnings for the operator, such as a damaged token file. */
  readonly warn?: (message: string) => void;
}

export interface Refusable {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Adds tokens to the requests to one server, and renews them. Never waits for a person. */
export type OAuthProvider = ReturnType<typeof createOAuthProvider>;

const MORE_RIGHTS = "asks for more rights than its token has.";

/** The longest a renewal may take. It is done under a lock. */
const RENEWAL_MS = 60_000;

export function oauthParts(settings: OAuthSettings, parts: OAuthParts) {
  const { serverName, serverUrl, headers = {}, tokenStore } = parts;
  const { egress = createEgress(), credentials = createCredentials(serverName) } = parts;
  const { tokenFile, issuer, identity } = settings;
  // A program can get its own tokens again with one request, so they are not stored on disk.
  const ownStore = (): TokenStore =>
    isUnattended(settings) ? createTokenMemory() : createTokenFile({ path: tokenFile, warn: parts.warn });
  return {
    credentials,
    store: tokenStore ?? ownStore(),
    async createFetch(options: { readonly signal?: AbortSignal | undefined; onOutage?(why: string): void }) {
      const own = await credentials.fill(headers, "headers");
      return oauthFetch(egress, { serverUrl, issuer, identity, headers: own, ...options });
    },
    /** Gets tokens for the identity in filled-in settings; undefined if they have none. */
    async identityGrant(filled: OAuthSettings, fetchFn: FetchLike): Promise<IdentityGrant | undefined> {
      if (filled.identity === undefined) return undefined;
      const { createIdentityGrant } = await import("./identity-grant.ts");
      return createIdentityGrant(filled.identity, fetchFn, credentials.redactor.add);
    },
  };
}

/** OAuth for the requests of a running program: uses the stored tokens, renews them, and throws if only a person can log in. */
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

  /** True if the store has a better token than the refused one: a person logged in, or another process renewed it. */
  async function isReplaced(refused: string | undefined): Promise<boolean> {
    const current = await load();
    return current !== undefined && current.access_token !== refused && !(Number(current.expires_at) <= Date.now());
  }

  /** Renews once for all that were refused together. */
  function renewTogether(refused: string | undefined, challenge: Challenge): Promise<void> {
    return (renewal ??= outsideCalls(() => renew(refused, challenge)).finally(() => void (renewal = undefined)));
  }

  async function renew(refused: string | undefined, challenge: Challenge): Promise<void> {
    if (await isReplaced(refused)) return;
    if (!machine && tokens?.refresh_token === undefined)
      return askForLogin(challenge, tokens === undefined ? "asks for a login." : "does not accept its token any more.");
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
      // Never sent: its presence makes the SDK use the grant of a person, which `refuse` ends before any redirect.
      ...(machine ? {} : { redirectUri: "http://127.0.0.1/callback", onUnknownClient: refuse }),
      onRedirect: refuse,
    });
    try {
      await runFlow(client, { serverUrl, scope }, challenge, { fetchFn });
    } catch (error) {
      // An unreachable server has not refused the tokens: they are kept, and the next attempt may renew them.
      if (loginNeeded && outage !== undefined)
        throw toOAuthFailure(new TypeError(`its token endpoint ${outage}`), serverName);
      if (loginNeeded) return askForLogin(challenge, "cannot renew its token without a person.");
      throw toOAuthFailure(error, serverName);
    }
  }

  /** Stores the server's challenge, so that the login requests exactly the scopes in it. */
  async function askForLogin(challenge: Challenge, why: string): Promise<never> {
    const stored = await store.read(serverUrl);
    const scope = joinScopes(tokensOf(stored)?.scope, challenge.scope);
    const wanted = { ...challenge, ...(scope === undefined ? {} : { scope }) };
    if (!isDeepStrictEqual(stored.wanted, wanted)) await store.update(serverUrl, (current) => ({ ...current, wanted }));
    throw loginError(why);
  }

  /** Gets a token with more scopes than the one that was sent, if that needs no person. */
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
    /** Reads the tokens again before the next request: they may have been replaced or revoked. */
    forget(): void {
      loaded = false;
    },
    /** Makes a request with a token, and again with a better one if the server refuses it; `discard` gets unused answers. Rejects if a person is needed. */
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
      // The server refused the token although its scopes were extended.
      discard(answer);
      const challenge = challengeOf(answer.headers["www-authenticate"]);
      if (machine) throw lacksRights(serverName, challenge.scope);
      return askForLogin(challenge, MORE_RIGHTS);
    },
  };
}
