import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cacheFolder } from "./cache-folder.ts";

describe("cacheFolder", () => {
  it.each([
    ["linux", {}, join(homedir(), ".cache", "toolarsenal")],
    ["darwin", {}, join(homedir(), "Library", "Caches", "toolarsenal")],
    ["win32", {}, join(homedir(), "AppData", "Local", "toolarsenal", "cache")],
    ["win32", { LOCALAPPDATA: "local" }, join("local", "toolarsenal", "cache")],
    ["linux", { XDG_CACHE_HOME: join(tmpdir(), "x") }, join(tmpdir(), "x", "toolarsenal")],
    ["linux", { XDG_CACHE_HOME: "relative" }, join(homedir(), ".cache", "toolarsenal")],
    ["darwin", { XDG_CACHE_HOME: join(tmpdir(), "x") }, join(tmpdir(), "x", "toolarsenal")],
    ["linux", { TOOLARSENAL_CACHE: "mine", XDG_CACHE_HOME: tmpdir() }, "mine"],
  ] as const)("follows the conventions of %s with %o", (platform, environment, expected) => {
    expect(cacheFolder(environment, platform)).toBe(expected);
  });
});
