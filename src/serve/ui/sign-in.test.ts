import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { startTokenIssuer, type TokenIssuer } from "../../../test/e2e/token-issuer.ts";
import { jwtIdentity, type JwtOptions } from "../../adapters/identity/jwt/jwt.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { answerJson } from "../http/answer.ts";
import { createHttpServer } from "../http/http-server.ts";
import { createSeal, type Seal } from "../mcp/modern/seal.ts";
import { signInRoutes } from "./sign-in.ts";

const METADATA = "/.well-known/openid-configuration";
const KEY = new Uint8Array(32).fill(7);

let issuer: TokenIssuer;
beforeEach(async () => {
  issuer = await startTokenIssuer();
  const { issuer: name } = issuer;
  const metadata = {
    issuer: name,
    jwks_uri: `${name}/keys`,
    authorization_endpoint: `${name}/authorize`,
    token_endpoint: `${name}/token`,
  };
  issuer.answers.set(METADATA, { status: 200, body: metadata });
  return () => issuer.close();
});

/** Lets the issuer give a token for an audience. */
async function grant(aud: string): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const token = await issuer.sign({ iss: issuer.issuer, sub: "ada", aud, exp });
  issuer.answers.set("/token", { status: 200, body: { access_token: token, token_type: "Bearer" } });
  return token;
}

interface Gateway {
  readonly url: string;
  /** What was reported to the operator. */
  readonly reported: string[];
  /** Starts signing in. Returns the cookie and the state that the issuer sends back. */
  begin(query?: string): Promise<{ cookie: string; set: string; state: string; asked: URLSearchParams }>;
  /** Comes back from the issuer. Returns the status and what the page is given. */
  come(query: Record<string, string>, cookie?: string): Promise<{ status: number; set: string | null; given: unknown }>;
}

async function open(
  { seal = createSeal({ key: KEY }), publicUrl }: { seal?: Seal; publicUrl?: string } = {},
  options: Partial<JwtOptions> = {},
): Promise<Gateway> {
  const identity = jwtIdentity({ issuer: issuer.issuer, signIn: { clientId: "gateway" }, ...options });
  const { signIn } = identity;
  if (signIn === undefined) throw new Error("The identity signs nobody in.");
  const reported: string[] = [];
  const routes = signInRoutes({
    identity,
    signIn,
    seal,
    emit: (_name, data) => void reported.push((data as { message: string }).message),
    show: async ({ response }, outcome, status, headers) => answerJson(response, status, outcome, headers),
  });
  const server = await createHttpServer({ port: 0, identity, routes, ...(publicUrl && { publicUrl }) });
  onTestFinished(() => server.close());
  return {
    url: server.url,
    reported,
    async begin(query = "") {
      const response = await fetch(`${server.url}/ui/sign-in${query}`, { redirect: "manual" });
      const set = response.headers.get("set-cookie") ?? "";
      const asked = new URL(response.headers.get("location") ?? "http://nowhere").searchParams;
      return { set, cookie: set.split(";")[0] ?? "", state: asked.get("state") ?? "", asked };
    },
    async come(query, cookie = "") {
      const address = `${server.url}/ui/sign-in/callback?${new URLSearchParams(query).toString()}`;
      const response = await fetch(address, { headers: { cookie } });
      return { status: response.status, set: response.headers.get("set-cookie"), given: await response.json() };
    },
  };
}

