import { finishSignIn, beginSignIn, type SignInServer } from "../adapters/sources/mcp/oauth/sign-in.ts";
import { revokeTokens } from "../adapters/sources/mcp/oauth/revoke.ts";
import { type Account, keyOf, type UserTokens } from "../adapters/sources/mcp/oauth/user-tokens.ts";
import { tokensOf } from "../adapters/sources/mcp/oauth/credentials.ts";
import { createCredentials } from "../adapters/sources/mcp/connection/credentials.ts";
import { plainAddress, signsInCallers } from "../adapters/sources/mcp/settings.ts";
import type { McpUpstream } from "../adapters/sources/mcp/upstream/upstream.ts";
import { type ApiSource, createApiConnections } from "./api-connections.ts";
import { untilAborted } from "../base/turns/until-aborted.ts";
import { fixable } from "../errors/arsenal-error.ts";
import type { CallAudit } from "../guard/audit/call-audit.ts";
import type { ConnectionRecord } from "../guard/audit.port.ts";
import type { Egress } from "../guard/egress/egress.ts";
import type { Principal } from "../guard/principal.ts";
import type { Secrets } from "../guard/secrets/secrets.ts";
import type { Registry } from "../register/registry.ts";
import type { Connection, Connections } from "../serve/connections.ts";
import type { Tool } from "../tool/tool.ts";

export interface ConnectionParts {
  /** Returns the APIs that callers sign in to, connected or not. */
  apis(): readonly ApiSource[];
  readonly upstreams: { all(): readonly McpUpstream[] };
  userTokens(): Promise<UserTokens>;
  readonly egress: Egress;
  readonly secrets: Secrets;
  audit(): Promise<Pick<CallAudit, "record" | "refusal"> | undefined>;
  listTools(filter: { readonly source: "mcp" | "openapi"; readonly principal: Principal }): Promise<readonly Tool[]>;
  readonly registry: Pick<Registry, "ofEnsemble">;
}

export function createConnections(parts: ConnectionParts): Connections {
  const { upstreams, userTokens, egress, secrets, audit, listTools, registry } = parts;
  const apis = createApiConnections(parts);
  const servers = (): readonly McpUpstream[] => upstreams.all().filter((each) => signInServerOf(each) !== undefined);

  function signInServerOf({ name, settings: { transport } }: McpUpstream): SignInServer | undefined {
    if (transport.kind === "stdio" || transport.kind === "websocket") return undefined;
    const { oauth = {}, url: serverUrl, headers } = transport;
    if (!signsInCallers(oauth)) return undefined;
    const credentials = createCredentials(name, { secrets });
    // The configured grant is for the gateway's own login; people use an authorization code.
    const ofPerson = { ...oauth, grant: "authorization_code" as const };
    return { serverName: name, serverUrl, headers, credentials, egress, oauth: ofPerson };
  }

  /**
   * Returns the servers that a caller may see: servers with a tool for the caller, and servers that have not listed any tool yet because a caller
   * must sign in first.
   */
  async function visible(principal: Principal): Promise<readonly McpUpstream[]> {
    const all = servers();
    if (all.length === 0) return [];
    const hasListed = ({ name, state }: McpUpstream): boolean =>
      state.kind === "connected" && registry.ofEnsemble(name).length > 0;
    const unlisted = new Set(all.filter((each) => !hasListed(each)));
    const seen = new Set((await listTools({ source: "mcp", principal })).map(({ ensemble }) => ensemble));
    return all.filter((each) => unlisted.has(each) || seen.has(each.name));
  }

  async function find(server: string, principal: Principal): Promise<SignInServer> {
    const upstream = (await visible(principal)).find(({ name }) => name === server);
    const found = upstream && signInServerOf(upstream);
    if (found !== undefined) return found;
    const problem = `There is no server ${JSON.stringify(server)} that callers sign in to.`;
    throw fixable("ENSEMBLE_NOT_FOUND", problem, "List the connections to see their names.", { value: server });
  }

  async function record(outcome: ConnectionRecord["outcome"], server: string, account: Account): Promise<void> {
    await (await audit())?.record(connectionRecord(outcome, server, account));
  }

  return {
    async list(principal) {
      const known = await visible(principal);
      const ofApis = await apis.list(principal);
      if (known.length === 0) return ofApis;
      const store = (await userTokens()).of(principal);
      const connections = known.map(async ({ name, settings }): Promise<Connection | undefined> => {
        const { transport } = settings;
        if (transport.kind === "stdio" || transport.kind === "websocket") return undefined;
        const tokens = tokensOf(await store.read(transport.url));
        return {
          server: name,
          url: plainAddress(transport.url),
          signedIn: tokens !== undefined,
          ...(tokens?.scope !== undefined && { scope: tokens.scope }),
          hasFallback: transport.oauth?.account === "user_or_gateway",
        };
      });
      const listed = (await Promise.all(connections)).filter((each) => each !== undefined);
      return [...listed, ...ofApis].toSorted((one, other) => one.server.localeCompare(other.server));
    },
    async begin(server, principal, options) {
      const api = await apis.find(server, principal);
      if (api !== undefined) return apis.begin(api, principal, options);
      return beginSignIn(principal, await find(server, principal), { ...options, tokens: await userTokens() });
    },
    async finish(params) {
      const serverNamed = (name: string): SignInServer | undefined => {
        const upstream = servers().find((each) => each.name === name);
        return upstream && signInServerOf(upstream);
      };
      const refused = await (await audit())?.refusal(undefined, true);
      if (refused !== undefined) {
        const problem = `The sign-in was refused: it cannot be recorded: ${refused}.`;
        throw fixable("AUDIT_FAILED", problem, "Make the audit log writable.");
      }
      const { server, account } =
        (await apis.finish(params)) ?? (await finishSignIn(params, serverNamed, await userTokens()));
      await record("signed-in", server, account);
      return server;
    },
    async signOut(server, principal) {
      const api = await apis.find(server, principal);
      if (api !== undefined) {
        const wasSignedIn = tokensOf(await (await userTokens()).forget(principal, api.login.key)) !== undefined;
        if (wasSignedIn) await record("signed-out", server, principal);
        return wasSignedIn;
      }
      const found = await find(server, principal);
      const kept = await (await userTokens()).forget(principal, found.serverUrl);
      if (tokensOf(kept) === undefined) return false;
      await record("signed-out", server, principal);
      await revokeTokens(kept, found).catch(() => undefined);
      return true;
    },
    async signedIn(server, principal, signal) {
      const serverUrl = (await apis.find(server, principal))?.login.key ?? (await find(server, principal)).serverUrl;
      const tokens = await userTokens();
      const done = Promise.withResolvers<void>();
      const check = async (): Promise<void> => {
        if (await tokens.isSignedIn(principal, serverUrl)) done.resolve();
      };
      const stop = tokens.watch(({ account }) => {
        if (account === keyOf(principal)) void check().catch(() => undefined);
      });
      try {
        await check();
        await untilAborted(done.promise, signal);
      } finally {
        stop();
      }
    },
  };
}

/** Returns the audit record of a sign-in or sign-out. */
export function connectionRecord(
  outcome: ConnectionRecord["outcome"],
  server: string,
  { id: principal, tenant }: Account,
): ConnectionRecord {
  return { kind: "connection", outcome, targets: [server], principal, ...(tenant !== undefined && { tenant }) };
}
