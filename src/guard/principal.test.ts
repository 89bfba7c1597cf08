import { describe, expect, it } from "vitest";
import { localOperator } from "./principal.ts";

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