describe("a person who signs in at the issuer", () => {
  it("comes back to the place they wanted, with a token that the gateway accepts, and leaves nothing behind", async () => {
    const { url, begin, come } = await open();
    const token = await grant(url);
    const { cookie, state, asked } = await begin("?to=%2Fui%2Fcatalog%3Fq%3Dx");
    expect(asked.get("redirect_uri")).toBe(`${url}/ui/sign-in/callback`);
    expect(asked.get("resource")).toBe(url);
    const { status, set, given } = await come({ code: "c-1", state }, cookie);
    expect([status, given]).toEqual([200, { token, to: "/ui/catalog?q=x" }]);
    expect(set).toMatch(/^toolarsenal-sign-in-.=; .*Max-Age=0/);
    expect(issuer.forms[0]?.form["code_verifier"]).toMatch(/^[\w-]{43}$/);
  });

  it("may come back to another process with the same state", async () => {
    const [one, two] = [
      await open({ publicUrl: "https://tools.example.com" }),
      await open({ publicUrl: "https://tools.example.com" }),
    ];
    await grant("https://tools.example.com");
    const { cookie, state } = await one.begin();
    expect(await two.come({ code: "c-1", state }, cookie)).toMatchObject({ status: 200, given: { to: "/ui" } });
  });

  it("is kept by a cookie that scripts, other sites and other paths do not get", async () => {
    const { begin } = await open();
    const { set, cookie, state } = await begin();
    expect(set.slice(cookie.length)).toBe("; Path=/ui/sign-in; Max-Age=600; HttpOnly; SameSite=Lax");
    expect(cookie).not.toContain(state);
    const behind = await open({ publicUrl: "https://tools.example.com" });
    expect((await behind.begin()).set).toMatch(/; Secure$/);
  });

  it("below a path comes back there, with a cookie for it, and cannot be sent out of it", async () => {
    const { begin, come, url } = await open({ publicUrl: "https://example.com/tools" });
    await grant("https://example.com/tools");
    const { set, cookie, state, asked } = await begin("?to=%2Ftools%2Fui%2Fcatalog%3Fq%3Dx");
    expect(asked.get("redirect_uri")).toBe("https://example.com/tools/ui/sign-in/callback");
    expect(asked.get("resource")).toBe("https://example.com/tools");
    expect(set).toContain("; Path=/tools/ui/sign-in; ");
    const { status, set: deleted, given } = await come({ code: "c-1", state }, cookie);
    expect([status, given]).toMatchObject([200, { to: "/tools/ui/catalog?q=x" }]);
    expect(deleted).toContain("; Path=/tools/ui/sign-in; Max-Age=0");
    for (const to of ["/ui/catalog", "/toolsx/ui", "/tools/ui/sign-in", "/tools/ui/../api"]) {
      const other = await begin(`?${new URLSearchParams({ to }).toString()}`);
      expect((await come({ code: "c-1", state: other.state }, other.cookie)).given).toMatchObject({ to: "/tools/ui" });
    }
    const out = await fetch(`${url}/ui/sign-in/out`, { redirect: "manual" });
    expect(out.headers.get("location")).toBe("/tools/ui");
  });

  it("can sign in in two tabs at once", async () => {
    const { url, begin, come } = await open();
    await grant(url);
    let [one, two] = [await begin(), await begin()];
    while (one.state[0] === two.state[0]) two = await begin();
    const cookies = `${one.cookie}; other=1; ${two.cookie}`;
    expect((await come({ code: "c-1", state: one.state }, cookies)).status).toBe(200);
    expect((await come({ code: "c-2", state: two.state }, cookies)).status).toBe(200);
  });

  it.each([
    "https://evil.example/ui/audit",
    "//evil.example/ui/audit",
    "/\\evil.example/ui/audit",
    "/ui/..//evil.example",
    "/uix",
    "/api/v1/info",
    "/ui/sign-in",
    "javascript:alert(1)",
  ])("cannot be sent to another place: %s", async (to) => {
    const { url, begin, come } = await open();
    await grant(url);
    for (const place of [to, "/ui/".padEnd(600, "x")]) {
      const { cookie, state } = await begin(`?${new URLSearchParams({ to: place }).toString()}`);
      expect((await come({ code: "c-1", state }, cookie)).given).toMatchObject({ to: "/ui" });
    }
  });
});

