import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, matchesGlob, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { LIMIT } from "../../scripts/package/size.ts";
import { committable, files, read, ROOT } from "./project.ts";

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
      expect.arrayContaining([
        "README.md",
        "docs/reference/configuration.md",
        "docs/reference/adapters/sources/mcp.md",
      ]),
    );
  });

  it("has no pictures, and no other file above 300 KB but the weights of the models and what the build makes", () => {
    const packed = committable().filter(isPacked);
    expect(packed.filter((path) => /\.(?:png|jpe?g|gif|webp|mp4)$/.test(path))).toEqual([]);
    const large = packed.filter((path) => !path.startsWith("models/weights/") && statSync(ROOT + path).size > 300_000);
    expect(large).toEqual([]);
  });

  it("fits into the archive that may be published: weights compress by a tenth", () => {
    const bytes = committable()
      .filter(isPacked)
      .map((path) => statSync(ROOT + path).size);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(LIMIT * 1.1);
  });

  // Pictures stay in the repository: they are nearly two megabytes.
  it.each(pages)("has everything that %s links to, pictures aside", (page) => {
    const missing = linksOf(page).filter((target) => {
      if (target.endsWith(".png")) return !existsSync(join(ROOT, target));
      const isThere = existsSync(join(ROOT, target));
      return !isThere || !(isPacked(target) || files(`${target}/*`).some(isPacked));
    });
    expect(missing).toEqual([]);
  });

  it("has the page that the scaffolded configuration names", () => {
    const text = readFileSync(join(ROOT, "src/cli/init/scaffold.ts"), "utf8");
    const named = [...text.matchAll(/node_modules\/toolarsenal\/([\w./-]*\w)/g)].map(([, path = ""]) => path);
    expect(named).toContain("docs/reference/configuration.md");
    expect(named.filter((path) => !isPacked(path))).toEqual([]);
  });
});
