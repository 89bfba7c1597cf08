import { describe, expect, it } from "vitest";
import { localOperator, principalOr } from "./principal.ts";

describe("localOperator", () => {
  it("may do everything and approve", () => {
    expect(localOperator()).toEqual({
      id: "local",
      roles: ["operator", "approver"],
      capabilities: [
        "read_data",
        "write_data",
        "delete_data",
        "execute_code",
        "network_access",
        "file_system",
        "financial",
        "pii_access",
        "external_api",
      ],
      scopes: ["*"],
      local: true,
    });
  });

  it("takes overrides", () => {
    expect(localOperator({ id: "dana", roles: [] })).toMatchObject({ id: "dana", roles: [], local: true });
  });
});

describe("principalOr", () => {
  it("gives the operator only where nobody is named", () => {
    const operator = localOperator();
    const guest = localOperator({ id: "guest", local: false });
    expect(principalOr(operator, undefined)).toBe(operator);
    expect(principalOr(operator, guest)).toBe(guest);
    for (const bad of [null, "guest", {}, { id: "guest" }, [], { ...guest, scopes: "*" }, { ...guest, id: 7 }])
      expect(() => principalOr(operator, bad as never)).toThrow(/^principal is invalid/);
  });

  it("says what was given in place of a principal, and what to give", () => {
    const fix = "Give { id, roles, capabilities, scopes, local }, or leave it out.";
    expect(() => principalOr(localOperator(), "guest" as never)).toThrow(
      expect.objectContaining({
        code: "QUERY_INVALID",
        message: `principal is invalid: "guest". ${fix}`,
        details: { field: "principal", value: '"guest"', fix },
      }),
    );
  });
});
