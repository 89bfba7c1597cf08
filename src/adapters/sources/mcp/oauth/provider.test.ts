import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ProtectedServer, startProtectedServer, visit } from "../../../../../test/e2e/protected-server.ts";
import type { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { createEgress } from "../../../../guard/egress/egress.ts";
import { createSecrets } from "../../../../guard/secrets/secrets.ts";
import { createCredentials } from "../connection/credentials.ts";
import { connect } from "../connection/connect.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";
import type { OAuthSettings } from "../settings.ts";
import { authorize } from "./authorize.ts";
import { createOAuthProvider, type OAuthProvider } from "./provider.ts";
import { createTokenFile } from "./token-file.ts";
import { createTokenMemory, type TokenStore, tokensOf } from "./credentials.ts";

let server: ProtectedServer;
/** The authorization servers of these tests are on this machine, at other ports than their MCP servers. */
const egress = createEgress({ allowPrivate: true });
let store: TokenStore;
const warned = vi.spyOn(console, "warn").mockImplementation(() => {});

beforeEach(async () => {
  server = await startProtectedServer();
  store = createTokenMemory();
  warned.mockClear();
});
afterEach(() => server.close());
afterAll(() => warned.mockRestore());

function providerWith(settings: OAuthSettings = {}, tokenStore = store): OAuthProvider {
  return createOAuthProvider(settings, { serverName: "docs", egress, serverUrl: server.url, tokenStore });
}

function logIn(): Promise<void> {
  return authorize(
    {},
    { serverName: "docs", egress, serverUrl: server.url, tokenStore: store, showUrl: (url) => void visit(url) },
  );
}

/** Connects as the gateway does. */
function connectWith(provider: OAuthProvider): Promise<McpConnection> {
  return connect(
    { name: "docs", transport: { kind: "http", url: server.url } },
    {
      identity: { info: { name: "test", version: "1.0.0" }, capabilities: {} },
      oauth: provider,
    },
  );
}

/** Sends a request as a transport does. */
async function send(url: string, token = ""): Promise<{ status: number; headers: Record<string, string> }> {
  const accept = "application/json, text/event-stream";
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", accept };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const response = await fetch(url, { method: "POST", headers, body });
  return { status: response.status, headers: Object.fromEntries(response.headers) };
}

/** The token that a request is sent with. */
async function sentBy(provider: OAuthProvider): Promise<string> {
  const echo = async (token = "") => ({ status: 200, headers: {}, token });
  return (await provider.authorized(echo, () => {})).token;
}

function renewals(): number {
  return server.requestsTo("/token").filter(({ params }) => params["grant_type"] === "refresh_token").length;
}

async function failureOf(attempt: Promise<unknown>): Promise<ArsenalError> {
  return attempt.then(
    () => expect.unreachable("It should have failed."),
    (error: unknown) => error as ArsenalError,
  );
}

describe("a server that asks for a login", () => {
  it("fails at once with the command that fixes it, and introduces nobody to its authorization server", async () => {
    const error = await failureOf(connectWith(providerWith()));
    expect(error).toMatchObject({
      code: "SOURCE_UNAVAILABLE",
      message: "docs asks for a login.",
      details: { fix: "Run: toolarsenal login docs" },
    });
    expect(server.received).toEqual([]);
  });

  it("connects with the same provider once somebody has logged in", async () => {
    const provider = providerWith();
    await failureOf(connectWith(provider));
    await logIn();
    const connection = await connectWith(provider);
    expect(await connection.request("tools/list")).toMatchObject({ tools: [{ name: "note" }] });
    await connection.close();
  });

  it("proves itself by a secret that its settings refer to, and lets no token be shown", async () => {
    const secrets = createSecrets({ environment: { JOB: "the-job's-secret" } });
    const provider = createOAuthProvider(
      { grant: "client_credentials", clientId: "job", clientSecret: "env:JOB" },
      { serverName: "docs", egress, serverUrl: server.url, credentials: createCredentials("docs", { secrets }) },
    );
    const connection = await connectWith(provider);
    await connection.close();
    const [asked] = server.requestsTo("/token");
    const basic = Buffer.from(String(asked?.headers.authorization).slice("Basic ".length), "base64").toString();
    expect([basic, asked?.params["client_secret"]].join()).toContain("the-job");
    const token = await sentBy(provider);
    expect(secrets.redactor.text(`the-job's-secret ${token}`)).toBe("[redacted] [redacted]");
  });

  it("lets neither a client secret that is written out nor one it was issued be shown", async () => {
    const secrets = createSecrets();
    const provider = createOAuthProvider(
      { grant: "client_credentials", clientId: "job", clientSecret: "job-secret" },
      {
        serverName: "docs",
        egress,
        serverUrl: server.url,
        tokenStore: store,
        credentials: createCredentials("docs", { secrets }),
      },
    );
    await (await connectWith(provider)).close();
    await store.update(server.url, (stored) => ({
      ...stored,
      byIssuer: {
        ...stored.byIssuer,
        "https://other.example": { client: { client_id: "it", client_secret: "issued-secret" } },
      },
    }));
    server.expireTokens();
    await (await connectWith(provider)).close();
    expect(secrets.redactor.text("job-secret issued-secret")).toBe("[redacted] [redacted]");
  });

  it("gets a program's own token by itself", async () => {
    const provider = createOAuthProvider(
      { grant: "client_credentials", clientId: "job", clientSecret: "job-secret" },
      { serverName: "docs", egress, serverUrl: server.url },
    );
    const connection = await connectWith(provider);
    server.expireTokens();
    expect(await connection.request("tools/list")).toMatchObject({ tools: [{ name: "note" }] });
    expect(server.requestsTo("/token").map(({ params }) => params["grant_type"])).toEqual([
      "client_credentials",
      "client_credentials",
    ]);
    await connection.close();
  });
});

describe("a token that the server no longer accepts", () => {
  let provider: OAuthProvider;
  let connection: McpConnection;

  beforeEach(async () => {
    await logIn();
    provider = providerWith();
    connection = await connectWith(provider);
  });
  afterEach(() => connection.close());

  it("is renewed once for all requests that were refused together", async () => {
    const locked = vi.spyOn(store, "exclusively");
    server.expireTokens();
    const answers = await Promise.all(Array.from({ length: 10 }, () => connection.request("tools/list")));
    expect(answers).toHaveLength(10);
    expect(renewals()).toBe(1);
    expect(locked).toHaveBeenCalledTimes(1);
  });

  it("is not renewed again for a refusal that comes late", async () => {
    server.expireTokens();
    const arrived = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    const held = provider.authorized(
      async (token) => {
        const answer = await send(server.url, token);
        arrived.resolve();
        await late.promise;
        return answer;
      },
      () => {},
    );
    await arrived.promise;
    await provider.authorized((token) => send(server.url, token), vi.fn());
    late.resolve();
    expect((await held).status).toBe(200);
    expect(renewals()).toBe(1);
  });

  it("is renewed once by two processes that share a file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "toolarsenal-"));
    const path = join(folder, "tokens.json");
    const kept = await store.read(server.url);
    await createTokenFile({ path }).update(server.url, () => kept);
    server.expireTokens();
    const lists = [1, 2, 3].map(async () => {
      const own = await connectWith(providerWith({}, createTokenFile({ path })));
      await own.request("tools/list");
      await own.close();
    });
    await Promise.all(lists);
    expect(renewals()).toBe(1);
    await rm(folder, { recursive: true });
  });

  it("is not replaced by one that has expired meanwhile", async () => {
    await logIn();
    server.expireTokens();
    await store.update(server.url, ({ byIssuer, ...rest }) => {
      const issued = byIssuer[server.issuer] ?? {};
      const tokens = { token_type: "Bearer", access_token: "", ...issued.tokens, expires_at: Date.now() - 1 };
      return { ...rest, byIssuer: { [server.issuer]: { ...issued, tokens } } };
    });
    expect(await connection.request("tools/list")).toMatchObject({ tools: [{ name: "note" }] });
    expect(renewals()).toBe(1);
  });

  it("keeps its scope and its refresh token where the renewed one does not name them", async () => {
    const before = tokensOf(await store.read(server.url));
    server.behaviour.token = () => ({
      status: 200,
      body: JSON.stringify({ access_token: "renewed", token_type: "Bearer" }),
    });
    server.expireTokens();
    await failureOf(connection.request("tools/list"));
    expect(tokensOf(await store.read(server.url))).toEqual({
      access_token: "renewed",
      token_type: "Bearer",
      refresh_token: before?.refresh_token,
      scope: "read",
    });
  });

  it("asks for a login where it cannot be renewed, and nothing of it is shown", async () => {
    server.behaviour.token = (params) => ({
      status: 400,
      body: JSON.stringify({ error: "invalid_grant", error_description: `unknown: ${params["refresh_token"]}` }),
    });
    server.expireTokens();
    const error = await failureOf(connection.request("tools/list"));
    expect(error).toMatchObject({ code: "SOURCE_UNAVAILABLE", details: { fix: "Run: toolarsenal login docs" } });
    const shown = [error.message, error.stack, JSON.stringify(error), String(error.cause), ...warned.mock.calls.flat()];
    expect(warned.mock.calls.flat().join()).toContain("unknown: [secret]");
    for (const secret of server.secrets) expect(shown.join("\n")).not.toContain(secret);
  });

  it("is kept where the authorization server is away for a while, and renewed when it is back", async () => {
    server.behaviour.token = () => ({ status: 503, body: "Later." });
    server.expireTokens();
    const error = await failureOf(connection.request("tools/list"));
    expect(error).toMatchObject({
      code: "TRANSPORT_FAILED",
      message: "The authorization server of docs cannot be reached: its token endpoint answered 503",
    });
    delete server.behaviour.token;
    expect(await connection.request("tools/list")).toMatchObject({ tools: [{ name: "note" }] });
  });

  it("is not sent to another authorization server than the one that gave it", async () => {
    const other = await startProtectedServer();
    const kept = await store.read(server.url);
    await store.update(other.url, () => kept);
    const moved = createOAuthProvider({}, { serverName: "docs", egress, serverUrl: other.url, tokenStore: store });
    const error = await failureOf(moved.authorized((token) => send(other.url, token), vi.fn()));
    expect(error.details.fix).toBe("Run: toolarsenal login docs");
    expect(other.requestsTo("/token")).toEqual([]);
    expect(other.requestsTo("/register")).toEqual([]);
    await other.close();
  });
});

