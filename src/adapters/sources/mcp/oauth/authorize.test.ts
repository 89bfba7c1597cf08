import { createHash, generateKeyPairSync, verify } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ProtectedServer, startProtectedServer, visit } from "../../../../../test/e2e/protected-server.ts";
import type { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { createEgress } from "../../../../guard/egress/egress.ts";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import type { OAuthSettings } from "../settings.ts";
import { authorize, type AuthorizeParts } from "./authorize.ts";
import { tokensOf } from "./credentials.ts";
import { createTokenFile } from "./token-file.ts";
import { createTokenMemory, type TokenStore } from "./credentials.ts";

let server: ProtectedServer;
/** The authorization servers of these tests are on this machine, at other ports than their MCP servers. */
const egress = createEgress({ allowPrivate: true });
let store: TokenStore;

beforeEach(async () => {
  server = await startProtectedServer();
  store = createTokenMemory();
});
afterEach(() => server.close());

/** Logs in with a browser that does as it is told, and resolves with the page it ended on. */
async function logIn(
  settings: OAuthSettings = {},
  parts: Partial<AuthorizeParts> = {},
  change?: (redirect: URL) => void,
): Promise<{ readonly page: Response; readonly shown: URL }> {
  const shown: string[] = [];
  let page: Promise<Response> | undefined;
  await authorize(settings, {
    serverName: "docs",
    egress,
    serverUrl: server.url,
    tokenStore: store,
    showUrl: (url) => {
      shown.push(url);
      page = visit(url, change);
      page.catch(() => undefined);
    },
    ...parts,
  }).catch(async (error: unknown) => {
    await page;
    throw error;
  });
  return { page: (await page) as Response, shown: new URL(shown[0] ?? "") };
}

async function failureOf(attempt: Promise<unknown>): Promise<ArsenalError> {
  return attempt.then(
    () => expect.unreachable("It should have failed."),
    (error: unknown) => error as ArsenalError,
  );
}

async function storedTokens(): Promise<unknown> {
  return tokensOf(await store.read(server.url));
}

describe("a login", () => {
  it("registers a client, proves the code is its own, names the server and keeps the tokens", async () => {
    const { page, shown } = await logIn();

    const [registration] = server.requestsTo("/register");
    const redirectUri = shown.searchParams.get("redirect_uri") ?? "";
    expect(redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(registration?.json).toMatchObject({ redirect_uris: [redirectUri], application_type: "native" });
    expect(shown.searchParams.get("code_challenge_method")).toBe("S256");
    expect(shown.searchParams.get("resource")).toBe(server.url);
    expect(shown.searchParams.get("scope")).toBe("read");
    const [token] = server.requestsTo("/token");
    expect(token?.params["resource"]).toBe(server.url);
    expect(
      createHash("sha256")
        .update(token?.params["code_verifier"] ?? "")
        .digest("base64url"),
    ).toBe(shown.searchParams.get("code_challenge"));
    expect(await storedTokens()).toMatchObject({ access_token: expect.stringMatching(/^access-/), scope: "read" });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("You are logged in to docs. You can close this window.");
  });

  it("keeps them in a file that this user alone can read", async () => {
    const folder = await mkdtemp(join(tmpdir(), "toolarsenal-"));
    const tokenFile = join(folder, "new", "tokens.json");
    await authorize(
      { tokenFile },
      { serverName: "docs", egress, serverUrl: server.url, showUrl: (url) => void visit(url) },
    );
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "new"))).mode & 0o777).toBe(0o700);
    expect(tokensOf(await createTokenFile({ path: tokenFile }).read(server.url))?.access_token).toMatch(/^access-/);
    await rm(folder, { recursive: true });
  });

  it("uses a client that was registered before, where there is one", async () => {
    const { shown } = await logIn({ clientId: "given", clientSecret: "given-secret" });
    expect(server.requestsTo("/register")).toEqual([]);
    expect(shown.searchParams.get("client_id")).toBe("given");
    expect(server.requestsTo("/token")[0]?.headers.authorization).toBe(`Basic ${btoa("given:given-secret")}`);
  });

  it("sends a registered client to no other authorization server than its own", async () => {
    const error = await failureOf(logIn({ clientId: "given", clientSecret: "s", issuer: "https://auth.example.com" }));
    expect(error.code).toBe("PROTOCOL_ERROR");
    expect(server.requestsTo("/token")).toEqual([]);
  });

  it("names its metadata document instead of registering, where the server takes one", async () => {
    server.behaviour.clientDocuments = true;
    const { shown } = await logIn({ clientMetadataUrl: "https://example.com/client.json" });
    expect(shown.searchParams.get("client_id")).toBe("https://example.com/client.json");
    expect(server.requestsTo("/register")).toEqual([]);
  });

  it("registers once: the next login has the same client and address", async () => {
    const first = await logIn();
    const second = await logIn();
    expect(server.requestsTo("/register")).toHaveLength(1);
    expect(second.shown.searchParams.get("client_id")).toBe(first.shown.searchParams.get("client_id"));
    expect(second.shown.searchParams.get("redirect_uri")).toBe(first.shown.searchParams.get("redirect_uri"));
    expect(second.shown.searchParams.get("state")).not.toBe(first.shown.searchParams.get("state"));
  });

  it("says what to do where no client can register", async () => {
    server.behaviour.registration = false;
    const error = await failureOf(logIn());
    expect(error.code).toBe("SOURCE_UNAVAILABLE");
    expect(error.message).toContain("does not support dynamic client registration");
  });

  it("sends the server's own headers to no authorization server elsewhere", async () => {
    await logIn({}, { headers: { "x-api-key": "private" } });
    expect(server.received.length).toBeGreaterThan(3);
    expect(server.received.filter(({ headers }) => "x-api-key" in headers)).toEqual([]);
    expect(server.lastHeaders["x-api-key"]).toBe("private");
  });

  it("opens a browser only where it is given one, and does without where that fails", async () => {
    const opened: string[] = [];
    const { shown } = await logIn({}, { open: (url) => (opened.push(url), Promise.reject(new Error("no browser"))) });
    expect(opened).toEqual([shown.href]);
  });

  it("takes the answer on the port it was registered with, and says so where that is taken", async () => {
    const taken = createServer();
    const port = await listen(taken);
    const error = await failureOf(logIn({ redirectPort: port }));
    expect(error.message).toBe(`Port ${port} is in use, so the login cannot receive its redirect.`);
    await new Promise((closed) => void taken.close(closed));
    const { shown } = await logIn({ redirectPort: port });
    expect(shown.searchParams.get("redirect_uri")).toBe(`http://127.0.0.1:${port}/callback`);
  });

  it("takes another port, and registers again, where the one it had is taken", async () => {
    const first = await logIn();
    const taken = createServer();
    const port = Number(new URL(redirectOf(first.shown.href)).port);
    await listen(taken, port);
    await logIn();
    expect(server.requestsTo("/register")).toHaveLength(2);
    await new Promise((closed) => void taken.close(closed));
  });

  it("signs with a key instead of sending a secret", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = String(privateKey.export({ type: "pkcs8", format: "pem" }));
    await authorize(
      { grant: "client_credentials", clientId: "job", privateKey: pem },
      { serverName: "docs", egress, serverUrl: server.url, showUrl: () => expect.unreachable(), tokenStore: store },
    );
    const [request] = server.requestsTo("/token");
    const [header = "", claims = "", signature = ""] = (request?.params["client_assertion"] ?? "").split(".");
    const key = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
    expect(verify("sha256", Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, "base64url"))).toBe(true);
    expect(JSON.parse(atob(claims))).toMatchObject({ iss: "job", sub: "job", aud: server.issuer });
    expect(request?.headers.authorization).toBeUndefined();
  });

  it("needs no person for the grant of a program", async () => {
    await authorize(
      { grant: "client_credentials", clientId: "job", clientSecret: "job-secret" },
      { serverName: "docs", egress, serverUrl: server.url, showUrl: () => expect.unreachable(), tokenStore: store },
    );
    expect(server.requestsTo("/token")[0]?.params).toMatchObject({ grant_type: "client_credentials", scope: "read" });
    expect(await storedTokens()).toMatchObject({ access_token: expect.stringMatching(/^access-/) });
  });
});

