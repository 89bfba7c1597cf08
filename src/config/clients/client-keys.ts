/** Keys under which MCP clients keep their servers. They may stand in `arsenal.yaml` as they are. */
export const CLIENT_KEYS: readonly string[] = ["mcpServers", "servers", "inputs"];
