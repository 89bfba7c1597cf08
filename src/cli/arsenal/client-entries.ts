import { startedBy } from "../program.ts";

export const ENTRY_NAME = "toolarsenal";

/** The address of a served arsenal, for its clients. */
export interface Endpoint {
  /** The listening address: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The address for clients, if it differs. */
  readonly publicUrl?: string | undefined;
  readonly needsToken: boolean;
}

/** A client's entry for an arsenal that the client starts itself. */
export function stdioEntry(what: {
  readonly config?: string | undefined;
  readonly mcpConfigs?: readonly string[];
  readonly toolset?: string | undefined;
}): {
  readonly command: string;
  readonly args: readonly string[];
} {
  const { config, mcpConfigs = [], toolset } = what;
  return startedBy([
    "serve",
    "--stdio",
    ...(toolset === undefined ? [] : ["--toolset", toolset]),
    ...(config === undefined ? [] : ["--config", config]),
    ...mcpConfigs.flatMap((file) => ["--mcp-config", file]),
  ]);
}

/** A client's entry for an arsenal that is already running. */
export function httpEntry({ url, publicUrl = url, needsToken }: Endpoint): Readonly<Record<string, unknown>> {
  return {
    url: `${publicUrl.replace(/\/$/, "")}/mcp`,
    ...(needsToken ? { headers: { Authorization: "Bearer YOUR_TOKEN" } } : {}),
  };
}

/** Returns instructions for connecting a client: its name, its file, and the text to paste. */
export function clientLines(
  endpoint: Endpoint,
  what: Parameters<typeof stdioEntry>[0],
): readonly { readonly client: string; readonly file: string; readonly json: string }[] {
  const http = httpEntry(endpoint);
  const entries = [
    ["Claude Desktop", "claude_desktop_config.json", { mcpServers: { [ENTRY_NAME]: stdioEntry(what) } }],
    ["Cursor", "~/.cursor/mcp.json", { mcpServers: { [ENTRY_NAME]: http } }],
    ["VS Code", ".vscode/mcp.json", { servers: { [ENTRY_NAME]: { type: "http", ...http } } }],
  ] as const;
  return entries.map(([client, file, entry]) => ({ client, file, json: JSON.stringify(entry) }));
}
