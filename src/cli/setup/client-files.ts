import { posix, win32 } from "node:path";
import type { Terminal } from "../command.ts";

/** A place where an MCP client keeps its servers. */
export interface ClientFile {
  readonly client: string;
  readonly file: string;
  /** The keys that lead to its servers. */
  readonly path: readonly string[];
  /** Whether the client requires `type` in each entry. */
  readonly typed: boolean;
  /** Which references the client itself replaces: none, those with a prefix (`${env:NAME}`), or `${NAME}` too. */
  readonly expands: "nothing" | "prefixed" | "all";
  /** The folder that relative paths and `${workspaceFolder}` start from; absent when it depends on what the client has open. */
  readonly workspace?: string;
}

/** Every file that is looked for, for this user and this folder. */
export function clientFiles({ environment, folder, platform = process.platform }: Terminal): readonly ClientFile[] {
  const { join } = platform === "win32" ? win32 : posix;
  const home = environment["HOME"] ?? environment["USERPROFILE"];
  const { APPDATA, XDG_CONFIG_HOME } = environment;
  /** Where programs keep what their users set. */
  const settings =
    platform === "win32"
      ? (APPDATA ?? (home && join(home, "AppData", "Roaming")))
      : platform === "darwin" && home !== undefined
        ? join(home, "Library", "Application Support")
        : (XDG_CONFIG_HOME ?? (home && join(home, ".config")));
  const plain = { path: ["mcpServers"], typed: false, expands: "prefixed" } as const;
  const desktop = { client: "Claude Desktop", path: ["mcpServers"], typed: false, expands: "nothing" } as const;
  const vscode = { client: "VS Code", path: ["servers"], typed: true, expands: "prefixed" } as const;
  const claudeCode = { client: "Claude Code", typed: true, expands: "all" } as const;
  return [
    ...(settings === undefined
      ? []
      : [
          { ...desktop, file: join(settings, "Claude", "claude_desktop_config.json") },
          { ...vscode, file: join(settings, "Code", "User", "mcp.json") },
        ]),
    ...(home === undefined
      ? []
      : [
          { client: "Cursor", file: join(home, ".cursor", "mcp.json"), ...plain, workspace: home },
          { client: "Windsurf", file: join(home, ".codeium", "windsurf", "mcp_config.json"), ...plain },
          { ...claudeCode, file: join(home, ".claude.json"), path: ["mcpServers"] },
          {
            ...claudeCode,
            file: join(home, ".claude.json"),
            path: ["projects", folder, "mcpServers"],
            workspace: folder,
          },
        ]),
    { client: "Cursor", file: join(folder, ".cursor", "mcp.json"), ...plain, workspace: folder },
    { ...vscode, file: join(folder, ".vscode", "mcp.json"), workspace: folder },
    { ...claudeCode, file: join(folder, ".mcp.json"), path: ["mcpServers"], workspace: folder },
  ];
}
