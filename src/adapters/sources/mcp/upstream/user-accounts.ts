import type { Caller } from "../../../../tool/handler.ts";
import { createCredentials } from "../connection/credentials.ts";
import { createTokenMemory, type TokenStore, tokensOf } from "../oauth/credentials.ts";
import { createOAuthProvider, type OAuthProvider } from "../oauth/provider.ts";
import { createTokenFile } from "../oauth/token-file.ts";
import { needsSignIn, type UserTokens } from "../oauth/user-tokens.ts";
import { type HttpSettings, type McpServerSettings, signsInCallers } from "../settings.ts";
import type { UpstreamParts } from "./upstream.ts";

/** The accounts of callers at one server. Each caller's requests carry that caller's own tokens. */
export interface UserAccounts {
  /** The tokens for listing tools. */
  readonly listing: OAuthProvider;
  /** Returns the tokens of a caller; undefined if the gateway's login is used. Throws SIGN_IN_REQUIRED if there are no tokens. */
  open(caller: Caller): Promise<OAuthProvider | undefined>;
  isSignedIn(caller: Caller): Promise<boolean>;
  /** Calls `changed` with the caller's `keyOf` when a caller signs in or out. Returns a function that stops the watch. */
  watch(changed: (account: string) => void): () => void;
}

/** Returns the accounts at a server whose callers sign in themselves; undefined if one login serves all callers. */
export function userAccountsOf(
  settings: McpServerSettings,
  parts: Pick<UpstreamParts, "egress" | "secrets"> & { readonly userTokens?: UserTokens | undefined },
): UserAccounts | undefined {
  const { transport } = settings;
  if (transport.kind === "stdio" || transport.kind === "websocket" || parts.userTokens === undefined) return undefined;
  return signsInCallers(transport.oauth) ? createUserAccounts(settings, transport, parts.userTokens, parts) : undefined;
}

function createUserAccounts(
  { name: serverName }: McpServerSettings,
  { url: serverUrl, headers, oauth = {} }: HttpSettings,
  tokens: UserTokens,
  { egress, secrets }: Pick<UpstreamParts, "egress" | "secrets">,
): UserAccounts {
  const { grant, tokenFile, account } = oauth;
  const common = { serverName, serverUrl, headers, ...(egress && { egress }) };
  const own = grant === "client_credentials" ? createTokenMemory() : createTokenFile({ path: tokenFile });

  function providerFor(tokenStore: TokenStore, who: string, caller?: Caller): OAuthProvider {
    const credentials = createCredentials(serverName, { secrets, caller });
    // Callers sign in as people. The grant of a program is for the gateway itself.
    const settings = caller === undefined ? oauth : { ...oauth, grant: "authorization_code" as const };
    return createOAuthProvider(settings, {
      ...common,
      credentials,
      tokenStore,
      loginError: () => needsSignIn(serverName, who),
    });
  }

  /** Returns the tokens for listing tools: the gateway's own login, or the login of the person who signed in last. */
  async function listingStore(): Promise<TokenStore> {
    if (grant === "client_credentials" || tokensOf(await own.read(serverUrl)) !== undefined) return own;
    const latest = await tokens.latest(serverUrl);
    return latest === undefined ? own : tokens.of(latest);
  }

  const listing = providerFor(
    {
      read: async (url) => (await listingStore()).read(url),
      update: async (url, change) => (await listingStore()).update(url, change),
      exclusively: async (url, work) => (await listingStore()).exclusively(url, work),
    },
    "the gateway",
  );

  return {
    listing,
    async open(caller: Caller): Promise<OAuthProvider | undefined> {
      if (await tokens.isSignedIn(caller, serverUrl)) return providerFor(tokens.of(caller), caller.id, caller);
      if (account === "user_or_gateway") return undefined;
      throw needsSignIn(serverName, caller.id);
    },
    watch(changed: (account: string) => void): () => void {
      return tokens.watch((change) => {
        if (change.serverUrl !== serverUrl) return;
        listing.forget();
        changed(change.account);
      });
    },
    isSignedIn: (caller) => tokens.isSignedIn(caller, serverUrl),
  };
}
