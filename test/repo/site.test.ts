import { describe, expect, it } from "vitest";
import { movedPages } from "../../site/.vitepress/moved.ts";
import { DOORS } from "../../site/.vitepress/pages.ts";
import { committable, files, read } from "./project.ts";

const FOLDERS = ["start", "guides", "concepts", "reference"];
const pages = files("docs/**/*.md").map((path) => path.slice("docs/".length, -".md".length));

describe("the pages of docs", () => {
  it("are in the folders of the four doors", () => {
    expect(pages.filter((page) => !page.includes("/"))).toEqual(["README"]);
    expect(pages.filter((page) => ![...FOLDERS, "decisions"].includes(page.split("/")[0] ?? ""))).toEqual(["README"]);
  });

  it("each have a place in the site", () => {
    const listed = DOORS.flatMap(({ groups }) => groups.flatMap((group) => group.pages));
    const single = pages.filter((page) => FOLDERS.some((folder) => page.startsWith(`${folder}/`)) && depth(page) === 1);
    expect(single.length).toBeGreaterThan(30);
    expect(
      single.filter((page) => !listed.includes(page)),
      "Add them to site/.vitepress/pages.ts",
    ).toEqual([]);
    expect(listed.filter((page) => !pages.includes(page))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
  });

  it("are where the old addresses lead", () => {
    const moved = movedPages(pages);
    expect(moved.get("policy")).toBe("guides/policy");
    expect(moved.get("adapters/sources/mcp")).toBe("reference/adapters/sources/mcp");
    expect([...moved.values()].filter((page) => !pages.includes(page))).toEqual([]);
    expect([...moved.keys()].filter((page) => pages.includes(page))).toEqual([]);
  });

  it.each(pages.filter((page) => page !== "README" && !page.startsWith("decisions/")))(
    "%s says whom it is for, and what to read next",
    (page) => {
      const text = read(`docs/${page}.md`);
      expect(text, "Write *For operators who …* below the title").toMatch(/^# .+\n\n\*For [a-z].+\.\*\n/);
      const [title, ...rest] = (text.split(/^## /m).at(-1) ?? "").split("\n");
      expect(title, "End with the section Read next").toBe("Read next");
      expect(rest.join("\n").match(/^- \[.+\]\(.+\.md(?:#.+)?\)/gm) ?? []).not.toEqual([]);
    },
  );

  it("exist if a message or a comment names them", () => {
    const texts = committable().filter((path) =>
      /^(?:src|scripts|deploy|dashboard)\/.*\.(?:ts|tsx|sh|ya?ml)$/.test(path),
    );
    const named = texts.flatMap((path) =>
      [...read(path).matchAll(/\bdocs\/([\w/-]+)\.md\b/g)].map(([, page = ""]) => `${path}: ${page}`),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((line) => !pages.includes(line.slice(line.indexOf(": ") + 2)))).toEqual([]);
  });
});

const depth = (page: string): number => page.split("/").length - 1;
