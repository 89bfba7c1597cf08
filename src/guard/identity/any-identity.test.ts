import { describe, expect, it } from "vitest";
import { anyIdentity, identified } from "./any-identity.ts";
import type { Identified, Identity } from "../identity.port.ts";
import { localOperator } from "../principal.ts";

const dana = localOperator({ id: "dana", local: false });
const invalid: Identified = { refusal: { error: "invalid_token", description: "No." } };
const noCredentials = { headers: {} };

/** Says always the same, and counts how often it was asked. */
function saying(found: Identified, more: Partial<Identity> = {}): Identity & { asked: number } {
  const identity: Identity & { asked: number } = {
    name: "saying",
    challenge: "Bearer",
    asked: 0,
    identify: () => (identity.asked++, Promise.resolve(found)),
    authenticate: () => Promise.reject(new Error("identify is there")),
    ...more,
  };
  return identity;
}

/** Knows no reasons. */
const silent: Identity = { name: "silent", challenge: "Bearer", authenticate: () => Promise.resolve(undefined) };

describe("anyIdentity", () => {
  it("knows whom the first knows, and asks no other", async () => {
    const second = saying({ principal: localOperator() });
    const identity = anyIdentity([saying({ principal: dana }), second]);
    expect(await identity.authenticate(noCredentials)).toBe(dana);
    expect(second.asked).toBe(0);
  });

  it("knows whom a later one knows, though an earlier one refuses", async () => {
    const identity = anyIdentity([silent, saying(invalid), saying({ principal: dana })]);
    expect(await identity.identify?.(noCredentials)).toEqual({ principal: dana });
  });

  it("tells why the last one refused, where one did", async () => {
    const scope: Identified = { refusal: { error: "insufficient_scope", description: "More.", scopes: ["mail"] } };
    expect(await anyIdentity([saying(invalid), saying(scope), silent]).identify?.(noCredentials)).toEqual(scope);
    expect(await anyIdentity([silent, silent]).identify?.(noCredentials)).toEqual({});
  });

  it("asks one that knows no reasons who it is", async () => {
    const knowing: Identity = { ...silent, authenticate: () => Promise.resolve(dana) };
    expect(await anyIdentity([silent, knowing]).identify?.(noCredentials)).toStrictEqual({ principal: dana });
    expect(await identified(silent, noCredentials)).toStrictEqual({});
  });

  it("is named after all of them", () => {
    expect(anyIdentity([silent, saying({})]).name).toBe("silent+saying");
  });

  it("lets nobody in where an answer could not be found out", async () => {
    const broken = saying({}, { identify: () => Promise.reject(new Error("no key server")) });
    await expect(anyIdentity([silent, broken]).authenticate(noCredentials)).rejects.toThrow("no key server");
  });

  it("says where tokens come from, where one of them does", () => {
    const tokenOrigin = { authorizationServers: ["https://login.example.com"], scopes: [] };
    expect(anyIdentity([silent, saying({}, { tokenOrigin })]).tokenOrigin).toBe(tokenOrigin);
    expect("tokenOrigin" in anyIdentity([silent, silent])).toBe(false);
  });

  it("is the one itself where there is one", () => {
    expect(anyIdentity([silent])).toBe(silent);
  });
});
