import { extname } from "node:path";
import { findFiles as find } from "../find-files.ts";
import type { Language } from "./declaration.ts";

const LANGUAGES: Readonly<Record<string, Language>> = {
  ...Object.fromEntries(["ts", "mts", "cts", "js", "mjs", "cjs"].map((name) => [`.${name}`, "node"] as const)),
  ".py": "python",
  ".sh": "bash",
  ".bash": "bash",
};

/** A file that may declare tools. */
export interface ScriptFile {
  readonly path: string;
  readonly language: Language;
}

/** The files that paths mean, with their languages. */
export async function findFiles(paths: readonly string[]) {
  const { files, ...others } = await find(paths, Object.keys(LANGUAGES));
  const withLanguage = files.flatMap((path): readonly ScriptFile[] => {
    const language = languageOf(path);
    return language === undefined ? [] : [{ path, language }];
  });
  return { files: withLanguage, ...others };
}

/** The runtime of the file; undefined for files of unknown types. */
export function languageOf(path: string): Language | undefined {
  return LANGUAGES[extname(path).toLowerCase()];
}
