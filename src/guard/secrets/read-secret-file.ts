import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { Missing } from "./missing.ts";

/** No secret is longer: this is some other file. */
const MAX_BYTES = 64 * 1024;
/** Rights of the group and of everybody. */
const OTHERS = 0o077;

/** The content of a file that only its owner can read, without the line's end. Rejects with `Missing`. */
export async function readSecretFile(path: string): Promise<string> {
  const whole = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
  // Without waiting, so that a pipe is found to be one.
  const file = await open(whole, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((cause: unknown) => {
    const code = String((cause as NodeJS.ErrnoException).code);
    throw new Missing(`the file cannot be opened (${code})`, "Write the secret into it, readable by this user.");
  });
  try {
    // Asked of the open file: what the path leads to may change meanwhile.
    const { mode, size, isFile } = await file.stat().then((stats) => ({ ...stats, isFile: stats.isFile() }));
    if (!isFile) throw new Missing("it is no regular file", "Name a file.");
    if (process.platform !== "win32" && (mode & OTHERS) !== 0) {
      const rights = (mode & 0o777).toString(8).padStart(4, "0");
      throw new Missing(`the file has the rights ${rights}, so that others can read it`, `Run chmod 600 on it.`);
    }
    if (size > MAX_BYTES)
      throw new Missing(`the file is longer than ${MAX_BYTES} bytes`, "Name the secret's own file.");
    const content = (await file.readFile("utf8")).replace(/\r?\n$/, "");
    if (content === "") throw new Missing("the file is empty", "Write the secret into it.");
    return content;
  } finally {
    await file.close();
  }
}
