import { asRecord } from "../../../tool/json-schema.ts";
import { type FromKind, leftOutOf, leftOutOfEntry, serversOf } from "./carried.ts";

const plain = (title: string, isLike: FromKind["isLike"]): FromKind => ({
  title,
  isLike,
  carry(root) {
    const { key, entries } = serversOf(root);
    const own = new Set([key, "inputs", "$schema"]);
    return {
      servers: Object.fromEntries(entries),
      toolsets: [],
      denied: [],
      leftOut: [
        ...leftOutOf("", root, {}, (member) => own.has(member)),
        ...entries.flatMap(([name, entry]) => leftOutOfEntry(`${key}.${name}`, entry, {})),
      ],
    };
  },
});

/** Files of MCP clients: Claude Desktop, Cursor, Windsurf, `.mcp.json`. */
export const clientFile = plain("mcpServers file", (root) => root["mcpServers"] !== undefined);

const vsCode = plain("VS Code file", () => true);

/** `.vscode/mcp.json`, or the settings of VS Code with servers under `mcp`. */
export const vsCodeFile: FromKind = {
  title: vsCode.title,
  isLike: (root) => root["servers"] !== undefined || asRecord(root["mcp"])["servers"] !== undefined,
  carry: (root, file) => vsCode.carry(root["servers"] === undefined ? asRecord(root["mcp"]) : root, file),
};
