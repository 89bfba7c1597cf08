import { readFileSync } from "node:fs";
import { ERROR_CODES } from "../errors/codes.ts";

/** Returns the section about a code from the errors page, for `toolarsenal help CODE`; undefined if the word is not a code. */
export function errorHelp(word: string): string | undefined {
  const code = word.toUpperCase();
  if (!Object.hasOwn(ERROR_CODES, code)) return undefined;
  const meaning = ERROR_CODES[code as keyof typeof ERROR_CODES];
  return `${code}\n\n${sectionOf(code) ?? meaning}\n`;
}

/** The page is part of the package, but a bundler may omit it. Then only the meaning of the code is shown. */
function sectionOf(code: string): string | undefined {
  try {
    const page = readFileSync(new URL("../../docs/reference/errors.md", import.meta.url), "utf8");
    return page
      .split(/^## /m)
      .find((section) => section.startsWith(`${code}\n`))
      ?.slice(code.length)
      .trim();
  } catch {
    return undefined;
  }
}
