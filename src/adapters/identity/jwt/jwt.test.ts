import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JWTHeaderParameters, JWTPayload } from "jose";
import { startTokenIssuer, type TokenIssuer } from "../../../../test/e2e/token-issuer.ts";
import type { Identified } from "../../../guard/identity.port.ts";
import { identityContract } from "../../../testing/identity.contract.ts";
import { createManualClock, type ManualClock } from "../../../testing/manual-clock.ts";
import { jwtIdentity, type JwtOptions } from "./jwt.ts";
import { COOL_DOWN_MS, FRESH_MS, USABLE_MS } from "./issuer-keys.ts";

const RESOURCE = "https://tools.example.com/mcp";
const NOW_S = 1_800_000_000;

let issuer: TokenIssuer;
let clock: ManualClock;
beforeEach(async () => {
  issuer = await startTokenIssuer();
  clock = createManualClock(NOW_S * 1000);
  return () => issuer.close();
});

function claims(more: JWTPayload = {}): JWTPayload {
  return { iss: issuer.issuer, aud: RESOURCE, sub: "dana", exp: NOW_S + 600, ...more };
}

function identityOf(options: Partial<JwtOptions> = {}): ReturnType<typeof jwtIdentity> {
  return jwtIdentity({ issuer: issuer.issuer, clock, ...options });
}

async function presented(token: string, identity = identityOf()): Promise<Identified> {
  const found = await identity.identify?.({ headers: { authorization: `Bearer ${token}` }, resource: RESOURCE });
  return found ?? {};
}

async function tell(
  more: JWTPayload = {},
  { header, ...options }: Partial<JwtOptions> & { readonly header?: Partial<JWTHeaderParameters> } = {},
): Promise<unknown> {
  const { principal, refusal } = await presented(await issuer.sign(claims(more), header), identityOf(options));
  return principal ?? refusal?.description;
}

describe("jwt, as an identity", () => {
  let own: TokenIssuer;
  let known = "";
  beforeAll(async () => {
    own = await startTokenIssuer();
    known = await own.sign({ iss: own.issuer, aud: RESOURCE, sub: "dana", exp: Math.floor(Date.now() / 1000) + 600 });
  });
  afterAll(() => own.close());

  const examples = {
    known: {
      resource: RESOURCE,
      get headers() {
        return { authorization: `Bearer ${known}` };
      },
    },
    unknown: { resource: RESOURCE, headers: { authorization: "Bearer eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl" } },
  };
  for (const { name, run } of identityContract(() => ({ adapter: jwtIdentity({ issuer: own.issuer }) }), examples))
    it(name, run);
});

describe("a caller", () => {
  it("is whom the token is about, with the rights that it claims and no others", async () => {
    const more = { scope: "tools:use mail", roles: ["reader"], capabilities: ["read_data", "fly"] };
    expect(await tell(more)).toEqual({
      id: "jwt:dana",
      roles: ["reader"],
      capabilities: ["read_data"],
      scopes: ["tools:use", "mail"],
      local: false,
    });
  });

  it("has nothing that neither token nor operator gives", async () => {
    const bare = { id: "jwt:dana", roles: [], capabilities: [], scopes: [], local: false };
    expect(await tell({ tenant: "acme", local: true, roles: 5, scope: [1] })).toEqual(bare);
    expect(await tell({}, { capabilities: ["network_access"] })).toEqual({ ...bare, capabilities: ["network_access"] });
  });

  it("is read from the claims that the operator names, also from inside others", async () => {
    const names = {
      id: "email",
      tenant: "org.id",
      roles: "https://x.example/roles",
      scopes: "perms",
      capabilities: "may",
    };
    const more = {
      email: "dana@x.example",
      org: { id: "acme" },
      "https://x.example/roles": "lead reader",
      perms: ["mail"],
      may: "read_data financial",
    };
    expect(await tell(more, { claims: names })).toEqual({
      id: "jwt:dana@x.example",
      tenant: "acme",
      roles: ["lead reader"],
      capabilities: ["read_data", "financial"],
      scopes: ["mail"],
      local: false,
    });
  });

  it("has the scopes of scp where there is no scope, and never every scope", async () => {
    expect(await tell({ scp: ["mail", "*"] })).toMatchObject({ scopes: ["mail"] });
    expect(await tell({ scope: "* mail" })).toMatchObject({ scopes: ["mail"] });
  });

  it("without the tenant that the operator asks for, or without a name, is nobody", async () => {
    expect(await tell({}, { claims: { tenant: "org.id" } })).toBe("The token lacks the claim org.id.");
    expect(await tell({ org: "acme" }, { claims: { tenant: "org.id" } })).toBe("The token lacks the claim org.id.");
    expect(await tell({ sub: "" })).toBe("The token lacks the claim sub.");
    expect(await tell({}, { claims: { id: "constructor" } })).toBe("The token lacks the claim constructor.");
  });

  it("who lacks scopes is told all that are needed", async () => {
    const identity = identityOf({ scopes: ["mail", "tools:use", "tools:list"] });
    expect(identity.tokenOrigin).toEqual({
      authorizationServers: [issuer.issuer],
      scopes: ["mail", "tools:use", "tools:list"],
    });
    expect(await presented(await issuer.sign(claims({ scope: "mail" })), identity)).toEqual({
      refusal: {
        error: "insufficient_scope",
        description: "The token lacks the scope tools:use tools:list.",
        scopes: ["mail", "tools:use", "tools:list"],
      },
    });
    const { principal } = await presented(await issuer.sign(claims({ scope: "tools:list tools:use mail" })), identity);
    expect(principal?.id).toBe("jwt:dana");
  });
});

