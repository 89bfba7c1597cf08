import { describe, expect, it } from "vitest";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Principal } from "../../guard/principal.ts";
import { identityContract } from "../../testing/identity.contract.ts";
import { CAPABILITIES } from "../../tool/tool.ts";
import { bearerToken, type BearerTokenOptions } from "./bearer-token.ts";

const DANA = "dana-has-this-secret-token";
const CI = "ci-has-another-secret-token";
const dana: Principal = { id: "dana", roles: ["reader"], capabilities: [], scopes: ["mail"], local: false };
const tokens = [{ token: DANA, principal: dana }, CI];

function callerOf(authorization: string, options: BearerTokenOptions = { tokens }): Promise<Principal | undefined> {
  return bearerToken(options).authenticate({ headers: { authorization } });
}

function thrownBy(options: BearerTokenOptions): unknown {
  try {
    bearerToken(options);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("bearerToken, as an identity", () => {
  const examples = {
    known: { headers: { authorization: `Bearer ${DANA}` } },
    unknown: { headers: { authorization: "Bearer nobody-has-this-token" } },
  };
  for (const { name, run } of identityContract(() => ({ adapter: bearerToken({ tokens }) }), examples)) it(name, run);
});

describe("bearerToken", () => {
  it("gives the principal that was set for the token", async () => {
    expect(await callerOf(`Bearer ${DANA}`)).toEqual(dana);
  });

  it("lets a token without a principal do what an operator may, from elsewhere", async () => {
    expect(await callerOf(`Bearer ${CI}`)).toEqual({
      id: "token-2",
      roles: ["operator"],
      capabilities: CAPABILITIES,
      scopes: ["*"],
      local: false,
    });
  });

  it.each([`bearer ${DANA}`, `BEARER ${DANA}`, `Bearer   ${DANA} `])("takes %j", async (header) => {
    expect(await callerOf(header)).toEqual(dana);
  });

  it.each([
    DANA,
    `Basic ${DANA}`,
    `Bearer${DANA}`,
    `Bearer ${DANA}x`,
    `Bearer ${DANA.slice(0, -1)}`,
    `Bearer ${DANA.toUpperCase()}`,
    `Bearer ${DANA}, Bearer ${CI}`,
    `Bearer ${DANA} ${CI}`,
  ])("does not take %j", async (header) => {
    expect(await callerOf(header)).toBe(undefined);
  });

  it("reads no header but Authorization", async () => {
    const identity = bearerToken({ tokens });
    expect(await identity.authenticate({ headers: { "proxy-authorization": `Bearer ${DANA}` } })).toBe(undefined);
  });

  it.each([
    ["tokens.0", { tokens: ["fifteen-letters"] }],
    ["tokens.1", { tokens: [DANA, ""] }],
    ["tokens.1", { tokens: [DANA, { token: "short", principal: dana }] }],
    ["tokens.0", { tokens: ["with spaces between the words"] }],
    ["tokens.0", { tokens: ["with-a-letter-é-of-two-bytes"] }],
    ["tokens.0", { tokens: [undefined as unknown as string] }],
    ["tokens.2", { tokens: [...tokens, { token: CI, principal: dana }] }],
    ["tokens", { tokens: [] }],
  ])("refuses a wrong %s when it is made", (field, options) => {
    const error = thrownBy(options);
    expect(error).toBeInstanceOf(ArsenalError);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { field } });
  });

  it("takes a token of 16 characters", () => {
    expect(thrownBy({ tokens: ["sixteen-letters!"] })).toBe(undefined);
  });

  it("tells a token to nobody, not even in an error", () => {
    const error = thrownBy({ tokens: ["hunter2-é-hunter2-hunter2"] });
    expect(String(error)).toContain("tokens.0 has a character that no HTTP header can carry");
    expect(String(error) + JSON.stringify(error)).not.toContain("hunter2");
  });
});
