import { describe, expect, it } from "vitest";
import { missingCapabilities, missingScopes } from "./principal.ts";

describe("missingCapabilities", () => {
  it("names what the principal lacks, in the tool's order", () => {
    const tool = { capabilities: ["financial", "read_data", "pii_access"] } as const;
    expect(missingCapabilities(tool, { capabilities: ["read_data"] })).toEqual(["financial", "pii_access"]);
  });

  it("finds nothing missing from a tool that declares nothing", () => {
    expect(missingCapabilities({ capabilities: [] }, { capabilities: [] })).toEqual([]);
  });
});

describe("missingScopes", () => {
  it("names the scopes the principal lacks", () => {
    const tool = { requiredScopes: ["orders:read", "orders:write"] };
    expect(missingScopes(tool, { scopes: ["orders:read"] })).toEqual(["orders:write"]);
  });

  it("takes the scope * as every scope", () => {
    expect(missingScopes({ requiredScopes: ["orders:write"] }, { scopes: ["*"] })).toEqual([]);
  });

  it("compares scopes whole: a prefix or a partial wildcard grants nothing", () => {
    const tool = { requiredScopes: ["orders:write"] };
    expect(missingScopes(tool, { scopes: ["orders", "orders:*"] })).toEqual(["orders:write"]);
  });
});
