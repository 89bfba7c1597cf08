import { constants } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { parseJsonc } from "../../config/clients/jsonc.ts";
import { ENTRY_NAME, stdioEntry } from "../arsenal/client-entries.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { type FoundClient, nodeAt, type ServerEntry } from "./find-clients.ts";

/** How a client reaches this program. */
export interface ClientRoute {
  /** The path of arsenal.yaml. */
  readonly config: string;
  /** The toolset with the client's servers. Omitted if it gets all of them. */
  readonly toolset?: string | undefined;
  /** The address of the gateway that clients share. Omitted if the client starts its own. */
  readonly gateway?: string | undefined;
}

/** The servers of a client, replaced by this program. */
export function ownServers(
  { typed, addressKey }: FoundClient,
  { config, toolset, gateway }: ClientRoute,
): Readonly<Record<string, object>> {
  const type = (name: string): object => (typed ? { type: name } : {});
  if (gateway === undefined || addressKey === undefined)
    return { [ENTRY_NAME]: { ...type("stdio"), ...stdioEntry({ config, toolset }) } };
  const url = `${gateway}/mcp${toolset === undefined ? "" : `/toolsets/${toolset}`}`;
  return { [ENTRY_NAME]: { ...type("http"), [addressKey]: url } };
}

/** The text of a client's file with this program in place of its servers; comments, order and all other content stay. */
export function editedText(client: FoundClient, text: string, route: ClientRoute): string {
  const node = nodeAt(parseJsonc(text, client.file), client.path);
  if (node === undefined) return text;
  const lead = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", node.start - 1) + 1))?.[0] ?? "";
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  const written = JSON.stringify(ownServers(client, route), undefined, unit).replaceAll("\n", `\n${lead}`);
  return text.slice(0, node.start) + written + text.slice(node.end);
}

export function readExisting(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

/** Writes a file and backs up the old one. Returns the name of the backup. */
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
# MCP servers in the words of MCP clients; everything else that can be set is in docs/configuration.md.
`;

/** The keys of an entry that describe the connection. They belong together: none of an old entry may remain. */
const CONNECTION: readonly string[] =
  "command args env envFile cwd url serverUrl httpUrl endpoint type transport transportType headers oauth auth".split(
    " ",
  );

/** Accepted tools and approvals survive a restart, and `toolarsenal approvals` and `pins` can read them. */
const STATE = { file: "./.toolarsenal/state.sqlite" };

/** A toolset that setup writes. */
export interface ClientToolset {
  readonly name: string;
  readonly description: string;
  readonly include: { readonly where: { readonly ensembles: readonly string[] } };
}

/** The text of an arsenal.yaml with these servers and toolsets. All other content of an existing file is kept. */
export async function arsenalText(
  existing: string | undefined,
  servers: Readonly<Record<string, ServerEntry>>,
  toolsets: readonly ClientToolset[] = [],
): Promise<string> {
  const { Document, isMap, isSeq, parseDocument } = await import("yaml");
  const isBlockMap = (node: unknown): boolean => isMap(node) && node.flow !== true;
  const isValid = (text: string): boolean => parseDocument(text).errors.length === 0;
  const wide = { lineWidth: 0 };
  const views = toolsets.length === 0 ? {} : { toolsets };
  const anew = (): string => HEADER + new Document({ mcpServers: servers, state: STATE, ...views }).toString(wide);
  if (existing === undefined) return anew();
  const document = parseDocument(existing);
  if (document.errors.length > 0 || (document.contents !== null && !isPlainObject(document.toJS()))) return anew();
  const added = {
    ...(document.has("mcpServers") ? {} : { mcpServers: servers }),
    ...(document.has("state") ? {} : { state: STATE }),
    ...views,
  };
  // Appended if possible: rewriting the whole document would change its spaces and quotes.
  const appended = `${existing.trimEnd()}\n\n${new Document(added).toString(wide)}`;
  const isNew = !document.has("mcpServers") && !(document.has("toolsets") && toolsets.length > 0);
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
  return document.toString(wide);
}