describe("a login is refused and nothing is stored", () => {
  it.each([
    ["another issuer answers", "https://evil.example.com"],
    ["the issuer is missing from the answer of a server that names itself", undefined],
  ])("where %s", async (_what, iss) => {
    server.behaviour.iss = iss;
    const error = await failureOf(logIn());
    expect(error.code).toBe("PROTOCOL_ERROR");
    expect(error.message).toContain("Issuer mismatch in authorization response");
    expect(server.requestsTo("/token")).toEqual([]);
    expect(await storedTokens()).toBeUndefined();
  });

  it("where the metadata names another issuer than the one it was found at", async () => {
    server.behaviour.issuer = "https://auth.example.com";
    const error = await failureOf(logIn());
    expect(error.code).toBe("PROTOCOL_ERROR");
    expect([...server.requestsTo("/register"), ...server.requestsTo("/authorize")]).toEqual([]);
  });

  it("where the state is not the one it began with", async () => {
    let page: Promise<Response> | undefined;
    const error = await failureOf(logIn({}, { showUrl: (url) => void (page = visit(url, forge)) }));
    expect(error.code).toBe("PERMISSION_DENIED");
    expect(error.message).toContain("a different state");
    expect(server.requestsTo("/token")).toEqual([]);
    expect((await page)?.status).toBe(400);
  });

  it("where the person says no", async () => {
    server.behaviour.declined = true;
    const error = await failureOf(logIn());
    expect([error.code, error.details.fix]).toEqual(["PERMISSION_DENIED", "Run: toolarsenal login docs"]);
  });

  it("where the token endpoint answers with something else, which is not repeated", async () => {
    server.behaviour.token = () => ({ status: 200, body: "access_token=form-encoded-secret" });
    const error = await failureOf(logIn());
    expect(everythingIn(error)).toContain("something that is not a token");
    expect(everythingIn(error)).not.toContain("form-encoded");
  });

  it("where the token endpoint refuses, and what it quotes of ours is left out", async () => {
    server.behaviour.token = (params) => ({
      status: 400,
      body: JSON.stringify({
        error: "invalid_request",
        error_description: `bad code ${params["code"]} with ${params["code_verifier"]} for ${server.url}`,
      }),
    });
    const error = await failureOf(logIn());
    expect(error.message).toContain(`bad code [secret] with [secret] for ${server.url}`);
    for (const secret of [...server.secrets, server.requestsTo("/token")[0]?.params["code_verifier"] ?? ""])
      expect(everythingIn(error)).not.toContain(secret);
  });
});

