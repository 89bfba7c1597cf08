import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type CryptoKey, decodeJwt, exportSPKI, importJWK, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CAPABILITIES } from "../../src/index.ts";
import { type EraServer, startEraServer } from "./era-server.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import { type OidcServer, startOidcServer } from "./oidc-server.ts";
import { runInMemory } from "./terminal.ts";

const ERAS = ["legacy", "modern"] as const;
type Era = (typeof ERAS)[number];

/** Passes everything on to a server, and keeps every byte that goes there. */
async function startRecorder(target: string): Promise<{ url: string; sent(): string; close(): Promise<void> }> {
  const chunks: Buffer[] = [];
  const { port, pathname } = new URL(target);
  const server = createServer((caller) => {
    const upstream = connect(Number(port), "127.0.0.1");
    caller.on("data", (chunk: Buffer) => void chunks.push(chunk));
    caller.pipe(upstream).pipe(caller);
    caller.on("error", () => upstream.destroy());
    upstream.on("error", () => caller.destroy());
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    sent: () => Buffer.concat(chunks).toString("latin1"),
    close: () => new Promise((closed) => void server.close(() => closed())),
  };
}

let folder: string;
let key: string;
let oidc: OidcServer;
let gateway: GatewayProcess;
const servers: EraServer[] = [];
const recorders = new Map<Era, Awaited<ReturnType<typeof startRecorder>>>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolarsenal-identity-"));
  const file = join(folder, "keys.json");
  key = (await runInMemory(["keys", "create", "ci", "--operator", "--file", file])).out.trim();
  oidc = await startOidcServer();
  for (const era of ERAS) {
    const server = await startEraServer(era);
    servers.push(server);
    recorders.set(era, await startRecorder(server.url));
  }
  gateway = await startGateway({
    mode: "static",
    tier: "lexical",
    servers: Object.fromEntries(Array.from(recorders, ([era, { url }]) => [era, { type: "http", url } as const])),
    settings: {
      server: {
        auth: {
          api_keys: { file },
          jwt: { issuer: oidc.issuer, scopes: ["tools:use"], capabilities: CAPABILITIES },
        },
      },
    },
  });
});

afterAll(async () => {
  await gateway.close();
  for (const server of servers) await server.close();
  for (const recorder of recorders.values()) await recorder.close();
  await oidc.close();
  await rm(folder, { recursive: true });
});

const BODY = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
});

async function call(
  headers: Readonly<Record<string, string>>,
  path = "/mcp",
): Promise<{ readonly status: number; readonly challenge: string | null }> {
  const own = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const response = await fetch(gateway.url + path, { method: "POST", body: BODY, headers: { ...own, ...headers } });
  await response.body?.cancel();
  return { status: response.status, challenge: response.headers.get("www-authenticate") };
}

const withToken = (token: string, path?: string): ReturnType<typeof call> =>
  call({ authorization: `Bearer ${token}` }, path);

const mcp = (): string => `${gateway.url}/mcp`;
const metadata = (path = "/mcp"): string =>
  `resource_metadata="${gateway.url}/.well-known/oauth-protected-resource${path}"`;

/** The claims of a good token, so that each bad one differs in one thing. */
async function good(more: JWTPayload = {}): Promise<JWTPayload> {
  return { ...decodeJwt(await oidc.accessToken(mcp())), ...more };
}

const now = (): number => Math.floor(Date.now() / 1000);