describe("nobody is signed in", () => {
  const NOT_STARTED = expect.stringContaining(
    "was not started in this browser, or took longer than ten minutes",
  ) as string;

  it("without the cookie of the browser that started it", async () => {
    const { url, begin, come } = await open();
    await grant(url);
    const { state } = await begin();
    const { status, given } = await come({ code: "c-1", state });
    expect([status, given]).toEqual([400, { to: "/ui", problem: NOT_STARTED }]);
    expect(issuer.forms).toEqual([]);
  });

  it("with a forged state or cookie", async () => {
    const { url, begin, come } = await open();
    await grant(url);
    const { cookie, state } = await begin("?to=/ui/audit");
    const forged = await come({ code: "c-1", state: `${state[0]}${"0".repeat(31)}` }, cookie);
    const problem = "The answer does not belong to the sign-in that this browser started. Sign in again.";
    expect([forged.status, forged.given]).toEqual([400, { to: "/ui/audit", problem }]);
    const other = createSeal().seal(
      { state, verifier: "v", to: "/ui" },
      { principal: { id: "page" }, plane: "page", method: "sign-in", params: {} },
    );
    expect((await come({ code: "c-1", state }, `${cookie.split("=")[0]}=${other}`)).given).toMatchObject({
      problem: NOT_STARTED,
    });
    expect(issuer.forms).toEqual([]);
  });

  it("later than ten minutes after it started", async () => {
    const clock = createManualClock(0);
    const { url, begin, come } = await open({ seal: createSeal({ key: KEY, clock }) });
    await grant(url);
    const { cookie, state } = await begin();
    await clock.advance(599_999);
    expect((await come({ code: "c-1", state }, cookie)).status).toBe(200);
    await clock.advance(1);
    expect((await come({ code: "c-1", state }, cookie)).given).toEqual({ to: "/ui", problem: NOT_STARTED });
  });

  it("if the issuer denies access or refuses the code", async () => {
    const { begin, come, reported } = await open();
    const first = await begin("?to=/ui/pins");
    const denied = await come(
      { error: "access_denied", error_description: "<b>No</b>", state: first.state },
      first.cookie,
    );
    expect([denied.status, denied.given]).toEqual([
      403,
      { to: "/ui/pins", problem: expect.stringContaining("did not sign you in: access_denied (<b>No</b>)") as string },
    ]);
    issuer.answers.set("/token", { status: 400, body: { error: "invalid_grant" } });
    const second = await begin();
    const replayed = await come({ code: "used", state: second.state }, second.cookie);
    expect(replayed).toMatchObject({
      status: 403,
      given: { problem: expect.stringContaining("invalid_grant") as string },
    });
    expect(reported).toEqual([]);
  });

  it("if the token is for another audience or lacks a scope", async () => {
    const { url, begin, come } = await open({}, { scopes: ["tools:use"] });
    for (const [audience, why] of [
      ["https://mail.example.com", "The token is for another audience."],
      [url, "The token lacks the scope tools:use."],
    ] as const) {
      await grant(audience);
      const { cookie, state } = await begin();
      const { status, given } = await come({ code: "c-1", state }, cookie);
      expect([status, given]).toEqual([403, { to: "/ui", problem: expect.stringContaining(why) as string }]);
    }
  });

  it("if the issuer is away: people are told to wait, and the operator why", async () => {
    const { begin, come, reported } = await open();
    const fresh = await open();
    const { cookie, state } = await begin();
    await issuer.close();
    const away = await come({ code: "c-1", state }, cookie);
    expect(away.status).toBe(502);
    expect(away.given).toMatchObject({
      problem: expect.stringMatching(/^Cannot sign in at 127\.0\.0\.1:\d+ now\. Retry/) as string,
    });
    expect(reported[0]).toContain("ECONNREFUSED");
    const response = await fetch(`${fresh.url}/ui/sign-in?to=/ui/audit`, { redirect: "manual" });
    expect([response.status, await response.json()]).toEqual([
      502,
      { to: "/ui/audit", problem: expect.stringContaining("Retry") as string },
    ]);
    expect(JSON.stringify([reported, fresh.reported])).not.toContain("c-1");
  });

  it("by a secret that is missing: its name stays with the operator", async () => {
    const { begin, come, reported } = await open(
      {},
      { signIn: { clientId: "gateway", clientSecret: "env:NOT_SET_ANYWHERE" } },
    );
    const { cookie, state } = await begin();
    const { given } = await come({ code: "c-1", state }, cookie);
    expect(JSON.stringify(given)).not.toContain("NOT_SET_ANYWHERE");
    expect(reported[0]).toContain("NOT_SET_ANYWHERE");
  });
});

it("signing out leads to the issuer's page for it, or back to the dashboard", async () => {
  const { url } = await open();
  const out = async (): Promise<string | null> =>
    (await fetch(`${url}/ui/sign-in/out`, { redirect: "manual" })).headers.get("location");
  expect(await out()).toBe("/ui");
  await issuer.close();
  expect(await out()).toBe("/ui");
});

it("signing in takes GET only", async () => {
  const { url } = await open();
  for (const path of ["", "/callback", "/out"])
    expect((await fetch(`${url}/ui/sign-in${path}`, { method: "POST" })).status).toBe(405);
});
