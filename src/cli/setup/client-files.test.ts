import { describe, expect, it } from "vitest";
import { clientFiles } from "./client-files.ts";

describe("the places of clients", () => {
  const files = (platform: NodeJS.Platform, environment: Record<string, string>): readonly string[] =>
    clientFiles({
      out: { write: () => 0 },
      err: { write: () => 0 },
      folder: platform === "win32" ? "C:\\work" : "/work-here",
      environment,
      signal: new AbortController().signal,
      platform,
    }).map(({ file }) => file);

  it("are those of each system", () => {
    expect(files("darwin", { HOME: "/Users/me" })).toEqual([
      "/Users/me/Library/Application Support/Claude/claude_desktop_config.json",
      "/Users/me/Library/Application Support/Code/User/mcp.json",
      "/Users/me/.cursor/mcp.json",
      "/Users/me/.codeium/windsurf/mcp_config.json",
      "/Users/me/.claude.json",
      "/Users/me/.claude.json",
      "/Users/me/.config/zed/settings.json",
      "/Users/me/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "/Users/me/.cline/data/settings/cline_mcp_settings.json",
      "/Users/me/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
      "/Users/me/.continue/config.yaml",
      "/Users/me/.junie/mcp/mcp.json",
      "/Users/me/.config/goose/config.yaml",
      "/Users/me/.lmstudio/mcp.json",
      "/Users/me/.gemini/settings.json",
      "/Users/me/.codex/config.toml",
      "/Users/me/.config/opencode/opencode.json",
      "/Users/me/.config/opencode/opencode.jsonc",
      "/Users/me/.warp/.mcp.json",
      "/work-here/.cursor/mcp.json",
      "/work-here/.vscode/mcp.json",
      "/work-here/.mcp.json",
      "/work-here/.zed/settings.json",
      "/work-here/.roo/mcp.json",
      "/work-here/.junie/mcp/mcp.json",
      "/work-here/.air/mcp.json",
      "/work-here/.gemini/settings.json",
      "/work-here/.codex/config.toml",
      "/work-here/opencode.json",
      "/work-here/opencode.jsonc",
      "/work-here/.warp/.mcp.json",
    ]);
    expect(files("linux", { HOME: "/home/me" })[0]).toBe("/home/me/.config/Claude/claude_desktop_config.json");
    expect(files("linux", { HOME: "/home/me", XDG_CONFIG_HOME: "/x" })[1]).toBe("/x/Code/User/mcp.json");
    const windows = files("win32", { USERPROFILE: "C:\\Users\\me", APPDATA: "C:\\Users\\me\\AppData\\Roaming" });
    expect(windows[0]).toBe("C:\\Users\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json");
    expect(windows[2]).toBe("C:\\Users\\me\\.cursor\\mcp.json");
    expect(windows).toContain("C:\\Users\\me\\AppData\\Roaming\\Block\\goose\\config\\config.yaml");
    expect(windows).toContain("C:\\Users\\me\\AppData\\Roaming\\Zed\\settings.json");
    expect(files("linux", { HOME: "/home/me", CODEX_HOME: "/codex" })).toContain("/codex/config.toml");
    expect(files("linux", {}).length).toBe(12);
  });
});