describe("a call that needs more rights than the token has", () => {
  it("fails with the command that fixes it; the login asks for both, and the call then works without a restart", async () => {
    await logIn();
    const connection = await connectWith(providerWith());
    const error = await failureOf(connection.request("tools/call", { name: "note" }));
    expect(error).toMatchObject({
      code: "SOURCE_UNAVAILABLE",
      message: "docs asks for more rights than its token has.",
      details: { fix: "Run: toolarsenal login docs" },
    });
    // What was asked for is not forgotten where the token is renewed in between.
    server.expireTokens();
    await connection.request("tools/list");
    await logIn();
    expect(server.requestsTo("/authorize").map(({ params }) => params["scope"])).toEqual(["read", "read write"]);
    expect((await store.read(server.url)).wanted).toBeUndefined();
    expect(await connection.request("tools/call", { name: "note" })).toMatchObject({ content: [{ text: "noted" }] });
    await connection.close();
  });

  it("gets them by itself where the token is a program's own", async () => {
    const settings = { grant: "client_credentials", clientId: "job", clientSecret: "job-secret" } as const;
    const connection = await connectWith(
      createOAuthProvider(settings, { serverName: "docs", egress, serverUrl: server.url }),
    );
    expect(await connection.request("tools/call", { name: "note" })).toMatchObject({ content: [{ text: "noted" }] });
    expect(server.requestsTo("/token").map(({ params }) => params["scope"])).toEqual(["read", "read write"]);
    server.expireTokens();
    const narrow = JSON.stringify({ access_token: server.grant("read"), token_type: "Bearer" });
    server.behaviour.token = () => ({ status: 200, body: narrow });
    expect(await failureOf(connection.request("tools/call", { name: "note" }))).toMatchObject({
      code: "PERMISSION_DENIED",
      message: "docs requires the scope write, which the client in its oauth settings does not have.",
    });
    await connection.close();
  });
});
