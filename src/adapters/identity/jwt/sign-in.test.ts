import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runInMemory } from "../../../../test/e2e/terminal.ts";
import { startTokenIssuer, type TokenIssuer } from "../../../../test/e2e/token-issuer.ts";
import type { SignIn } from "../../../guard/identity.port.ts";
import { anyIdentity } from "../../../guard/identity/any-identity.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { bearerToken } from "../bearer-token.ts";
import { jwtIdentity, type JwtOptions } from "./jwt.ts";
import type { SignInSettings } from "./sign-in.ts";

const ATTEMPT = { redirectUri: "https://tools.example.com/ui/sign-in/callback", resource: "https://tools.example.com" };
const METADATA = "/.well-known/openid-configuration";
const JWT = "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl";

let issuer: TokenIssuer;
beforeEach(async () => {
  issuer = await startTokenIssuer();
  publish();
  answer({ access_token: JWT, token_type: "Bearer" });
  return () => issuer.close();
});

/** Publishes the endpoints, and whatever else the issuer says about itself. */
function publish(more: object = {}): void {
  const endpoints = {
    authorization_endpoint: `${issuer.issuer}/authorize?kind=web`,
    token_endpoint: `${issuer.issuer}/token`,
  };
  issuer.answers.set(METADATA, { status: 200, body: { issuer: issuer.issuer, ...endpoints, ...more } });
}

function answer(body: object, status = 200): void {
  issuer.answers.set("/token", { status, body });
}

function signInOf(settings: Partial<SignInSettings> = {}, options: Partial<JwtOptions> = {}): SignIn {
  const signIn = { clientId: "gateway", ...settings };
  const made = jwtIdentity({ issuer: issuer.issuer, ...options, signIn }).signIn;
  if (made === undefined) throw new Error("The identity signs nobody in.");
  return made;
}

const begin = async (settings?: Partial<SignInSettings>, options?: Partial<JwtOptions>) => {
  const { url, verifier } = await signInOf(settings, options).begin({ ...ATTEMPT, state: "s-1" });
  return { query: Object.fromEntries(new URL(url).searchParams), url: new URL(url), verifier };
};
const finish = (brought: Record<string, string>, settings?: Partial<SignInSettings>, options?: Partial<JwtOptions>) =>
  signInOf(settings, options).finish(brought, { ...ATTEMPT, verifier: "v-1" });

