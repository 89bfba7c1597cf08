import { describe, expect, it } from "vitest";
import { CAPABILITIES } from "../tool/tool.ts";
import { createPrincipal, localOperator, principalOr } from "./principal.ts";

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

describe("createPrincipal", () => {
  it("may do nothing unless something is granted", () => {
    const nothing = { id: "bot", roles: [], capabilities: [], scopes: [], local: false };
    expect(createPrincipal({ id: "bot" })).toStrictEqual(nothing);
    expect(createPrincipal({ id: "bot", roles: undefined, tenant: undefined } as never)).toStrictEqual(nothing);
  });

  it("has what is granted", () => {
    const granted = {
      id: "bot",
      tenant: "acme",
      roles: ["support"],
      capabilities: ["read_data"],
      scopes: ["orders:read"],
      local: true,
    } as const;
    expect(createPrincipal(granted)).toStrictEqual(granted);
  });

  it.each([
    [{ id: "" }, "id", "", "must be a nonempty string", "Write at least one character that is not a space."],
    [
      { id: " " },
      "id",
      " ",
      'must be a nonempty string (it is " ")',
      "Write at least one character that is not a space.",
    ],
    [{}, "id", undefined, "is missing", "Add id; it has no default."],
    [{ id: "bot", role: ["ops"] }, "role", ["ops"], 'is not a known field (it is ["ops"])', "Did you mean roles?"],
    [{ id: "bot", scopes: "*" }, "scopes", "*", 'must be a list (it is "*")', "Wrap the value in [ ]."],
    [
      { id: "bot", local: "no" },
      "local",
      "no",
      'must be true or false (it is "no")',
      "Use true or false, without quotes.",
    ],
    [
      { id: "bot", capabilities: ["read_data", "finacial"] },
      "capabilities.1",
      "finacial",
      `must be one of ${CAPABILITIES.join(", ")} (it is "finacial")`,
      'Did you mean "financial"?',
    ],
  ])("refuses %j with field, value and fix", (given, field, value, problem, fix) => {
    expect(() => createPrincipal(given as never)).toThrow(
      expect.objectContaining({
        code: "INPUT_INVALID",
        message: `The principal's ${field} ${problem}. ${fix}`,
        details: { field, value, fix },
      }),
    );
  });

  it.each([[undefined], [null], ["bot"], [[]]])("refuses %j, which is not an object", (given) => {
    expect(() => createPrincipal(given as never)).toThrow(
      /^The principal must be an object.* Pass \{ id: "support-bot" \}\.$/,
    );
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