describe("a gateway that trusts an OpenID provider", () => {
  it("lets a caller in with an access token that the provider issued for it", async () => {
    expect(await withToken(await oidc.accessToken(mcp()))).toEqual({ status: 200, challenge: null });
    expect((await withToken(await oidc.forge(await good()))).status).toBe(200);
  });

  const BAD: readonly (readonly [string, string, () => Promise<string>])[] = [
    [
      "for another audience",
      "The token is for another audience.",
      () => oidc.accessToken("https://mail.example.com/mcp"),
    ],
    [
      "for one upstream, used for all",
      "The token is for another audience.",
      () => oidc.accessToken(`${mcp()}/upstreams/legacy`),
    ],
    [
      "of another issuer",
      "The token is from another issuer.",
      async () => oidc.forge(await good({ iss: "https://login.example.com" })),
    ],
    ["that expired", "The token has expired.", async () => oidc.forge(await good({ exp: now() - 60 }))],
    ["that is not valid yet", "The token is not valid yet.", async () => oidc.forge(await good({ nbf: now() + 60 }))],
    [
      "with alg none",
      "The token is signed with an algorithm that is not accepted.",
      async () => new UnsecuredJWT(await good()).encode(),
    ],
    [
      "signed by HS256 with the public key",
      "The token is signed with an algorithm that is not accepted.",
      async () => {
        const pem = await exportSPKI((await importJWK(oidc.publicKey, "RS256")) as CryptoKey);
        const header = { alg: "HS256", typ: "at+jwt", kid: String(oidc.publicKey.kid) };
        return new SignJWT(await good()).setProtectedHeader(header).sign(new TextEncoder().encode(pem));
      },
    ],
    [
      "with an unknown kid",
      "The token is signed with a key that its issuer does not publish.",
      async () => oidc.forge(await good(), { kid: "nobody's" }),
    ],
    ["that is an ID token", "The token is for another audience.", () => oidc.idToken()],
    [
      "that is an ID token for this very audience",
      "The token is an ID token.",
      async () => oidc.forge({ ...decodeJwt(await oidc.idToken()), aud: mcp() }, { typ: "JWT" }),
    ],
    ["that is no token", "The token is malformed.", () => Promise.resolve("nothing")],
  ];

  it.each(BAD)("answers 401 to a token %s", async (_what, description, make) => {
    const challenge = `Bearer realm="toolarsenal", error="invalid_token", error_description="${description}", scope="tools:use", ${metadata()}`;
    expect(await withToken(await make())).toEqual({ status: 401, challenge });
  });

  it("answers 401 without an error to a caller that brings nothing", async () => {
    const challenge = `Bearer realm="toolarsenal", scope="tools:use", ${metadata()}`;
    expect(await call({})).toEqual({ status: 401, challenge });
  });

  it("answers 403 to a token that lacks a scope, and names it", async () => {
    const challenge = `Bearer realm="toolarsenal", error="insufficient_scope", error_description="The token lacks the scope tools:use.", scope="tools:use", ${metadata()}`;
    expect(await withToken(await oidc.accessToken(mcp(), "mail"))).toEqual({ status: 403, challenge });
  });

  it("takes a token for one upstream there and nowhere else", async () => {
    const token = await oidc.accessToken(`${mcp()}/upstreams/legacy`);
    expect((await withToken(token, "/mcp/upstreams/legacy")).status).toBe(200);
    expect((await withToken(token, "/mcp/upstreams/modern")).status).toBe(401);
  });

  it("does not fetch keys for 1,000 unknown key ids", async () => {
    const fetches = (): number => oidc.requests.filter((path) => path === "/jwks").length;
    await withToken(await oidc.accessToken(mcp()));
    const before = fetches();
    const claims = await good();
    const headers = await Promise.all(
      Array.from({ length: 1000 }, async (_, index) => oidc.forge(claims, { kid: `invented-${index}` })),
    );
    const statuses = new Set<number>();
    for (let from = 0; from < headers.length; from += 50)
      for (const { status } of await Promise.all(headers.slice(from, from + 50).map((token) => withToken(token))))
        statuses.add(status);
    expect([...statuses]).toEqual([401]);
    expect(fetches() - before).toBeLessThanOrEqual(1);
  });

  it("tells an MCP client where to get its token, so that it needs nothing but its own credentials", async () => {
    const { id: clientId, secret: clientSecret } = oidc.client;
    const authProvider = new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: oidc.issuer });
    const client = new Client({ name: "itself", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(mcp()), { authProvider }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("legacy-odd");
    const { access_token: token = "" } = authProvider.tokens() ?? {};
    expect(decodeJwt(token)).toMatchObject({ aud: mcp(), scope: "tools:use" });
    await client.close();
  });
});

describe("a gateway with API keys", () => {
  it("lets a caller in with its key in either header, beside those with tokens", async () => {
    expect((await call({ "x-api-key": key })).status).toBe(200);
    expect((await withToken(key)).status).toBe(200);
    const wrong = key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
    expect((await call({ "x-api-key": wrong })).status).toBe(401);
  });

  it("names its servers neither to those without a key nor to those who guess", async () => {
    const ready = await fetch(`${gateway.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { upstreams: 2, connected: 2 }]);
    const guessed = await fetch(`${gateway.url}/mcp/upstreams/other`, {
      method: "POST",
      headers: { "x-api-key": key },
    });
    expect([guessed.status, await guessed.text()]).toEqual([404, expect.not.stringMatching(/legacy|modern/)]);
  });
});

describe("what a caller proves itself by", () => {
  const PLANES = [
    { plane: "aggregate", path: () => "/mcp", tool: (server: Era) => `${server}-odd` },
    { plane: "transparent", path: (server: Era) => `/mcp/upstreams/${server}`, tool: () => "odd" },
  ] as const;
  const CASES = PLANES.flatMap((each) => ERAS.flatMap((client) => ERAS.map((server) => ({ ...each, client, server }))));

  it.each(CASES)(
    "reaches no upstream: $client client, $server server, $plane plane",
    async ({ client: era, server, path, tool }) => {
      const token = await oidc.accessToken(mcp());
      for (const headers of [{ authorization: `Bearer ${token}` }, { "x-api-key": key }]) {
        const client = new Client(
          { name: "caller", version: "1.0.0" },
          era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {},
        );
        const requestInit = { headers: headers as Record<string, string> };
        await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url + path(server)), { requestInit }));
        const marked = `marked-${randomUUID()}`;
        const { content } = await client.callTool({ name: tool(server), arguments: { marked } });
        expect(content).toEqual([{ type: "text", text: "odd" }]);
        await client.close();
        expect(recorders.get(server)?.sent()).toContain(marked);
      }
      const sent = recorders.get(server)?.sent() ?? "";
      const parts = [...token.split("."), key, key.slice(6)];
      for (const part of [...parts, ...parts.map((each) => Buffer.from(each).toString("base64"))])
        expect(sent.includes(part)).toBe(false);
      expect(/^(?:x-api-key|authorization):/im.test(sent)).toBe(false);
    },
  );
});