describe("a login that does not end", () => {
  it("is broken off by its signal, frees its port and leaves the login before as it was", async () => {
    await logIn();
    const before = await store.read(server.url);
    const other = createServer();
    const redirectPort = await listen(other);
    await new Promise((closed) => void other.close(closed));
    const stop = new AbortController();
    let callback = "";
    const error = await failureOf(
      logIn({ redirectPort }, { signal: stop.signal, showUrl: (url) => ((callback = redirectOf(url)), stop.abort()) }),
    );
    expect(error.code).toBe("CANCELLED");
    expect(server.requestsTo("/register")).toHaveLength(2);
    await expect(fetch(callback)).rejects.toThrow("fetch failed");
    expect(await store.read(server.url)).toEqual(before);
  });

  it("ends after the time the person has", async () => {
    const clock = createManualClock();
    const { promise: shown, resolve } = Promise.withResolvers<string>();
    const login = failureOf(logIn({}, { clock, timeoutMs: 60_000, showUrl: resolve }));
    const callback = redirectOf(await shown);
    await clock.advance(59_999);
    expect((await fetch(callback)).status).toBe(404);
    await clock.advance(1);
    expect(await login).toMatchObject({ code: "TIMEOUT", message: "Nobody answered the login to docs within 60 s." });
    await expect(fetch(callback)).rejects.toThrow("fetch failed");
  });

  it("never begins where its signal has fired", async () => {
    expect((await failureOf(logIn({}, { signal: AbortSignal.abort() }))).code).toBe("CANCELLED");
    expect(server.received).toEqual([]);
  });
});

async function listen(own: Server, port = 0): Promise<number> {
  await new Promise<void>((listening) => void own.listen(port, "127.0.0.1", listening));
  return (own.address() as AddressInfo).port;
}

function forge(redirect: URL): void {
  redirect.searchParams.set("state", "forged");
}

function redirectOf(url: string): string {
  return new URL(url).searchParams.get("redirect_uri") ?? "";
}

/** All that a log could show of an error. */
function everythingIn(error: ArsenalError): string {
  return [error.message, error.stack, JSON.stringify(error.details), String(error.cause)].join("\n");
}
