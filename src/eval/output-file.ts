import { access, constants, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ArsenalError } from "../errors/arsenal-error.ts";

/** A file that an option asks for. */
export interface OutputFile {
  readonly option: string;
  /** As the user wrote it. */
  readonly path: string;
  write(text: string): Promise<void>;
}

/** A file to write when the work is done. Throws now if its folder cannot be written, so that no results are lost later. */
export async function openOutput(option: string, path: string, folder: string): Promise<OutputFile> {
  const full = resolve(folder, path);
  const refuse = (cause: unknown): never => {
    const fix = "Use a file in an existing folder that you can write to.";
    throw new ArsenalError("INPUT_INVALID", `${option}: cannot write ${full}. ${fix}`, {
      field: option,
      value: path,
      fix,
      cause,
    });
  };
  await access(dirname(full), constants.W_OK).catch(refuse);
  return { option, path, write: (text) => writeFile(full, text).catch(refuse) };
}