describe("a token", () => {
  it.each([
    ["expired 31 s ago", { exp: NOW_S - 31 }, "The token has expired."],
    ["valid from 31 s on", { nbf: NOW_S + 31 }, "The token is not valid yet."],
    ["without an end", { exp: undefined }, "The token has no expiry."],
    ["without an audience", { aud: undefined }, "The token is for another audience."],
    ["for another server", { aud: "https://mail.example.com/mcp" }, "The token is for another audience."],
    ["for another path", { aud: `${RESOURCE}/upstreams/files` }, "The token is for another audience."],
    ["for several others", { aud: ["a", "https://b.example"] }, "The token is for another audience."],
    ["of another issuer", { iss: "https://evil.example" }, "The token is from another issuer."],
    ["of an issuer that begins alike", { iss: "http://127.0.0.1" }, "The token is from another issuer."],
    ["with a nonce", { nonce: "n" }, "The token is an ID token."],
    ["with at_hash", { at_hash: "h" }, "The token is an ID token."],
    ["bound to a key", { cnf: { jkt: "k" } }, "The token is bound to a key, which a bearer token cannot prove."],
  ])("%s is refused", async (_what, more, why) => {
    expect(await tell(more as JWTPayload)).toBe(why);
  });

  it.each([
    ["expired 29 s ago", { exp: NOW_S - 29 }],
    ["valid from 29 s on", { nbf: NOW_S + 29 }],
    ["for the whole server", { aud: "https://tools.example.com" }],
    ["for several, this one among them", { aud: ["a", RESOURCE] }],
  ])("%s is taken", async (_what, more) => {
    expect(await tell(more)).toMatchObject({ id: "jwt:dana" });
  });

  it("of another kind is refused, and one that could be an ID token too", async () => {
    for (const typ of ["at+jwt", "application/AT+JWT", "JWT", undefined])
      expect(await tell({}, { header: { typ: typ as string } })).toMatchObject({ id: "jwt:dana" });
    for (const typ of ["logout+jwt", "dpop+jwt", "secevent+jwt", "at"])
      expect(await tell({}, { header: { typ } })).toBe("The token is not an access token.");
    const own = { aud: ["app", RESOURCE], azp: "app" };
    expect(await tell(own, { header: { typ: "JWT" } })).toBe(
      "The token's audience is its own client, so it may be an ID token.",
    );
    expect(await tell({ ...own, azp: "other" }, { header: { typ: "JWT" } })).toMatchObject({ id: "jwt:dana" });
    expect(await tell(own)).toMatchObject({ id: "jwt:dana" });
  });

  it("is for the audience that the operator names and for no other, where one is named", async () => {
    const options = { audience: ["tools", "more-tools"] };
    expect(await tell({ aud: "more-tools" }, options)).toMatchObject({ id: "jwt:dana" });
    expect(await tell({}, options)).toBe("The token is for another audience.");
    expect(await tell({ aud: "tool" }, { audience: "tools" })).toBe("The token is for another audience.");
  });

  it("is for nobody where nothing says what was called", async () => {
    const headers = { authorization: `Bearer ${await issuer.sign(claims())}` };
    expect(await identityOf().authenticate({ headers })).toBe(undefined);
  });

  it("with one letter changed anywhere is refused", async () => {
    const token = await issuer.sign(claims());
    const identity = identityOf();
    expect((await presented(token, identity)).principal?.id).toBe("jwt:dana");
    for (let at = 0; at < token.length - 1; at += 7) {
      if (token[at] === ".") continue;
      const changed = token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
      expect((await presented(changed, identity)).refusal?.error).toBe("invalid_token");
    }
  });

  it("signed with an algorithm outside the list is refused before any key is asked for", async () => {
    expect(await tell({}, { algorithms: ["RS256"] })).toBe(
      "The token is signed with an algorithm that is not accepted.",
    );
    expect(issuer.requests).toEqual([]);
  });

  it("that tells of critical parameters nobody knows is refused", async () => {
    const header = Buffer.from(JSON.stringify({ alg: "ES256", crit: ["x"], x: 1 })).toString("base64url");
    const [, body, signature] = (await issuer.sign(claims())).split(".");
    expect((await presented(`${header}.${body}.${signature}`)).refusal?.error).toBe("invalid_token");
  });

  it("is read from Authorization alone", async () => {
    const token = await issuer.sign(claims());
    const headers = { "x-api-key": token, cookie: `token=${token}`, "proxy-authorization": `Bearer ${token}` };
    expect(await identityOf().identify?.({ headers, resource: RESOURCE })).toEqual({});
  });
});

