import { files, read } from "../repo/project.ts";

/*
 * Every ```ts block of README.md and docs/ is a program of its own that must compile. Three conventions keep the blocks short:
 *
 * - `snippet-globals.d.ts` declares what a reader takes for granted, such as `arsenal`.
 * - A comment right above a block holds code that belongs before it and that readers need not see: `<!-- ts: declare const x: string; -->`.
 *   `<!-- ts: above -->` stands for the block before it on the page, hidden code included.
 * - A block marked ```ts nocheck is not compiled. The comment above it must say why: `<!-- nocheck: … -->`.
 */

const BLOCK = /(?:<!-- (?<kind>ts|nocheck):(?<hidden>[^]*?)-->\n+)?^```ts(?<mark>[^\n]*)\n(?<code>[^]*?)^```/gm;

/** Every page but those of integrations: test/frameworks/pages.test.ts compiles them beside the frameworks. */
function pagesOfProject(): readonly string[] {
  return files(["README.md", "docs/**/*.md"]).filter((page) => !page.startsWith("docs/guides/integrations/"));
}

/** The snippets by file name, which tells the page and the line. Throws where a mark is wrong. */
export function writeSnippets(pages: readonly string[] = pagesOfProject()): Record<string, string> {
  const snippets: Record<string, string> = { "globals.d.ts": read("test/types/snippet-globals.d.ts") };
  for (const page of pages) {
    const text = read(page);
    let above = "";
    for (const { index, groups = {} } of text.matchAll(BLOCK)) {
      const { kind, hidden = "", mark = "", code = "" } = groups;
      const line = text.slice(0, text.indexOf("```ts", index)).split("\n").length;
      if (mark.trim() === "nocheck") {
        if (kind !== "nocheck") throw new Error(`${page}:${line} is marked nocheck, and no comment above it says why`);
        continue;
      }
      if (mark.trim() !== "") throw new Error(`${page}:${line} has an unknown mark: ${mark}`);
      const before = kind === "ts" ? hidden.replace(/^\s*above\b/, () => above) : "";
      above = `${before}\n${code}`;
      snippets[`${page.replaceAll(/[/.]/g, "-")}-line-${line}.ts`] = `${above}\nexport {};\n`;
    }
  }
  return snippets;
}
