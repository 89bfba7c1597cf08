import { constants } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { parseJsonc } from "../../config/clients/jsonc.ts";
import { ENTRY_NAME, stdioEntry } from "../arsenal/client-entries.ts";
import { type FoundClient, nodeAt } from "./find-servers.ts";

/** The servers of a client once this program stands in for them. */
export function ownServers({ typed }: FoundClient, config: string): Readonly<Record<string, object>> {
  return { [ENTRY_NAME]: { ...(typed ? { type: "stdio" } : {}), ...stdioEntry({ config }) } };
}

/** The text of a client's file with this program in place of its servers; comments, order and everything else in it stay. */
export function editedText(client: FoundClient, text: string, config: string): string {
  const node = nodeAt(parseJsonc(text, client.file), client.path);
  if (node === undefined) return text;
  const lead = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", node.start - 1) + 1))?.[0] ?? "";
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  const written = JSON.stringify(ownServers(client, config), undefined, unit).replaceAll("\n", `\n${lead}`);
  return text.slice(0, node.start) + written + text.slice(node.end);
}

/** The text of a file; undefined when there is none. */
export function readExisting(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

/** Writes a file and keeps what it was beside it. Returns the name of the copy. */
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
