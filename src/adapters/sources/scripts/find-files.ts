import { extname } from "node:path";
import { findFiles as find } from "../find-files.ts";
import type { Language } from "./declaration.ts";

const LANGUAGES: Readonly<Record<string, Language>> = {
  ...Object.fromEntries(["ts", "mts", "cts", "js", "mjs", "cjs"].map((name) => [`.${name}`, "node"] as const)),
  ".py": "python",
  ".sh": "bash",
  ".bash": "bash",
};

export interface ScriptFile {
  readonly path: string;
  readonly language: Language;
}

/** Returns the files at these paths, with their languages. */
export async function findFiles(paths: readonly string[]) {
  const { files, ...others } = await find(paths, Object.keys(LANGUAGES));
  const withLanguage = files.flatMap((path): readonly ScriptFile[] => {
    const language = languageOf(path);
    return language === undefined ? [] : [{ path, language }];
  });
  return { files: withLanguage, ...others };
}

/** Returns the runtime of a file; undefined if its type is unknown. */
export function languageOf(path: string): Language | undefined {
  return LANGUAGES[extname(path).toLowerCase()];
}