describe("the issuer's keys", () => {
  const fetches = (): number => issuer.requests.filter((path) => path === "/keys").length;

  it("are fetched once for many tokens at once, and found through the issuer's metadata", async () => {
    const identity = identityOf();
    const tokens = await Promise.all(Array.from({ length: 50 }, () => issuer.sign(claims())));
    const found = await Promise.all(tokens.map((token) => presented(token, identity)));
    expect(found.every(({ principal }) => principal?.id === "jwt:dana")).toBe(true);
    expect(issuer.requests).toEqual(["/.well-known/openid-configuration", "/keys"]);
  });

  it("are found in RFC 8414's place too, and for an issuer with a path", async () => {
    const deep = await startTokenIssuer("/tenants/a");
    const metadata = { issuer: deep.issuer, jwks_uri: new URL("/keys", deep.issuer).href };
    deep.answers.set("/tenants/a/.well-known/openid-configuration", { status: 404, body: {} });
    deep.answers.set("/.well-known/oauth-authorization-server/tenants/a", { status: 200, body: metadata });
    const token = await deep.sign(claims({ iss: deep.issuer }));
    const found = await presented(token, jwtIdentity({ issuer: deep.issuer, clock }));
    await deep.close();
    expect(found.principal?.id).toBe("jwt:dana");
  });

  it("are taken from jwksUri where it is set", async () => {
    const { principal } = await presented(
      await issuer.sign(claims()),
      identityOf({ jwksUri: `${issuer.issuer}/keys` }),
    );
    expect([principal?.id, issuer.requests]).toEqual(["jwt:dana", ["/keys"]]);
  });

  it("are fetched at most once a cool-down, whatever 1,000 unknown key ids ask for", async () => {
    const identity = identityOf();
    await presented(await issuer.sign(claims()), identity);
    const tokens = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => issuer.sign(claims(), { kid: `invented-${index}` })),
    );
    for (const round of [1, 2]) {
      await clock.advance(COOL_DOWN_MS);
      const found = await Promise.all(tokens.map((token) => presented(token, identity)));
      const why = new Set(found.map(({ refusal }) => refusal?.description));
      expect([...why]).toEqual(["The token is signed with a key that its issuer does not publish."]);
      expect(fetches()).toBe(1 + round);
    }
    await clock.advance(COOL_DOWN_MS - 1);
    await presented(tokens[0] ?? "", identity);
    expect(fetches()).toBe(3);
  });

  it("follow the issuer's rotation", async () => {
    const identity = identityOf();
    const before = await issuer.sign(claims());
    await presented(before, identity);
    await issuer.rotate();
    await clock.advance(COOL_DOWN_MS);
    expect((await presented(await issuer.sign(claims()), identity)).principal?.id).toBe("jwt:dana");
    expect((await presented(before, identity)).principal?.id).toBe("jwt:dana");
    expect(fetches()).toBe(2);
  });

  it("that were withdrawn serve no longer than keys are held", async () => {
    const identity = identityOf();
    const token = await issuer.sign(claims({ exp: NOW_S + 86_400 }));
    await presented(token, identity);
    await issuer.rotate({ withdraw: true });
    await clock.advance(FRESH_MS - 1);
    expect((await presented(token, identity)).principal?.id).toBe("jwt:dana");
    await clock.advance(1);
    expect((await presented(token, identity)).refusal?.description).toContain("does not publish");
  });

  it("serve for a while where the issuer cannot be reached, and then nobody is let in", async () => {
    const identity = identityOf();
    const token = await issuer.sign(claims({ exp: NOW_S + 86_400 }));
    await presented(token, identity);
    issuer.answers.set("/keys", { status: 500, body: {} });
    await clock.advance(USABLE_MS - 1);
    expect((await presented(token, identity)).principal?.id).toBe("jwt:dana");
    await clock.advance(COOL_DOWN_MS);
    await expect(presented(token, identity)).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
    issuer.answers.clear();
    await clock.advance(COOL_DOWN_MS);
    expect((await presented(token, identity)).principal?.id).toBe("jwt:dana");
  });

  it("that cannot be had leave the answer open, and are asked for once a cool-down", async () => {
    issuer.answers.set("/keys", { status: 200, body: { keys: "none" } });
    const identity = identityOf();
    const token = await issuer.sign(claims());
    for (let times = 0; times < 5; times++)
      await expect(presented(token, identity)).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
    expect(fetches()).toBe(1);
    await clock.advance(COOL_DOWN_MS);
    issuer.answers.clear();
    expect((await presented(token, identity)).principal?.id).toBe("jwt:dana");
  });

  it.each([
    ["of another issuer", { issuer: "https://evil.example", jwks_uri: "https://evil.example/keys" }],
    ["without jwks_uri", {}],
    ["with keys over plain HTTP elsewhere", { jwks_uri: "http://keys.example/keys" }],
  ])("are not taken from metadata %s", async (_what, metadata) => {
    const body = { issuer: issuer.issuer, ...metadata };
    issuer.answers.set("/.well-known/openid-configuration", { status: 200, body });
    await expect(presented(await issuer.sign(claims()))).rejects.toMatchObject({
      code: "PROTOCOL_ERROR",
      details: { field: "issuer", value: issuer.issuer },
    });
    expect(issuer.requests).toEqual(["/.well-known/openid-configuration"]);
  });

  it("are not fetched from a private address that the metadata names", async () => {
    const body = { issuer: issuer.issuer, jwks_uri: "https://169.254.169.254/keys" };
    issuer.answers.set("/.well-known/openid-configuration", { status: 200, body });
    await expect(presented(await issuer.sign(claims()))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });

  it("are not fetched from where a redirect leads", async () => {
    issuer.answers.set("/keys", { status: 302, body: {}, location: `${issuer.issuer}/other` });
    await expect(presented(await issuer.sign(claims()))).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
    expect(issuer.requests).not.toContain("/other");
  });
});

describe("options", () => {
  it.each([
    ["issuer", { issuer: "http://login.example.com" }],
    ["issuer", { issuer: "login.example.com" }],
    ["issuer", { issuer: "https://user:word@login.example.com" }],
    ["issuer", { issuer: "http://127.0.0.1.evil.example" }],
    ["jwksUri", { jwksUri: "http://login.example.com/keys" }],
    ["algorithms", { algorithms: ["HS256"] }],
    ["algorithms", { algorithms: ["none"] }],
    ["algorithms", { algorithms: [] }],
    ["scopes", { scopes: ["two scopes"] }],
    ["scopes", { scopes: ['"'] }],
  ])("with a wrong %s are refused when it is made: %j", (field, options) => {
    const given = { issuer: "https://login.example.com", ...options } as JwtOptions;
    expect(() => jwtIdentity(given)).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        details: expect.objectContaining({ field }) as unknown,
      }) as Error,
    );
  });
});
