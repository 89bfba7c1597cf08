import { readFile } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import { fixable } from "../../errors/arsenal-error.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { type ClientServers, readClientConfig } from "./client-config.ts";
import { CLIENT_KEYS } from "../load/key-style.ts";
import { parseJsonc } from "./jsonc.ts";
import { readYaml } from "../load/read-yaml.ts";

/** Reads the servers of an MCP client's file (JSON with comments, or YAML). Invalid servers are reported; an unreadable file throws. */
export async function readMcpConfigFile(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ClientServers> {
  const source = await readFile(path, "utf8").catch((cause: unknown) => {
    const details = { field: "mcp-config", value: path, cause };
    throw fixable("CONFIG_INVALID", `The MCP configuration ${path} cannot be read.`, "Check the path.", details);
  });
  const block = clientBlock(await parse(source, path));
  if (block === undefined) {
    const fix = 'Write { "mcpServers": { "name": { "command": "…" } } }.';
    const details = { field: "mcpServers", value: path };
    throw fixable("CONFIG_INVALID", `${path} has no mcpServers and no servers.`, fix, details);
  }
  return readClientConfig(block, { environment, folder: workspaceOf(path), file: path });
}

async function parse(source: string, path: string): Promise<unknown> {
  if ([".yaml", ".yml"].includes(extname(path))) return (await readYaml(source, path, {}, () => true)).value;
  try {
    // Most files are plain JSON, which `JSON.parse` reads much faster.
    return JSON.parse(source);
  } catch {
    return parseJsonc(source, path).value;
  }
}

/** Returns the part of a client's file that contains its servers. In VS Code's settings, that part is under `mcp`. */
function clientBlock(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isPlainObject(value)) return undefined;
  if (CLIENT_KEYS.some((key) => Object.hasOwn(value, key))) return value;
  return isPlainObject(value["mcp"]) && isPlainObject(value["mcp"]["servers"]) ? value["mcp"] : undefined;
}

/** Returns the workspace of a file: for `.vscode/mcp.json`, the folder that contains `.vscode`. */
export function workspaceOf(path: string): string {
  const folder = dirname(resolve(path));
  return [".vscode", ".cursor"].includes(basename(folder)) ? dirname(folder) : folder;
}
