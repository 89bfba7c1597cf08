import { existsSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { files, read, ROOT } from "./project.ts";

const { files: patterns } = JSON.parse(read("package.json")) as { readonly files: readonly string[] };

/** Whether npm packs a file: `files` names it, a folder above it, or a pattern. */
function isPacked(path: string): boolean {
  if (path === "package.json") return true;
  const excluded = patterns.filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1));
  const isIn = (list: readonly string[]): boolean =>
    list.some((pattern) => path === pattern || path.startsWith(`${pattern}/`) || matchesGlob(path, pattern));
  return isIn(patterns) && !isIn(excluded);
}

/** Where the relative links of a page lead. */
function linksOf(page: string): readonly string[] {
  const text = read(page).replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, "");
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)].map(
    ([, link, source]) => link ?? source ?? "",
  );
  return targets
    .filter((target) => !/^(?:[a-z]+:|#)/i.test(target))
    .map((target) => normalize(join(dirname(page), target.replace(/#.*$/, ""))).replace(/\/$/, ""));
}

const pages = [...files("*.md"), ...files("docs/**/*.md"), ...files("examples/*.md")].filter(isPacked);

describe("the package", () => {
  it("has the documentation in it", () => {
    expect(pages).toEqual(
      expect.arrayContaining(["README.md", "docs/configuration.md", "docs/adapters/sources/mcp.md"]),
    );
  });

  it.each(pages)("has everything that %s links to", (page) => {
    const missing = linksOf(page).filter((target) => {
      const isThere = existsSync(join(ROOT, target));
      return !isThere || !(isPacked(target) || files(`${target}/*`).some(isPacked));
    });
    expect(missing).toEqual([]);
  });

  it("has the page that the scaffolded configuration names", () => {
    const text = readFileSync(join(ROOT, "src/cli/init/scaffold.ts"), "utf8");
    const named = [...text.matchAll(/node_modules\/toolarsenal\/([\w./-]*\w)/g)].map(([, path = ""]) => path);
    expect(named).toContain("docs/configuration.md");
    expect(named.filter((path) => !isPacked(path))).toEqual([]);
  });
});
