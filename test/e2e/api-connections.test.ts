import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/arsenal.ts";
import { bearerToken } from "../../src/adapters/identity/bearer-token.ts";
import { openapi } from "../../src/adapters/sources/openapi/settings.ts";
import { localOperator } from "../../src/guard/principal.ts";
import type { ServedGateway } from "../../src/serve/serve-arsenal.ts";

const folder = mkdtempSync(join(tmpdir(), "toolarsenal-apis-"));
const KEYS = { ann: "token-of-ann-00000001", bob: "token-of-bob-00000002" };
type Name = keyof typeof KEYS;

/** An API and its authorization server. Codes and refresh tokens work once. */
const codes = new Map<string, string>();
const accessTokens = new Set<string>();
const refreshTokens = new Set<string>();
const secrets: string[] = [];
const tokenRequests: Readonly<Record<string, string>>[] = [];
const seen: (string | undefined)[] = [];
const api = createServer((request, response) => {
  void text(request).then((body) => {
    const send = (status: number, answer: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    const url = new URL(request.url ?? "/", "http://api");
    const form = Object.fromEntries(new URLSearchParams(body));
    const make = (kind: string): string => {
      const secret = `${kind}-${randomUUID()}`;
      secrets.push(secret);
      return secret;
    };
    switch (url.pathname) {
      case "/authorize": {
        const back = new URL(url.searchParams.get("redirect_uri") ?? "");
        const code = make("code");
        codes.set(code, url.searchParams.get("code_challenge") ?? "");
        back.searchParams.set("code", code);
        back.searchParams.set("state", url.searchParams.get("state") ?? "");
        return void response.writeHead(302, { location: back.href }).end();
      }
      case "/token": {
        tokenRequests.push(form);
        const { grant_type: grant, code = "", code_verifier: verifier = "", refresh_token: refresh = "" } = form;
        const proven = codes.get(code) === createHash("sha256").update(verifier).digest("base64url");
        codes.delete(code);
        const renewed = refreshTokens.delete(refresh);
        const granted = { authorization_code: proven, refresh_token: renewed, client_credentials: true }[grant ?? ""];
        if (granted !== true) return send(400, { error: "invalid_grant" });
        const [access, renewal] = [make("access"), make("refresh")];
        accessTokens.add(access);
        refreshTokens.add(renewal);
        return send(200, { access_token: access, token_type: "Bearer", refresh_token: renewal, expires_in: 3600 });
      }
      default: {
        const token = request.headers.authorization?.replace(/^Bearer /, "");
        seen.push(token);
        return accessTokens.has(token ?? "") ? send(200, { ok: true }) : send(401, {});
      }
    }
  });
});

const document = (address: string, authorizationUrl = `${address}/authorize`) => ({
  openapi: "3.1.0",
  info: { title: "Shop", version: "1" },
  servers: [{ url: address }],
  paths: { "/orders": { get: { operationId: "listOrders", responses: { 200: { description: "All." } } } } },
  security: [{ login: ["orders:read"] }],
  components: {
    securitySchemes: {
      login: {
        type: "oauth2",
        flows: {
          authorizationCode: { authorizationUrl, tokenUrl: `${address}/token`, scopes: {} },
        },
      },
    },
  },
});

let arsenal: ToolArsenal;
let gateway: ServedGateway;

beforeAll(async () => {
  await new Promise<void>((listening) => void api.listen(0, "127.0.0.1", listening));
  const server = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    audit: { file: join(folder, "audit.jsonl") },
    state: { file: join(folder, "state.sqlite") },
    security: { maxRequestsPerMinute: 10_000 },
  } as never);
  const user = { account: "user", clientId: "gateway" } as const;
  const service = { account: "user_or_gateway", clientId: "gateway", clientSecret: () => "service-secret" } as const;
  await arsenal.add(openapi({ name: "shop", document: document(server), server, credentials: { login: user } }));
  await arsenal.add(
    openapi({ name: "depot", document: document(server), server, credentials: { login: service as never } }),
  );
  const trap = document(server, "javascript:alert(1)");
  await arsenal.add(openapi({ name: "trap", document: trap, server, credentials: { login: user } }));
  const tokens = Object.entries(KEYS).map(([id, token]) => ({ token, principal: localOperator({ id, local: false }) }));
  gateway = await arsenal.serve({ mode: "static", port: 0, identity: bearerToken({ tokens }) });
});

afterAll(async () => {
  await gateway.close();
  await arsenal.close();
  api.closeAllConnections();
  await new Promise((closed) => void api.close(closed));
  rmSync(folder, { recursive: true, force: true });
});

