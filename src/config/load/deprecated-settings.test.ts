import { describe, expect, it } from "vitest";
import { entry, list, object, replaced, text } from "../../tool/shape/shape.ts";
import { listSettings } from "./setting.ts";
import { deprecatedSettings } from "./deprecated-settings.ts";

const oldHost = replaced(text("The host."), "server.host");
const server = entry("A server.", {
  url: text("Its address."),
  oldToken: replaced(text("A token."), "mcp.servers[].token"),
});
const schema = object("Settings.", {
  server: object("The server.", { host: text("The host."), oldHost }),
  mcp: list("Servers.", server),
});

describe("deprecatedSettings", () => {
  it("reports each deprecated key of a file once, with its replacement", () => {
    const given = { server: { old_host: "0.0.0.0" }, mcp: [{ url: "a", old_token: "b" }, { old_token: "c" }] };
    expect(deprecatedSettings(given, schema)).toEqual([
      { key: "server.old_host", message: "is deprecated. Use server.host instead" },
      { key: "mcp[].old_token", message: "is deprecated. Use mcp.servers[].token instead" },
    ]);
  });

  it("reports nothing for other keys and for values of the wrong type", () => {
    expect(deprecatedSettings({ server: { host: "0.0.0.0" }, mcp: "none" }, schema)).toEqual([]);
  });

  it("marks the key for editors", () => {
    expect(oldHost).toMatchObject({ type: "string", deprecated: true });
  });

  it("finds no deprecated key in the configuration of this version, as docs/reference/versions.md says", () => {
    expect(listSettings().filter(({ schema: each }) => each["deprecated"] === true)).toEqual([]);
  });
});
