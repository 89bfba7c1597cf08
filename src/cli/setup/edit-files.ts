import { constants } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { parseJsonc } from "../../config/clients/jsonc.ts";
import { ENTRY_NAME, stdioEntry } from "../arsenal/client-entries.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { type FoundClient, nodeAt, type ServerEntry } from "./find-clients.ts";

/** The servers of a client, replaced by this program. */
export function ownServers({ typed }: FoundClient, config: string): Readonly<Record<string, object>> {
  return { [ENTRY_NAME]: { ...(typed ? { type: "stdio" } : {}), ...stdioEntry({ config }) } };
}

/** The text of a client's file with this program in place of its servers; comments, order and all other content stay. */
export function editedText(client: FoundClient, text: string, config: string): string {
  const node = nodeAt(parseJsonc(text, client.file), client.path);
  if (node === undefined) return text;
  const lead = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", node.start - 1) + 1))?.[0] ?? "";
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  const written = JSON.stringify(ownServers(client, config), undefined, unit).replaceAll("\n", `\n${lead}`);
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

/** The text of an arsenal.yaml with these servers. All other content of an existing file is kept. */
export async function arsenalText(
  existing: string | undefined,
  servers: Readonly<Record<string, ServerEntry>>,
): Promise<string> {
  const { Document, isMap, parseDocument } = await import("yaml");
  const isBlockMap = (node: unknown): boolean => isMap(node) && node.flow !== true;
  const isValid = (text: string): boolean => parseDocument(text).errors.length === 0;
  const wide = { lineWidth: 0 };
  const anew = (): string => HEADER + new Document({ mcpServers: servers, state: STATE }).toString(wide);
  if (existing === undefined) return anew();
  const document = parseDocument(existing);
  if (document.errors.length > 0 || (document.contents !== null && !isPlainObject(document.toJS()))) return anew();
  const added = {
    ...(document.has("mcpServers") ? {} : { mcpServers: servers }),
    ...(document.has("state") ? {} : { state: STATE }),
  };
  // Appended if possible: rewriting the whole document would change its spaces and quotes.
  const appended = `${existing.trimEnd()}\n\n${new Document(added).toString(wide)}`;
  if (!document.has("mcpServers") && isBlockMap(document.contents) && isValid(appended)) return appended;
  if (!document.has("state")) document.set("state", document.createNode(STATE));
  for (const [name, entry] of Object.entries(servers)) {
    const path = ["mcpServers", name];
    if (!isMap(document.getIn(path))) document.setIn(path, document.createNode(entry));
    else {
      for (const key of CONNECTION) if (!Object.hasOwn(entry, key)) document.deleteIn([...path, key]);
      for (const [key, value] of Object.entries(entry)) document.setIn([...path, key], document.createNode(value));
    }
  }
  return document.toString(wide);
}
