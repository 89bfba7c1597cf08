import { posix, win32 } from "node:path";
import type { Terminal } from "../command.ts";
import type { StyleName } from "./entry-styles.ts";

/** A file in which an MCP client stores its servers. */
export interface ClientFile {
  readonly client: string;
  readonly file: string;
  readonly format: "jsonc" | "yaml" | "toml";
  /** The keys that lead to its servers: an object, or a list of entries with a `name`. */
  readonly path: readonly string[];
  /** The style in which the client writes entries. */
  readonly style: StyleName;
  /** The name of the toolset for this file's servers, if clients have different servers. */
  readonly toolset: string;
  /** The references that the client itself expands: none, only prefixed ones (`${env:NAME}`), or also `${NAME}`. */
  readonly expands: "nothing" | "prefixed" | "all";
  /** The base of relative paths and of `${workspaceFolder}`. Omitted if it is the folder that is open in the client. */
  readonly workspace?: string;
}

type Client = Pick<ClientFile, "client" | "format" | "path" | "style" | "expands">;

const json = (client: string, style: StyleName, expands: ClientFile["expands"], path = ["mcpServers"]): Client => {
  return { client, format: "jsonc", path, style, expands };
};

const DESKTOP = json("Claude Desktop", "programs", "nothing");
const CLAUDE_CODE = json("Claude Code", "typed", "all");
const CURSOR = json("Cursor", "url", "prefixed");
const VS_CODE = json("VS Code", "typed", "prefixed", ["servers"]);
const WINDSURF = json("Windsurf", "serverUrl", "prefixed");
const ZED = json("Zed", "zed", "nothing", ["context_servers"]);
const CLINE = json("Cline", "cline", "prefixed");
const CLINE_CLI = json("Cline", "clineCli", "prefixed");
const ROO = json("Roo Code", "roo", "prefixed");
const CONTINUE: Client = {
  client: "Continue",
  format: "yaml",
  path: ["mcpServers"],
  style: "continue",
  expands: "nothing",
};
const JUNIE = json("JetBrains Junie", "programs", "nothing");
const AIR = json("JetBrains Air", "typed", "nothing");
const GOOSE: Client = { client: "Goose", format: "yaml", path: ["extensions"], style: "goose", expands: "nothing" };
const LM_STUDIO = json("LM Studio", "url", "nothing");
const GEMINI = json("Gemini CLI", "gemini", "all");
const CODEX: Client = {
  client: "Codex CLI",
  format: "toml",
  path: ["mcp_servers"],
  style: "codex",
  expands: "nothing",
};
const OPENCODE = json("opencode", "opencode", "nothing", ["mcp"]);
const WARP = json("Warp", "warp", "nothing");

/** Lists every file to check, for this user and this folder. */
export function clientFiles({ environment, folder, platform = process.platform }: Terminal): readonly ClientFile[] {
  const { join } = platform === "win32" ? win32 : posix;
  const home = environment["HOME"] ?? environment["USERPROFILE"];
  return [
    ...userFiles(home, environment, platform, folder),
    ...projectFiles((...names) => join(folder, ...names), folder),
  ];
}

function userFiles(
  home: string | undefined,
  { APPDATA, XDG_CONFIG_HOME, CODEX_HOME }: Terminal["environment"],
  platform: NodeJS.Platform,
  folder: string,
): readonly ClientFile[] {
  const { join } = platform === "win32" ? win32 : posix;
  const isWindows = platform === "win32";
  const roaming = APPDATA ?? (home && join(home, "AppData", "Roaming"));
  /** The folder of programs that follow XDG on all systems except Windows. */
  const config = XDG_CONFIG_HOME ?? (home && join(home, ".config"));
  const library = platform === "darwin" && home !== undefined ? join(home, "Library", "Application Support") : config;
  const settings = isWindows ? roaming : library;
  const at = (base: string | undefined, client: Client, toolset: string, ...names: string[]): readonly ClientFile[] =>
    base === undefined ? [] : [{ ...client, toolset, file: join(base, ...names) }];
  const code = settings && join(settings, "Code", "User");
  const extension = (name: string, file: string): string[] => ["globalStorage", name, "settings", file];
  const claude = at(home, CLAUDE_CODE, "claude-code", ".claude.json");
  return [
    ...at(settings, DESKTOP, "claude-desktop", "Claude", "claude_desktop_config.json"),
    ...at(code, VS_CODE, "vs-code", "mcp.json"),
    ...at(home, CURSOR, "cursor", ".cursor", "mcp.json").map((place) => ({ ...place, workspace: home ?? "" })),
    ...at(home, WINDSURF, "windsurf", ".codeium", "windsurf", "mcp_config.json"),
    ...claude,
    ...claude.map((place) => {
      const path = ["projects", folder, ...place.path];
      return { ...place, toolset: "claude-code-local", path, workspace: folder };
    }),
    ...(isWindows ? at(roaming, ZED, "zed", "Zed", "settings.json") : at(config, ZED, "zed", "zed", "settings.json")),
    ...at(code, CLINE, "cline", ...extension("saoudrizwan.claude-dev", "cline_mcp_settings.json")),
    ...at(home, CLINE_CLI, "cline-cli", ".cline", "data", "settings", "cline_mcp_settings.json"),
    ...at(code, ROO, "roo-code", ...extension("rooveterinaryinc.roo-cline", "mcp_settings.json")),
    ...at(home, CONTINUE, "continue", ".continue", "config.yaml"),
    ...at(home, JUNIE, "junie", ".junie", "mcp", "mcp.json"),
    ...(isWindows
      ? at(roaming, GOOSE, "goose", "Block", "goose", "config", "config.yaml")
      : at(config, GOOSE, "goose", "goose", "config.yaml")),
    ...at(home, LM_STUDIO, "lm-studio", ".lmstudio", "mcp.json"),
    ...at(home, GEMINI, "gemini-cli", ".gemini", "settings.json"),
    ...(CODEX_HOME
      ? at(CODEX_HOME, CODEX, "codex-cli", "config.toml")
      : at(home, CODEX, "codex-cli", ".codex", "config.toml")),
    ...at(config, OPENCODE, "opencode", "opencode", "opencode.json"),
    ...at(config, OPENCODE, "opencode-jsonc", "opencode", "opencode.jsonc"),
    ...at(home, WARP, "warp", ".warp", ".mcp.json"),
  ];
}

function projectFiles(at: (...names: string[]) => string, workspace: string): readonly ClientFile[] {
  const files: readonly (readonly [client: Client, toolset: string, ...names: string[]])[] = [
    [CURSOR, "cursor-project", ".cursor", "mcp.json"],
    [VS_CODE, "vs-code-project", ".vscode", "mcp.json"],
    [CLAUDE_CODE, "claude-code-project", ".mcp.json"],
    [ZED, "zed-project", ".zed", "settings.json"],
    [ROO, "roo-code-project", ".roo", "mcp.json"],
    [JUNIE, "junie-project", ".junie", "mcp", "mcp.json"],
    [AIR, "air-project", ".air", "mcp.json"],
    [GEMINI, "gemini-cli-project", ".gemini", "settings.json"],
    [CODEX, "codex-cli-project", ".codex", "config.toml"],
    [OPENCODE, "opencode-project", "opencode.json"],
    [OPENCODE, "opencode-project-jsonc", "opencode.jsonc"],
    [WARP, "warp-project", ".warp", ".mcp.json"],
  ];
  return files.map(([client, toolset, ...names]) => ({ ...client, toolset, file: at(...names), workspace }));
}