describe("signing in at an issuer begins", () => {
  it("at its authorization endpoint, with PKCE, for the gateway as resource", async () => {
    const { url, query, verifier } = await begin({}, { scopes: ["tools:use"] });
    expect(url.origin + url.pathname).toBe(`${issuer.issuer}/authorize`);
    expect(query).toEqual({
      kind: "web",
      response_type: "code",
      client_id: "gateway",
      redirect_uri: ATTEMPT.redirectUri,
      resource: ATTEMPT.resource,
      scope: "openid tools:use",
      state: "s-1",
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    expect(verifier).toMatch(/^[\w-]{43}$/);
    expect((await begin()).verifier).not.toBe(verifier);
  });

  it("with the scopes and parameters of the settings; an empty resource is left out", async () => {
    const parameters = { audience: "https://api.example.com", login_hint: "ada", resource: "" };
    const { query } = await begin({ scopes: ["api://tools/.default"], parameters });
    expect(query).toMatchObject({
      audience: "https://api.example.com",
      login_hint: "ada",
      scope: "api://tools/.default",
    });
    expect(query).not.toHaveProperty("resource");
    await finish({ code: "c-1" }, { parameters });
    expect(issuer.forms[0]?.form).not.toHaveProperty("resource");
  });

  it("with metadata that is kept for ten minutes and fetched once for many", async () => {
    const clock = createManualClock(0);
    const signIn = signInOf({}, { clock });
    const attempt = { ...ATTEMPT, state: "s" };
    await Promise.all([signIn.begin(attempt), signIn.begin(attempt), signIn.begin(attempt)]);
    await clock.advance(599_999);
    await signIn.begin(attempt);
    expect(issuer.requests).toEqual([METADATA]);
    await clock.advance(1);
    await signIn.begin(attempt);
    expect(issuer.requests).toEqual([METADATA, METADATA]);
  });

  it.each([
    ["has no authorization_endpoint", { authorization_endpoint: undefined }],
    ["sends people to plain HTTP elsewhere", { authorization_endpoint: "http://login.example/authorize" }],
    ["sends people to a script", { authorization_endpoint: "javascript:alert(1)" }],
  ])("not at all if the issuer %s", async (_what, metadata) => {
    publish(metadata);
    await expect(begin()).rejects.toMatchObject({
      code: "PROTOCOL_ERROR",
      message: expect.stringContaining("its metadata has no usable authorization_endpoint") as string,
    });
  });

  it("not at all with parameters that the gateway sets itself", () => {
    expect(() => signInOf({ parameters: { state: "mine" } })).toThrow(/Remove state/);
  });
});

describe("signing in at an issuer ends", () => {
  it("with the token that a public client gets for its code", async () => {
    expect(await finish({ code: "c-1", iss: issuer.issuer })).toBe(JWT);
    const { redirectUri: redirect_uri, resource } = ATTEMPT;
    const form = { grant_type: "authorization_code", code: "c-1", code_verifier: "v-1", redirect_uri, resource };
    expect(issuer.forms).toEqual([{ authorization: undefined, form: { ...form, client_id: "gateway" } }]);
  });

  it.each([
    [undefined, `Basic ${btoa("gateway:p%40ss%3A+w")}`, undefined],
    [["client_secret_post"], undefined, "p@ss: w"],
  ])("with a secret as the issuer takes it: %j", async (methods, authorization, posted) => {
    publish({ token_endpoint_auth_methods_supported: methods });
    const secrets = createSecrets({ environment: { DASHBOARD_SECRET: "p@ss: w" } });
    expect(await finish({ code: "c-1" }, { clientSecret: "env:DASHBOARD_SECRET" }, { secrets })).toBe(JWT);
    expect(issuer.forms[0]?.authorization).toBe(authorization);
    expect(issuer.forms[0]?.form["client_secret"]).toBe(posted);
  });

  it("with nothing if the answer is of another issuer, or should say whose it is and does not", async () => {
    await expect(finish({ code: "c-1", iss: "https://evil.example" })).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
    publish({ authorization_response_iss_parameter_supported: true });
    await expect(finish({ code: "c-1" })).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(issuer.forms).toEqual([]);
  });

  it.each([
    [{ error: "access_denied" }, "did not sign you in: access_denied. Sign in again."],
    [{ error: "access_denied", error_description: "No." }, "did not sign you in: access_denied (No.). Sign in again."],
    [{}, "it sent neither a code nor an error"],
  ])("with nothing if the person comes back with %j", async (brought: Record<string, string>, why) => {
    await expect(finish(brought)).rejects.toThrow(why);
    expect(issuer.forms).toEqual([]);
  });

  it.each([
    ["refuses the code", 400, { error: "invalid_grant" }, "refused to complete the sign-in: invalid_grant"],
    ["does not know the client", 401, { error: "invalid_client" }, "Check client_id and client_secret"],
    ["fails", 500, {}, "its token endpoint answered 500 without a token"],
    ["gives no token", 200, { token_type: "Bearer" }, "answered 200 without a token"],
    [
      "gives another kind of token",
      200,
      { access_token: JWT, token_type: "DPoP" },
      "a token that is not a Bearer token",
    ],
    ["gives an opaque token", 200, { access_token: "opaque", token_type: "bearer" }, "an opaque access token"],
  ])("with a clear message if the issuer %s", async (_what, status, body, why) => {
    answer(body, status);
    await expect(finish({ code: "c-1" })).rejects.toThrow(why);
  });

  it("without repeating a secret of the gateway that the issuer repeats", async () => {
    const secrets = createSecrets({ environment: { DASHBOARD_SECRET: "the-secret-of-the-client" } });
    answer({ error: "invalid_request", error_description: "the-secret-of-the-client is wrong" }, 400);
    const ended = finish({ code: "c-1" }, { clientSecret: "env:DASHBOARD_SECRET" }, { secrets });
    await expect(ended).rejects.toThrow("invalid_request");
    await expect(ended).rejects.not.toThrow("the-secret-of-the-client");
  });

  it("without following a redirect of the token endpoint", async () => {
    issuer.answers.set("/token", { status: 307, body: {}, location: `${issuer.issuer}/other` });
    await expect(finish({ code: "c-1" })).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
    expect(issuer.requests).not.toContain("/other");
  });
});

it("people sign out where the issuer says, and nowhere if it says nothing", async () => {
  expect(await signInOf().end("https://tools.example.com/ui")).toBe(undefined);
  publish({ end_session_endpoint: `${issuer.issuer}/logout` });
  const query = "client_id=gateway&post_logout_redirect_uri=https%3A%2F%2Ftools.example.com%2Fui";
  expect(await signInOf().end("https://tools.example.com/ui")).toBe(`${issuer.issuer}/logout?${query}`);
});

it("is the only way in, unless there are tokens or keys as well", () => {
  const jwt = jwtIdentity({ issuer: issuer.issuer, signIn: { clientId: "gateway" } });
  const token = bearerToken({ tokens: ["a-token-of-enough-letters"] });
  expect(anyIdentity([jwt]).signIn?.onlyWay).toBe(true);
  expect(anyIdentity([token, jwt]).signIn?.onlyWay).toBe(false);
  expect(anyIdentity([token]).signIn).toBe(undefined);
});

describe("doctor", () => {
  async function check(
    sign_in?: object,
    environment: Readonly<Record<string, string>> = {},
    address = issuer.issuer,
  ): Promise<unknown> {
    const folder = mkdtempSync(join(tmpdir(), "toolarsenal-sign-in-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const jwt = { issuer: address, ...(sign_in && { sign_in }) };
    writeFileSync(join(folder, "arsenal.yaml"), JSON.stringify({ server: { auth: { jwt } } }));
    const { out } = await runInMemory(["doctor", "--json"], { folder, environment });
    const { findings } = JSON.parse(out) as { readonly findings: readonly { readonly check: string }[] };
    return findings.find((finding) => finding.check === "sign-in");
  }

  it("checks that people can sign in", async () => {
    const sign_in = { client_id: "gateway", client_secret: "env:DASHBOARD_SECRET" };
    expect(await check(sign_in, { DASHBOARD_SECRET: "long-enough" })).toMatchObject({
      state: "ok",
      message: `people sign in at ${new URL(issuer.issuer).host}`,
    });
    expect(await check(sign_in)).toMatchObject({ state: "failed", fix: "Set DASHBOARD_SECRET." });
    publish({ token_endpoint: undefined });
    expect(await check({ client_id: "gateway" })).toMatchObject({
      state: "failed",
      message: `Cannot use the issuer ${issuer.issuer}: its metadata has no usable token_endpoint.`,
    });
  });

  it("says what to do if the issuer cannot be reached", async () => {
    expect(await check({ client_id: "gateway" }, {}, "http://127.0.0.1:1")).toMatchObject({
      state: "failed",
      message: expect.stringContaining("127.0.0.1:1"),
      fix: "Check server.auth.jwt.issuer, and that this machine can reach it.",
    });
  });

  it("does not ask the issuer if nobody signs in with a browser", async () => {
    expect(await check()).toBe(undefined);
    expect(issuer.requests).toEqual([]);
  });
});
