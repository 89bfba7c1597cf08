import { posix, win32 } from "node:path";
import type { Terminal } from "../command.ts";

/** A place where an MCP client keeps its servers. */
export interface ClientFile {
  readonly client: string;
  readonly file: string;
  /** The keys that lead to its servers. */
  readonly path: readonly string[];
  /** Whether the client wants to be told how a server is reached. */
  readonly typed: boolean;
}

/** Every place that is looked at, for this user and this folder, whether or not it is there. */
export function clientFiles({ environment, folder, platform = process.platform }: Terminal): readonly ClientFile[] {
  const { join } = platform === "win32" ? win32 : posix;
  const home = environment["HOME"] ?? environment["USERPROFILE"];
  const settings = settingsFolder(platform, environment, home, join);
  const plain = { path: ["mcpServers"], typed: false };
  const vscode = { client: "VS Code", path: ["servers"], typed: true };
  const claudeCode = { client: "Claude Code", typed: true };
  return [
    ...(settings === undefined
      ? []
      : [
          { client: "Claude Desktop", file: join(settings, "Claude", "claude_desktop_config.json"), ...plain },
          { ...vscode, file: join(settings, "Code", "User", "mcp.json") },
        ]),
    ...(home === undefined
      ? []
      : [
          { client: "Cursor", file: join(home, ".cursor", "mcp.json"), ...plain },
          { client: "Windsurf", file: join(home, ".codeium", "windsurf", "mcp_config.json"), ...plain },
          { ...claudeCode, file: join(home, ".claude.json"), path: ["mcpServers"] },
          { ...claudeCode, file: join(home, ".claude.json"), path: ["projects", folder, "mcpServers"] },
        ]),
    { client: "Cursor", file: join(folder, ".cursor", "mcp.json"), ...plain },
    { ...vscode, file: join(folder, ".vscode", "mcp.json") },
    { ...claudeCode, file: join(folder, ".mcp.json"), path: ["mcpServers"] },
  ];
}

/** Where programs keep what their users set. */
function settingsFolder(
  platform: NodeJS.Platform,
  environment: Terminal["environment"],
  home: string | undefined,
  join: (...parts: string[]) => string,
): string | undefined {
  if (platform === "win32") return environment["APPDATA"] ?? (home && join(home, "AppData", "Roaming"));
  if (home === undefined) return environment["XDG_CONFIG_HOME"];
  if (platform === "darwin") return join(home, "Library", "Application Support");
  return environment["XDG_CONFIG_HOME"] ?? join(home, ".config");
}
