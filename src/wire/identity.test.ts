import { describe, expect, it } from "vitest";
import { CAPABILITIES } from "../tool/tool.ts";
import type { ServerConfig } from "../config/config.ts";
import { configuredIdentity } from "./identity.ts";
import { resolveConfig } from "../config/load/resolve-config.ts";

const TOKEN = "a-token-of-enough-letters";

function identityOf(server: ServerConfig, token?: string): ReturnType<typeof configuredIdentity> {
  return configuredIdentity(resolveConfig({ server }).server, { token });
}

describe("the configured identity", () => {
  it("is none where nothing is configured", async () => {
    expect(await identityOf({})).toBe(undefined);
    expect(await identityOf({ auth: {} }, "")).toBe(undefined);
  });

  it("knows the holders of tokens, and the operator by the environment's", async () => {
    const rights = { roles: ["operator"], capabilities: CAPABILITIES, scopes: ["*"], local: false };
    const identity = await identityOf({ tokens: { alice: TOKEN } }, `${TOKEN}-of-the-operator`);
    const callerOf = (token: string): unknown =>
      identity?.authenticate({ headers: { authorization: `Bearer ${token}` } });
    expect(await callerOf(TOKEN)).toEqual({ id: "alice", ...rights });
    expect(await callerOf(`${TOKEN}-of-the-operator`)).toEqual({ id: "operator", ...rights });
    expect(await callerOf(`${TOKEN}x`)).toBe(undefined);
  });

  it("asks tokens before an issuer, so that they work while it cannot be reached", async () => {
    const jwt = { issuer: "http://127.0.0.1:1", scopes: ["tools:use"] };
    const identity = await identityOf({ tokens: { alice: TOKEN }, auth: { jwt } });
    expect(identity?.tokenOrigin).toEqual({ authorizationServers: ["http://127.0.0.1:1"], scopes: ["tools:use"] });
    expect(await identity?.authenticate({ headers: { authorization: `Bearer ${TOKEN}` } })).toMatchObject({
      id: "alice",
    });
    const unsure = { headers: { authorization: "Bearer eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl" } };
    await expect(identity?.authenticate(unsure)).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
  });

  it("fails at the start where the key file is not there", async () => {
    await expect(identityOf({ auth: { apiKeys: { file: "/nowhere/keys.json" } } })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { value: "/nowhere/keys.json" },
    });
  });

  it.each([
    ["server.auth.jwt.issuer", { jwt: {} }],
    ["server.auth.jwt.algorithms.0", { jwt: { issuer: "https://x.example", algorithms: ["HS256"] } }],
    ["server.auth.jwt.capabilities.0", { jwt: { issuer: "https://x.example", capabilities: ["fly"] } }],
    ["server.auth.apiKeys.file", { apiKeys: {} }],
  ])("is refused with a wrong %s", (field, auth) => {
    expect(() => resolveConfig({ server: { auth: auth as never } })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        details: expect.objectContaining({ field }) as unknown,
      }) as Error,
    );
  });
});
