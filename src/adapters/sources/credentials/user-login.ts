import { createHash, randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { fixable } from "../../../errors/arsenal-error.ts";
import { outsideCalls } from "../../../guard/egress/domain-bound.ts";
import type { Egress } from "../../../guard/egress/egress.ts";
import type { Secrets } from "../../../guard/secrets/secrets.ts";
import type { Clock } from "../../../observe/clock.ts";
import { encodeForForm } from "../openapi/call/write-parameter.ts";
import type { Located } from "../openapi/read/servers.ts";
import { type ServerCredentials, type Tokens, tokensOf } from "../mcp/oauth/credentials.ts";
import { type Account, needsSignIn, type UserTokens } from "../mcp/oauth/user-tokens.ts";
import { parseObject } from "../parse-object.ts";
import type { UserCredential } from "./settings.ts";

/** The addresses of an authorization server, from the API's document or the settings. */
export interface LoginAddresses {
  readonly authorizationUrl: string;
  readonly tokenUrl: Located;
  readonly scopes: readonly string[];
}

/** Signs callers in to one API with OAuth 2 (authorization code and PKCE), and returns the tokens for their calls. */
export type UserLogin = ReturnType<typeof createUserLogin>;

interface UserLoginParts {
  readonly source: string;
  readonly scheme: string;
  readonly credential: UserCredential;
  readonly addresses: LoginAddresses;
  readonly tokens: UserTokens;
  readonly egress: Egress;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

/** A token is not used in its last 10 seconds, because it could expire on the way. */
const MARGIN_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const REQUEST_MS = 30_000;

export function createUserLogin(parts: UserLoginParts) {
  const { source, scheme, credential, addresses, tokens, egress, secrets, clock } = parts;
  const { tokenUrl } = addresses;
  const field = `credentials.${scheme}`;
  // A changed client or authorization server gets a new key, so no token is used with the wrong one.
  const key = JSON.stringify(["openapi", source, scheme, tokenUrl.url, credential.clientId]);

  const clientId = (): Promise<string> =>
    secrets.fill(credential.clientId, { scope: source, field: `${field}.clientId` });

  /** Undefined if the authorization server does not accept the code or the refresh token. */
  async function requestTokens(fields: Readonly<Record<string, string>>): Promise<Tokens | undefined> {
    const id = await clientId();
    const { clientSecret, sendIn = "header" } = credential;
    const use = { scope: source, field: `${field}.clientSecret` };
    const secret = clientSecret === undefined ? undefined : await secrets.resolve(clientSecret, use);
    const isBasic = secret !== undefined && sendIn === "header";
    const basic = Buffer.from(`${encodeForForm(id)}:${encodeForForm(secret ?? "")}`).toString("base64");
    const body = new URLSearchParams({
      ...fields,
      ...(!isBasic && { client_id: id }),
      ...(secret !== undefined && !isBasic && { client_secret: secret }),
    });
    const answer = await egress.request(tokenUrl.url, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        "user-agent": "toolarsenal",
        ...(isBasic && { authorization: `Basic ${basic}` }),
      },
      body: String(body),
      signal: AbortSignal.timeout(REQUEST_MS),
      maxBytes: MAX_BYTES,
      // A redirect could send the secrets to another host.
      maxRedirects: 0,
      ...(tokenUrl.trusted && { allowPrivate: true }),
    });
    const read = parseObject(await text(answer.body)) ?? {};
    const { access_token: access, refresh_token: refresh, scope, expires_in: seconds, error } = read;
    if (answer.status >= 300 || typeof access !== "string" || access === "") {
      const code = typeof error === "string" && /^[\w-]{1,60}$/.test(error) ? error : "";
      if (code === "invalid_grant") return undefined;
      throw refused(`HTTP ${answer.status} ${code}`.trim());
    }
    for (const secretToken of [access, refresh]) if (typeof secretToken === "string") secrets.redactor.add(secretToken);
    return {
      access_token: access,
      token_type: "Bearer",
      ...(typeof refresh === "string" && { refresh_token: refresh }),
      ...(typeof scope === "string" && { scope }),
      ...(typeof seconds === "number" && { expires_at: clock.now() + seconds * 1000 }),
    };
  }

  function refused(answered: string) {
    const problem = `The authorization server of ${source} answered ${answered}.`;
    return fixable("SOURCE_UNAVAILABLE", problem, `Sign in again, or check ${field}.`, { beforeSend: true });
  }

  const signInAgain = (account: Account) => needsSignIn(source, account.id, { hasCommand: false });

  const keep =
    (granted: Tokens) =>
    (current: ServerCredentials): ServerCredentials => ({
      ...current,
      issuer: tokenUrl.url,
      byIssuer: { [tokenUrl.url]: { tokens: { ...tokensOf(current), ...granted } } },
    });

  const isFresh = ({ expires_at: until }: Tokens): boolean => until === undefined || until - MARGIN_MS > clock.now();

  /** Renews a caller's token. Concurrent processes renew it only once. */
  async function renew(account: Account): Promise<string> {
    const store = tokens.of(account);
    return store.exclusively(key, async () => {
      const current = tokensOf(await store.read(key));
      if (current === undefined) throw signInAgain(account);
      if (isFresh(current)) return current.access_token;
      const { refresh_token: refresh } = current;
      const asked = refresh && (await requestTokens({ grant_type: "refresh_token", refresh_token: refresh }));
      if (!asked) {
        await tokens.forget(account, key);
        throw signInAgain(account);
      }
      const fresh = { expires_at: undefined, ...asked };
      // A caller who signed out meanwhile stays signed out.
      const kept = await store.update(key, (now) => (tokensOf(now) === undefined ? now : keep(fresh)(now)));
      if (tokensOf(kept) === undefined) throw signInAgain(account);
      return fresh.access_token;
    });
  }

  return {
    key,
    url: addresses.authorizationUrl,
    hasFallback: credential.account === "user_or_gateway",
    /** Returns the address for the browser, and the secret that `finish` needs. */
    async begin({ redirectUri, state }: { readonly redirectUri: string; readonly state: string }) {
      const verifier = randomBytes(32).toString("base64url");
      const url = new URL(addresses.authorizationUrl);
      const asked = {
        response_type: "code",
        client_id: await clientId(),
        redirect_uri: redirectUri,
        state,
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
        ...(addresses.scopes.length > 0 && { scope: addresses.scopes.join(" ") }),
      };
      for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
      return { url: url.href, verifier };
    },
    /** Exchanges the code from the browser for tokens, and stores them. */
    async finish(
      account: Account,
      params: URLSearchParams,
      attempt: { readonly redirectUri: string; readonly verifier: string },
    ) {
      const code = params.get("code");
      if (code === null) throw refused(onlyCode(params.get("error")));
      const { redirectUri: redirect_uri, verifier: code_verifier } = attempt;
      const granted = await requestTokens({ grant_type: "authorization_code", code, redirect_uri, code_verifier });
      if (granted === undefined) throw refused("that the code is not valid");
      await tokens.of(account).update(key, () => keep(granted)({ byIssuer: {} }));
      await tokens.signedIn(account, key);
    },
    /**
     * Returns the caller's token; undefined if the caller has none and the gateway's token is used instead. Throws SIGN_IN_REQUIRED if a sign-in is
     * needed.
     */
    async token(account: Account): Promise<string | undefined> {
      const current = tokensOf(await tokens.of(account).read(key));
      if (current === undefined) {
        if (credential.account === "user_or_gateway") return undefined;
        throw signInAgain(account);
      }
      return isFresh(current) ? current.access_token : outsideCalls(() => renew(account));
    },
    /** Makes the next call renew a token that the API refused. */
    async expire(account: Account, token: string): Promise<void> {
      await tokens.of(account).update(key, (current) => {
        const kept = tokensOf(current);
        return kept?.access_token === token ? keep({ ...kept, expires_at: 0 })(current) : current;
      });
    },
  };
}

function onlyCode(error: string | null): string {
  return error !== null && /^[\w-]{1,60}$/.test(error) ? error : "without a code";
}
