import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LIMITS, NAME_PATTERN, NAMESPACE_PATTERN, RESERVED_NAMES } from "../limits.ts";
import { toName, toNamespace } from "./slug.ts";

describe("toName", () => {
  it.each([
    ["get_user", "get_user"],
    ["v2__odd_but_fine_", "v2__odd_but_fine_"],
    ["getUser", "get_user"],
    ["ethereum_getTokenBalance", "ethereum_get_token_balance"],
    ["HTTPServerError", "http_server_error"],
    ["listUserIDs", "list_user_ids"],
    ["get-v2.users/all", "get_v2_users_all"],
    ["  Add a new test result ", "add_a_new_test_result"],
    ["3d_render", "tool_3d_render"],
    ["list", "tool_list"],
    ["Delete", "tool_delete"],
    ["Größe ändern", "grosse_andern"],
    ["Æther_Łódź", "aether_lodz"],
  ])("makes %j %j", (given, name) => {
    expect(toName(given)).toBe(name);
  });

  it("puts a hash where letters of another script are lost, so that two such names stay apart", () => {
    expect(toName("搜索_search")).toMatch(/^search_[0-9a-f]{8}$/);
    expect(toName("搜索")).toMatch(/^tool_[0-9a-f]{8}$/);
    expect(toName("搜索")).not.toBe(toName("查询"));
  });

  it("cuts a long name and ends it with a hash of the whole", () => {
    const a = toName(`${"long".repeat(50)}A`);
    expect(a).toHaveLength(LIMITS.nameLength);
    expect(a).not.toBe(toName(`${"long".repeat(50)}B`));
  });

  it("ends soon on a name of a million characters", () => {
    expect(toName("A".repeat(1_000_000))).toMatch(/^a+_[0-9a-f]{8}$/);
    expect(toNamespace("_".repeat(1_000_000) + "a")).toMatch(NAMESPACE_PATTERN);
  });

  it("always fits the pattern, is no reserved name, and does not change a second time", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" })), (given) => {
        const name = toName(given);
        expect(name).toMatch(NAME_PATTERN);
        expect(RESERVED_NAMES.has(name)).toBe(false);
        expect(toName(name)).toBe(name);
      }),
    );
  });
});

describe("toNamespace", () => {
  it.each([
    ["mcp.github", "mcp.github"],
    ["@owner/Some-Server", "owner.some-server"],
    ["My Server (v2)", "my-server-v2"],
    ["https://host:8080/mcp", "https.host.8080.mcp"],
    ["../etc", "etc"],
  ])("makes %j %j", (given, namespace) => {
    expect(toNamespace(given)).toBe(namespace);
  });

  it("always fits the pattern and the limit, and does not change a second time", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300, size: "max" }), (given) => {
        const namespace = toNamespace(given);
        expect(namespace).toMatch(NAMESPACE_PATTERN);
        expect(namespace.length).toBeLessThanOrEqual(LIMITS.namespaceLength);
        expect(toNamespace(namespace)).toBe(namespace);
      }),
    );
  });
});
