import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const NAME = "TOOLARSENAL_RUN_FOLDER";

/** Makes the folder that the workers of a run share. A run that a test starts uses the folder of its own run. */
export default function setup(): (() => void) | undefined {
  if (process.env[NAME] !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-run-"));
  process.env[NAME] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** The path of a file that the workers of a run share. Undefined outside a run. */
export function runFile(name: string): string | undefined {
  const folder = process.env[NAME];
  return folder === undefined ? undefined : join(folder, name);
}

/** Does something expensive in one worker of a run. The others wait until it is done. Outside a run it is done at once. */
export async function oncePerRun(name: string, make: () => Promise<unknown>): Promise<void> {
  const folder = process.env[NAME];
  if (folder === undefined) return void (await make());
  const done = join(folder, `${name}-done`);
  while (!existsSync(done)) {
    const begun = join(folder, `${name}-begun`);
    if (begin(begun)) {
      await make().catch((error: unknown) => {
        rmdirSync(begun);
        throw error;
      });
      writeFileSync(done, "");
    } else await delay(20);
  }
}

function begin(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
