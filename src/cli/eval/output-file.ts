import { access, constants, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ArsenalError } from "../../errors/arsenal-error.ts";

/** A file that an option asks for. */
export interface OutputFile {
  readonly option: string;
  /** As the user wrote it. */
  readonly path: string;
  write(text: string): Promise<void>;
}

/** A file to write when the work is done. Refused now, where its folder cannot be written: nobody waits for figures that are then lost. */
export async function openOutput(option: string, path: string, folder: string): Promise<OutputFile> {
  const full = resolve(folder, path);
  const refuse = (cause: unknown): never => {
    const fix = "Name a file in a folder that exists and that you may write to.";
    throw new ArsenalError("INPUT_INVALID", `${option}: ${full} cannot be written. ${fix}`, {
      field: option,
      value: path,
      fix,
      cause,
    });
  };
  await access(dirname(full), constants.W_OK).catch(refuse);
  return { option, path, write: (text) => writeFile(full, text).catch(refuse) };
}
