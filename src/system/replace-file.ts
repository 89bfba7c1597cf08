import { randomUUID } from "node:crypto";
import { open, rename, rm, writeFile } from "node:fs/promises";

/** Replaces a file in one step, readable only by this user. A reader sees the complete old or new text. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}-${randomUUID().slice(0, 8)}.tmp`;
  try {
    await writeFile(temporary, text, { flag: "wx", mode: 0o600, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Makes a new or renamed file in a folder durable. On a system that cannot do so, a crash may bring back the previous version of the file. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close().catch(() => {});
}
