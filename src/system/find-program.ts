import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";

/** Returns the path of a program, found on the PATH like a shell does; undefined if it is missing. */
export function findProgram(program: string, path: string = process.env["PATH"] ?? ""): string | undefined {
  if (program.includes("/")) return isExecutable(resolve(program)) ? resolve(program) : undefined;
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, program))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
