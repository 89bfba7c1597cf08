import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { diagram } from "./diagram.ts";
import { forwardingPage, movedPages } from "./moved.ts";
import { DOORS } from "./pages.ts";

const DOCS = fileURLToPath(new URL("../../docs", import.meta.url));

/** The heading of a page. */
function titleOf(page: string): string {
  return /^# (.+)$/m.exec(readFileSync(join(DOCS, `${page}.md`), "utf8"))?.[1] ?? page;
}

const exists = (page: string): boolean => existsSync(join(DOCS, `${page}.md`));
const linkOf = (page: string): string => `/${page.replace(/README$/, "")}`;
const itemOf = (page: string) => ({ text: titleOf(page), link: linkOf(page) });

/** The pages of a folder, without its README, by name. */
function pagesIn(folder: string): string[] {
  const files = readdirSync(join(DOCS, folder), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".md") && !file.endsWith("README.md"))
    .map((file) => `${folder}/${file.slice(0, -3)}`)
    .sort();
}

/** The anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}

/** A square with the first letter, in the page itself: a browser asks for nothing. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#3451b2"/><path d="M4 5h8M8 5v7" stroke="#fff" stroke-width="2"/></svg>',
)}`;

/** The words of a heading count most. Typing errors are forgiven in long words only. */
const SEARCH = { boost: { title: 6, text: 1, titles: 1 }, fuzzy: 0.15, prefix: true };

/** The part of a Markdown token that is read and changed here. */
interface Token {
  readonly type: string;
  tag: string;
  attrs: [string, string][] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/** Makes the links of a page those of the site. A README is the page of its folder. Files outside docs/ are named, not linked: the site has only pages. */
function adaptLinks(tokens: readonly Token[], page: string): void {
  let isOutside = false;
  for (const token of tokens) {
    if (token.type === "link_open") {
      const link = token.attrGet("href") ?? "";
      isOutside = posix.join(posix.dirname(page), link).startsWith("../");
      if (!/^[a-z]+:/.test(link)) token.attrSet("href", link.replace(/(^|\/)README\.md(?=#|$)/, "$1index.md"));
    }
    if (!isOutside || !token.type.startsWith("link_")) continue;
    token.tag = "span";
    token.attrs = null;
  }
}

const addressOf = (page: string): string => `${page.replace(/README$/, "index")}.html`;

/** Writes a page at each old address that leads to the new one. */
function writeForwardingPages(folder: string): void {
  const pages = readdirSync(DOCS, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => file.replaceAll("\\", "/").slice(0, -3));
  for (const [before, now] of movedPages(pages)) {
    const file = join(folder, addressOf(before));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, forwardingPage(posix.relative(posix.dirname(addressOf(before)), addressOf(now))));
  }
}

interface SidebarGroup {
  readonly text: string;
  readonly items: { text: string; link: string }[];
}
const groupOf = (text: string, pages: readonly string[]): SidebarGroup => ({ text, items: pages.map(itemOf) });

/** A page shows the other pages of its own door beside it; one of many adapters, frameworks or decisions shows those. */
const sidebar: Record<string, SidebarGroup[]> = {
  ...Object.fromEntries(
    DOORS.map(({ name, groups }) => [
      `/${name.toLowerCase()}/`,
      groups.map(({ title, pages }) => groupOf(title, pages.filter(exists))),
    ]),
  ),
  "/guides/integrations/": [groupOf("Frameworks", ["guides/integrations/README", ...pagesIn("guides/integrations")])],
  "/reference/adapters/": [
    groupOf("All of them", ["reference/adapters/README"]),
    ...[...Map.groupBy(pagesIn("reference/adapters"), (page) => page.split("/")[2] ?? "")].map(([kind, pages]) =>
      groupOf(kind, pages),
    ),
  ],
  "/reference/api/": [groupOf("Every export", ["reference/api/README", ...pagesIn("reference/api")])],
  "/decisions/": [groupOf("Decisions", pagesIn("decisions"))],
};

export default defineConfig({
  title: "ToolArsenal",
  description: "The tool layer of an agent",
  srcDir: DOCS,
  outDir: fileURLToPath(new URL("../dist", import.meta.url)),
  cacheDir: fileURLToPath(new URL("../node_modules/.cache/vitepress", import.meta.url)),
  // Relative links work on any host and below any path.
  cleanUrls: false,
  lastUpdated: false,
  lang: "en",
  head: [["link", { rel: "icon", href: ICON }]],
  rewrites: (id) => id.replace(/(^|\/)README\.md$/, "$1index.md"),
  ignoreDeadLinks: "localhostLinks",
  buildEnd: ({ outDir }) => writeForwardingPages(outDir),
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    // The anchors that GitHub makes, so that a link works in both places.
    anchor: { slugify: anchorOf },
    config(markdown) {
      const fence = markdown.renderer.rules.fence;
      markdown.renderer.rules.fence = (tokens, at, ...given) => {
        const { info = "", content = "" } = tokens[at] ?? {};
        return info.trim() === "mermaid" ? diagram(content) : (fence?.(tokens, at, ...given) ?? "");
      };
      // Indented code looks like other code, and scrolls as it does.
      markdown.renderer.rules.code_block = (tokens, at, ...given) => {
        const token = tokens[at];
        if (token !== undefined) token.info = "text";
        return fence?.(tokens, at, ...given) ?? "";
      };
      // Vue would read {{ … }} as an expression.
      const text = markdown.renderer.rules.text;
      markdown.renderer.rules.text = (...given) => (text?.(...given) ?? "").replaceAll("{{", "&#123;&#123;");
      const render = markdown.renderer.rules.code_inline;
      markdown.renderer.rules.code_inline = (...given) => (render?.(...given) ?? "").replace(/^<code/, "<code v-pre");
      markdown.core.ruler.push("files-of-the-repository", (state) => {
        const page = String((state.env as { relativePath?: string }).relativePath ?? "");
        for (const { children } of state.tokens) adaptLinks(children ?? [], page);
      });
    },
  },
  // The default theme loads a font from its own package; nothing comes from another host.
  themeConfig: {
    search: { provider: "local", options: { miniSearch: { searchOptions: SEARCH } } },
    nav: DOORS.map(({ name, groups }) => ({ text: name, link: linkOf(groups[0]?.pages[0] ?? "") })),
    sidebar,
    outline: [2, 3],
  },
});