const rest = (who: Name, path: string, method = "GET", body?: unknown): Promise<Response> =>
  fetch(new URL(`/api/v1${path}`, gateway.url), {
    method,
    headers: { authorization: `Bearer ${KEYS[who]}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** The status of a call, or the code of its error. */
async function outcome(who: Name, toolName = "shop.list_orders"): Promise<string> {
  const answer = await rest(who, "/execute", "POST", { toolName, arguments: {} });
  const { status, error } = (await answer.json()) as { status: string; error?: { code: string } };
  return error?.code ?? status;
}

async function signIn(who: Name, { cookies = true } = {}): Promise<string> {
  const started = await rest(who, "/connections/shop/sign-in", "POST");
  const { url } = (await started.json()) as { url: string };
  const cookie = started.headers.get("set-cookie")?.split(";")[0] ?? "";
  const consent = await fetch(url, { redirect: "manual" });
  const back = consent.headers.get("location") ?? "";
  const page = await fetch(back, { redirect: "manual", headers: cookies ? { cookie } : {} });
  return page.headers.get("location") ?? "";
}

describe("an API that callers sign in to themselves", () => {
  it("is listed, and refuses calls until the caller signed in, in the browser that started it", async () => {
    expect(await (await rest("ann", "/connections")).json()).toMatchObject({
      connections: [
        { server: "depot", signedIn: false, hasFallback: true },
        { server: "shop", signedIn: false, hasFallback: false },
      ],
    });
    expect(await outcome("ann")).toBe("SIGN_IN_REQUIRED");
    expect(await signIn("ann", { cookies: false })).toContain("problem=");
    expect(await outcome("ann")).toBe("SIGN_IN_REQUIRED");
    expect(seen).toEqual([]);
  });

  it("sends no browser to an address of the document that is not a page", async () => {
    expect((await rest("ann", "/connections/trap/sign-in", "POST")).status).toBe(404);
    expect(await outcome("ann", "trap.list_orders")).toBe("CONFIG_INVALID");
  });

  it("gets each caller's own token", async () => {
    expect(await signIn("ann")).toBe("/ui/connections?signed-in=shop");
    expect(await outcome("ann")).toBe("success");
    expect(await outcome("bob")).toBe("SIGN_IN_REQUIRED");
    expect(await signIn("bob")).toBe("/ui/connections?signed-in=shop");
    expect(await outcome("bob")).toBe("success");
    expect(await outcome("ann")).toBe("success");
    const [ofAnn, ofBob, again] = seen;
    expect(ofAnn).not.toBe(ofBob);
    expect(again).toBe(ofAnn);
  });

  it("renews a token that the API refused, before the next call", async () => {
    accessTokens.clear();
    expect(await outcome("ann")).toBe("EXECUTION_FAILED");
    expect(await outcome("ann")).toBe("success");
    expect(tokenRequests.filter(({ grant_type: grant }) => grant === "refresh_token")).toHaveLength(1);
  });

  it("asks for a new sign-in when the token cannot be renewed", async () => {
    accessTokens.clear();
    refreshTokens.clear();
    expect(await outcome("ann")).toBe("EXECUTION_FAILED");
    expect(await outcome("ann")).toBe("SIGN_IN_REQUIRED");
    for (const who of ["ann", "bob"] as const) await signIn(who);
    expect(await outcome("ann")).toBe("success");
  });

  it("stops when the caller signs out, and only for that caller", async () => {
    expect(await (await rest("ann", "/connections/shop", "DELETE")).json()).toEqual({ signedOut: true });
    expect(await outcome("ann")).toBe("SIGN_IN_REQUIRED");
    expect(await outcome("bob")).toBe("success");
  });

  it("uses the service account only if the settings say so", async () => {
    expect(tokenRequests.some(({ grant_type: grant }) => grant === "client_credentials")).toBe(false);
    expect(await outcome("ann", "depot.list_orders")).toBe("success");
    expect(tokenRequests.at(-1)?.["grant_type"]).toBe("client_credentials");
    expect(await outcome("ann")).toBe("SIGN_IN_REQUIRED");
  });

  it("records who signed in and out, and keeps tokens out of the state and the log", async () => {
    const { records } = (await (await rest("bob", "/audit?kind=connection")).json()) as { records: object[] };
    expect(records.toReversed()).toMatchObject([
      { outcome: "signed-in", principal: "ann", targets: ["shop"] },
      { outcome: "signed-in", principal: "bob", targets: ["shop"] },
      { outcome: "signed-in", principal: "ann", targets: ["shop"] },
      { outcome: "signed-in", principal: "bob", targets: ["shop"] },
      { outcome: "signed-out", principal: "ann", targets: ["shop"] },
    ]);
    const kept = ["state.sqlite", "audit.jsonl"].map((file) => readFileSync(join(folder, file), "latin1"));
    expect(secrets.length).toBeGreaterThan(4);
    for (const content of kept) for (const secret of secrets) expect(content.includes(secret)).toBe(false);
  });
});
