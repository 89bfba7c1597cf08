import { readFile } from "node:fs/promises";
import { posix, win32 } from "node:path";
import { readClientConfig, readInputs } from "../../config/clients/client-config.ts";
import type { ClientInput } from "../../config/clients/client-references.ts";
import { type JsoncNode, parseJsonc } from "../../config/clients/jsonc.ts";
import { messageOf } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Terminal } from "../command.ts";
import { ENTRY_NAME } from "../arsenal/client-entries.ts";
import { mapTexts } from "./gather.ts";

/** A file in which an MCP client stores its servers. */
export interface ClientFile {
  readonly client: string;
  readonly file: string;
  /** The keys that lead to its servers. */
  readonly path: readonly string[];
  /** Whether the client requires `type` in each entry. */
  readonly typed: boolean;
  /** The toolset of this file's servers, if several files have different ones. */
  readonly toolset: string;
  /** The key of a server's address. Omitted if the client only starts programs. */
  readonly addressKey?: "url" | "serverUrl";
  /** The references that the client itself expands: none, those with a prefix (`${env:NAME}`), or also `${NAME}`. */
  readonly expands: "nothing" | "prefixed" | "all";
  /** The base of relative paths and `${workspaceFolder}`; omitted if it depends on the folder open in the client. */
  readonly workspace?: string;
}

/** Every file to check, for this user and this folder. */
export function clientFiles({ environment, folder, platform = process.platform }: Terminal): readonly ClientFile[] {
  const { join } = platform === "win32" ? win32 : posix;
  const home = environment["HOME"] ?? environment["USERPROFILE"];
  const { APPDATA, XDG_CONFIG_HOME } = environment;
  /** The folder of user settings. */
  const settings =
    platform === "win32"
      ? (APPDATA ?? (home && join(home, "AppData", "Roaming")))
      : platform === "darwin" && home !== undefined
        ? join(home, "Library", "Application Support")
        : (XDG_CONFIG_HOME ?? (home && join(home, ".config")));
  const path = ["mcpServers"];
  const plain = { path, typed: false, expands: "prefixed", addressKey: "url" } as const;
  const desktop = { client: "Claude Desktop", path, typed: false, expands: "nothing" } as const;
  const vscode = { client: "VS Code", path: ["servers"], typed: true, expands: "prefixed", addressKey: "url" } as const;
  const claudeFile = join(home ?? "", ".claude.json");
  const claudeCode = { client: "Claude Code", typed: true, expands: "all", addressKey: "url" } as const;
  return [
    ...(settings === undefined
      ? []
      : [
          { ...desktop, toolset: "claude-desktop", file: join(settings, "Claude", "claude_desktop_config.json") },
          { ...vscode, toolset: "vs-code", file: join(settings, "Code", "User", "mcp.json") },
        ]),
    ...(home === undefined
      ? []
      : [
          { client: "Cursor", toolset: "cursor", file: join(home, ".cursor", "mcp.json"), ...plain, workspace: home },
          {
            client: "Windsurf",
            toolset: "windsurf",
            file: join(home, ".codeium", "windsurf", "mcp_config.json"),
            ...plain,
            addressKey: "serverUrl" as const,
          },
          { ...claudeCode, toolset: "claude-code", file: claudeFile, path },
          {
            ...claudeCode,
            toolset: "claude-code-local",
            file: claudeFile,
            path: ["projects", folder, ...path],
            workspace: folder,
          },
        ]),
    {
      client: "Cursor",
      toolset: "cursor-project",
      file: join(folder, ".cursor", "mcp.json"),
      ...plain,
      workspace: folder,
    },
    { ...vscode, toolset: "vs-code-project", file: join(folder, ".vscode", "mcp.json"), workspace: folder },
    { ...claudeCode, toolset: "claude-code-project", file: join(folder, ".mcp.json"), path, workspace: folder },
  ];
}

export type ServerEntry = Readonly<Record<string, unknown>>;

export interface FoundClient extends ClientFile {
  /** Its servers, without our own entry. References that the client does not expand are escaped: `$${NAME}`. */
  readonly servers: Readonly<Record<string, ServerEntry>>;
  /** The values that VS Code prompts for. */
  readonly inputs: readonly ClientInput[];
  /** True if this program is already among its servers. */
  readonly hasOwnEntry: boolean;
  readonly problems: readonly string[];
}

/** Reads every existing client file that has, or should have, servers. */
export async function findClients(terminal: Terminal): Promise<readonly FoundClient[]> {
  const found = await Promise.all(clientFiles(terminal).map((place) => readClient(place, terminal)));
  return found.filter((client) => client !== undefined);
}

async function readClient(place: ClientFile, terminal: Terminal): Promise<FoundClient | undefined> {
  const text = await readFile(place.file, "utf8").catch(() => undefined);
  if (text === undefined || text.trim() === "") return undefined;
  const empty = { ...place, servers: {}, inputs: [], hasOwnEntry: false, problems: [] };
  let root: JsoncNode;
  try {
    root = parseJsonc(text, place.file);
  } catch (error) {
    // The second path in one file would report the same error again.
    if (place.path.length > 1) return undefined;
    return { ...empty, problems: [messageOf(error)] };
  }
  const block = nodeAt(root, place.path)?.value;
  if (!isPlainObject(block)) return undefined;
  const hasOwnEntry = Object.hasOwn(block, ENTRY_NAME);
  const { [ENTRY_NAME]: _own, ...found } = block;
  const rest = mapTexts(found, (value) => escaped(value, place.expands)) as Record<string, unknown>;
  const entries = Object.entries(rest).filter((entry): entry is [string, ServerEntry] => isPlainObject(entry[1]));
  const inputs = isPlainObject(root.value) ? root.value["inputs"] : undefined;
  const { problems } = await readClientConfig(
    { mcpServers: rest, ...(inputs === undefined ? {} : { inputs }) },
    { environment: terminal.environment, folder: place.workspace ?? terminal.folder },
  );
  const servers = Object.fromEntries(entries);
  const told = problems.map(({ server, field, message }) => `${server}: ${field} ${message}`);
  return { ...empty, servers, inputs: readInputs(inputs), hasOwnEntry, problems: told };
}

/** A server may expand `${NAME}` itself, as mcp-remote does: references that the client does not expand must stay. */
function escaped(text: string, expands: ClientFile["expands"]): string {
  if (expands === "all") return text;
  if (expands === "nothing") return text.replaceAll("${", () => "$${");
  return text.replaceAll(
    /\$\{(?=[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\})(?!workspaceFolder|userHome|pathSeparator)/g,
    () => "$${",
  );
}

/** The node that the keys lead to. */
export function nodeAt(root: JsoncNode, path: readonly string[]): JsoncNode | undefined {
  return path.reduce<JsoncNode | undefined>((node, key) => node?.members?.get(key), root);
}
