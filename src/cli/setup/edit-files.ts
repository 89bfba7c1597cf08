import { constants } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { ENTRY_NAME, stdioEntry } from "../arsenal/client-entries.ts";
import { asRecord, asTexts, isPlainObject } from "../../tool/json-schema.ts";
import type { ToolFilter } from "../../tool/tool-filter.ts";
import { type ServerEntry, styleOf } from "./entry-styles.ts";
import type { FoundClient } from "./find-clients.ts";
import { replaceEntries } from "./formats/file-format.ts";
import { FORMATS } from "./formats/formats.ts";

/** How a client connects to this program. */
export interface ClientRoute {
  /** The path of arsenal.yaml. */
  readonly config: string;
  /** The toolset with the client's servers. Omitted if the client gets all servers. */
  readonly toolset?: string | undefined;
  /** The address of the gateway that clients share. Omitted if the client starts its own gateway. */
  readonly gateway?: string | undefined;
}

/** Returns the entry for this program in the client's style. */
export function ownEntry({ style }: FoundClient, { config, toolset, gateway }: ClientRoute): ServerEntry {
  const { program, address } = styleOf(style);
  if (gateway === undefined || address === undefined) return program(stdioEntry({ config, toolset }));
  return address(`${gateway}/mcp${toolset === undefined ? "" : `/toolsets/${toolset}`}`);
}

/** Replaces the servers in a client's file with this program. All other content stays, including comments and order. */
export function editedText(client: FoundClient, text: string, route: ClientRoute): Promise<string> {
  const { file, format, path, servers } = client;
  const removed = new Set(Object.keys(servers));
  const replacement = { path, removed, name: ENTRY_NAME, entry: ownEntry(client, route) };
  return replaceEntries(FORMATS[format], text, file, replacement);
}

export function readExisting(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

/** Writes a file after backing up the old one. Returns the name of the backup. */
export async function writeWithBackup(file: string, text: string, now: Date): Promise<string> {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, "");
  for (let count = 1; ; count++) {
    const backup = `${file}.bak-${stamp}${count === 1 ? "" : `-${count}`}`;
    try {
      await copyFile(file, backup, constants.COPYFILE_EXCL);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
      throw error;
    }
    await writeFile(file, text);
    return backup;
  }
}

const HEADER = `# yaml-language-server: $schema=./node_modules/toolarsenal/config.schema.json
# MCP servers in the format of MCP clients. All other settings: docs/reference/configuration.md.
`;

/** The keys of an entry that describe the connection. They are replaced together, because they depend on each other. */
const CONNECTION: readonly string[] =
  "command args env envFile cwd url serverUrl httpUrl endpoint type transport transportType headers oauth auth".split(
    " ",
  );

/** Keeps accepted tools and approvals across restarts, and lets `toolarsenal approvals` and `pins` read them. */
const STATE = { file: "./.toolarsenal/state.sqlite" };

export interface ClientToolset {
  readonly name: string;
  readonly description: string;
  readonly include: { readonly where: ToolFilter };
}

/** The sections that setup writes in addition to the servers. */
export interface ArsenalSections {
  readonly toolsets: readonly ClientToolset[];
  /** Ids of tools to hide from every caller. */
  readonly denied: readonly string[];
}

export function heldDenials(settings: unknown): readonly string[] {
  return asTexts(asRecord(asRecord(settings)["security"])["deny"]);
}

/** Returns the text of an arsenal.yaml with these servers and sections. All other content of an existing file stays. */
export async function arsenalText(
  existing: string | undefined,
  servers: Readonly<Record<string, ServerEntry>>,
  { toolsets, denied }: ArsenalSections = { toolsets: [], denied: [] },
): Promise<string> {
  const { Document, isMap, isSeq, parseDocument } = await import("yaml");
  const isBlockMap = (node: unknown): boolean => isMap(node) && node.flow !== true;
  const isValid = (text: string): boolean => parseDocument(text).errors.length === 0;
  const wide = { lineWidth: 0 };
  const views = {
    ...(toolsets.length > 0 && { toolsets }),
    ...(denied.length > 0 && { security: { deny: denied } }),
  };
  const anew = (): string => HEADER + new Document({ mcpServers: servers, state: STATE, ...views }).toString(wide);
  if (existing === undefined) return anew();
  const document = parseDocument(existing);
  if (document.errors.length > 0 || (document.contents !== null && !isPlainObject(document.toJS()))) return anew();
  const added = {
    ...(document.has("mcpServers") ? {} : { mcpServers: servers }),
    ...(document.has("state") ? {} : { state: STATE }),
    ...views,
  };
  // Appended if possible, because rewriting the document would change its spaces and quotes.
  const appended = `${existing.trimEnd()}\n\n${new Document(added).toString(wide)}`;
  const isNew = ["mcpServers", ...Object.keys(views)].every((key) => !document.has(key));
  if (isNew && isBlockMap(document.contents) && isValid(appended)) return appended;
  if (!document.has("state")) document.set("state", document.createNode(STATE));
  for (const [name, entry] of Object.entries(servers)) {
    const path = ["mcpServers", name];
    if (!isMap(document.getIn(path))) document.setIn(path, document.createNode(entry));
    else {
      for (const key of CONNECTION) if (!Object.hasOwn(entry, key)) document.deleteIn([...path, key]);
      for (const [key, value] of Object.entries(entry)) document.setIn([...path, key], document.createNode(value));
    }
  }
  for (const toolset of toolsets) {
    const list = document.get("toolsets");
    if (!isSeq(list)) document.set("toolsets", document.createNode([toolset]));
    else {
      const at = list.items.findIndex((item) => isMap(item) && item.get("name") === toolset.name);
      if (at === -1) list.add(document.createNode(toolset));
      else document.setIn(["toolsets", at, "include"], document.createNode(toolset.include));
    }
  }
  if (denied.length > 0)
    document.setIn(["security", "deny"], document.createNode([...heldDenials(document.toJS()), ...denied]));
  return document.toString(wide);
}
