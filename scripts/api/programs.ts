/** Finds programs of the docs that use an export. */
import { globSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { read } from "./declarations.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A program of a page. */
export interface Program {
  readonly page: string;
  readonly heading: string;
  readonly code: string;
}

const PAGES = globSync("docs/{start,guides,concepts,reference}/**/*.md", { cwd: ROOT })
  .map((page) => page.replaceAll("\\", "/"))
  .filter((page) => !page.startsWith("docs/reference/api/"))
  .sort();

/** Every TypeScript program of the docs, with the section it is in. The checks of the docs compile or run each of them. */
export const programs = (): readonly Program[] =>
  blocks(/(?:<!-- ts:(?<hidden>[^]*?)-->\n+)?^```ts[^\n]*\n(?<code>[^]*?)^```/gm);

/** Every configuration in the docs, with the section it is in. */
export const configurations = (): readonly Program[] => blocks(/^```yaml\n(?<code>[^]*?)^```/gm);

function blocks(pattern: RegExp): readonly Program[] {
  return PAGES.flatMap((page) => {
    const text = read(page);
    return [...text.matchAll(pattern)].map(({ index, groups = {} }) => ({
      page,
      heading:
        [
          ...text
            .slice(0, index)
            .replaceAll(/```[^]*?```/g, "")
            .matchAll(/^## (.+)$/gm),
        ].at(-1)?.[1] ?? "",
      code: `${groups["hidden"] ?? ""}\n${groups["code"] ?? ""}`,
    }));
  });
}

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

/** The shortest program that imports a name and uses it, and the line that does. */
export function exampleOf(
  all: readonly Program[],
  entry: string,
  name: string,
): (Program & { line: string }) | undefined {
  const imported = new RegExp(`import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from "${entry}"`);
  const used = new RegExp(`\\b${name}\\b`);
  return all
    .filter(({ code }) => imported.test(code))
    .map((program) => {
      const lines = program.code.replaceAll(/^import [^]*?from "[^"]+";?$/gm, "").split("\n");
      return { ...program, line: lines.find((each) => used.test(each))?.trim() ?? "" };
    })
    .filter(({ line }) => line !== "")
    .sort((a, b) => a.code.length - b.code.length)[0];
}

const titleOf = (page: string): string => /^# (.+)$/m.exec(read(page))?.[1] ?? page;

/** A Markdown link from a page to the section of a program. */
export function linkTo(from: string, { page, heading }: Program): string {
  const target = posix.relative(posix.dirname(from), page) + (heading === "" ? "" : `#${anchorOf(heading)}`);
  return `[${titleOf(page)}${heading === "" ? "" : `: ${heading}`}](${target})`;
}
