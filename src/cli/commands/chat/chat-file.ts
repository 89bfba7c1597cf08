import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fromSavedRun, type SavedRun } from "../../../agent/saved-run.ts";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import type { Terminal } from "../../command.ts";
import { wrongInput } from "../../input.ts";

/** Reads a chat that was saved. Throws INPUT_INVALID with the name of the file. */
export async function readChat(file: string, { folder }: Terminal): Promise<SavedRun> {
  const refuse = (problem: string, fix: string): never => {
    throw wrongInput("--resume", file, `Cannot resume ${file}: ${problem}.`, fix);
  };
  const text = await readFile(resolve(folder, file), "utf8").catch(() =>
    refuse("the file cannot be read", "Check the path."),
  );
  try {
    const saved: unknown = JSON.parse(text);
    fromSavedRun(saved);
    return saved as SavedRun;
  } catch (error) {
    if (isArsenalError(error)) {
      const fix = error.details.fix ?? "";
      throw wrongInput("--resume", file, `${file}: ${error.message.replace(fix, "").trim()}`, fix);
    }
    return refuse("it is not JSON", "Give a file that chat --save wrote.");
  }
}

/** Saves a chat, readable by this user alone, because it contains the arguments and results of calls. Never leaves half a file. */
export async function writeChat(file: string, saved: SavedRun, { folder }: Terminal): Promise<void> {
  const path = resolve(folder, file);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(saved)}\n`, { mode: 0o600 });
  await rename(temporary, path);
}

/** Where a chat that waits is kept if nobody says where. Undefined if this user has no home folder. */
export function defaultChatFile(saved: SavedRun, { environment }: Terminal): string | undefined {
  const home = environment["HOME"] || environment["USERPROFILE"];
  return home ? join(home, ".toolarsenal", "chats", `${saved.traceId}.json`) : undefined;
}
