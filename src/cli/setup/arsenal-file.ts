import { isDeepStrictEqual } from "node:util";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { ServerEntry } from "./find-servers.ts";

const HEADER = `# yaml-language-server: $schema=./node_modules/toolarsenal/config.schema.json
# MCP servers in the words of MCP clients; everything else that can be set is in docs/configuration.md.
`;

/** The text of an arsenal.yaml that has these servers; of one that is there, everything else is kept. */
export async function arsenalText(
  existing: string | undefined,
  servers: Readonly<Record<string, ServerEntry>>,
): Promise<string> {
  const { Document, parseDocument } = await import("yaml");
  const wide = { lineWidth: 0 };
  if (existing === undefined) return HEADER + new Document({ mcpServers: servers }).toString(wide);
  const document = parseDocument(existing);
  if (document.errors.length > 0 || (document.contents !== null && !isPlainObject(document.toJS())))
    return HEADER + new Document({ mcpServers: servers }).toString(wide);
  for (const [name, entry] of Object.entries(servers)) document.setIn(["mcpServers", name], document.createNode(entry));
  return document.toString(wide);
}

/** Whether an arsenal.yaml has these servers already, as they are. */
export async function hasServers(existing: string, servers: Readonly<Record<string, ServerEntry>>): Promise<boolean> {
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    value = parse(existing);
  } catch {
    return false;
  }
  const held = isPlainObject(value) && isPlainObject(value["mcpServers"]) ? value["mcpServers"] : {};
  return Object.entries(servers).every(([name, entry]) => isDeepStrictEqual(held[name], entry));
}
