import { randomBytes } from "node:crypto";
import type { UserLogin } from "../adapters/sources/credentials/user-login.ts";
import { tokensOf } from "../adapters/sources/mcp/oauth/credentials.ts";
import { type Account, type UserTokens } from "../adapters/sources/mcp/oauth/user-tokens.ts";
import { plainAddress } from "../adapters/sources/mcp/settings.ts";
import { fixable } from "../errors/arsenal-error.ts";
import type { Principal } from "../guard/principal.ts";
import type { Connection } from "../serve/connections.ts";
import type { Tool } from "../tool/tool.ts";

export interface ApiSource {
  readonly name: string;
  readonly login?: UserLogin | undefined;
}

interface ApiLogin extends ApiSource {
  readonly login: UserLogin;
}

/** A pending sign-in: the person has not yet come back from the authorization server. */
interface ApiAttempt {
  readonly server: string;
  readonly account: Account;
  readonly redirectUri: string;
  readonly verifier: string;
}

interface ApiConnectionParts {
  apis(): readonly ApiSource[];
  userTokens(): Promise<UserTokens>;
  listTools(filter: { readonly source: "openapi"; readonly principal: Principal }): Promise<readonly Tool[]>;
}

/** Prefix of the OAuth `state` of sign-ins to APIs. The browser returns it. */
const STATE = "api.";

/** Signs callers in to APIs. */
export function createApiConnections({ apis, userTokens, listTools }: ApiConnectionParts) {
  const all = (): readonly ApiLogin[] =>
    apis().flatMap(({ name, login }) => (login === undefined ? [] : [{ name, login }]));

  /** Returns the APIs with a tool that the caller may see. */
  async function visible(principal: Principal): Promise<readonly ApiLogin[]> {
    const known = all();
    if (known.length === 0) return [];
    const seen = new Set((await listTools({ source: "openapi", principal })).map(({ ensemble }) => ensemble));
    return known.filter(({ name }) => seen.has(name));
  }

  return {
    async find(server: string, principal: Principal): Promise<ApiLogin | undefined> {
      return (await visible(principal)).find(({ name }) => name === server);
    },
    async list(principal: Principal): Promise<readonly Connection[]> {
      const known = await visible(principal);
      const connections = known.map(async ({ name: server, login }) => {
        const tokens = tokensOf(await (await userTokens()).of(principal).read(login.key));
        const scope = tokens?.scope;
        const url = plainAddress(login.url);
        const { hasFallback } = login;
        return { server, url, signedIn: tokens !== undefined, ...(scope !== undefined && { scope }), hasFallback };
      });
      return (await Promise.all(connections)).toSorted((one, other) => one.server.localeCompare(other.server));
    },
    async begin({ name: server, login }: ApiLogin, { id, tenant }: Account, { redirectUri }: { redirectUri: string }) {
      const state = STATE + randomBytes(32).toString("base64url");
      const { url, verifier } = await login.begin({ redirectUri, state });
      const account = { id, ...(tenant !== undefined && { tenant }) };
      const attempt: ApiAttempt = { server, account, redirectUri, verifier };
      await (await userTokens()).keepAttempt(state, attempt);
      return { url, state };
    },
    /** Returns undefined if the sign-in does not belong to an API. */
    async finish(params: URLSearchParams): Promise<Pick<ApiAttempt, "server" | "account"> | undefined> {
      const state = params.get("state") ?? "";
      if (!state.startsWith(STATE)) return undefined;
      const attempt = (await (await userTokens()).takeAttempt(state)) as ApiAttempt | undefined;
      const api = attempt && all().find(({ name }) => name === attempt.server);
      if (attempt === undefined || api === undefined) {
        const problem = "This sign-in was not started here, was already used, or took longer than ten minutes.";
        throw fixable("UNAUTHENTICATED", problem, "Start it again on the page Connections.");
      }
      await api.login.finish(attempt.account, params, attempt);
      return attempt;
    },
  };
}
