import { describe, expect, it } from "vitest";
import { GROUPS } from "../../scripts/figures/groups.ts";
import { quotesIn, withFigures } from "../../scripts/figures/quotes.ts";
import { changedInputs, readFigures } from "../../scripts/figures/recorded.ts";
import { files, read } from "./project.ts";

const FIX = "Run: npm run figures";
const figures = readFigures();
const pages = ["README.md", ...files("docs/**/*.md")];

describe("the figures that pages quote", () => {
  it("are the recorded ones", () => {
    const quotes = pages.flatMap((page) => quotesIn(read(page)).map((quote) => ({ page, ...quote })));
    expect(quotes.length).toBeGreaterThan(40);
    const wrong = quotes.filter(({ group, name, text }) => figures[group]?.values[name] !== text);
    expect(wrong, FIX).toEqual([]);
  });

  it.each(Object.keys(GROUPS))("are not older than what they measure: %s", (name) => {
    const group = figures[name];
    if (group === undefined) throw new Error(`docs/figures.json has no ${name}. ${FIX} -- ${name}`);
    expect(changedInputs(group), `${FIX} -- ${name}`).toEqual([]);
    expect(Object.keys(group.inputs), `${FIX} -- ${name}`).toEqual(GROUPS[name]?.inputs);
  });

  it("say when, where and how they were measured", () => {
    const loose = Object.entries(figures).filter(
      ([, { command, date, commit, machine }]) =>
        command === "" || !/^\d{4}-\d\d-\d\d$/.test(date) || !/^[0-9a-f]{7,}/.test(commit) || machine === "",
    );
    expect(loose).toEqual([]);
  });

  it("are all that the tables of README and the page of figures have: no number stands there by itself", () => {
    const bare = ["README.md", "docs/concepts/figures.md"].flatMap((page) =>
      read(page)
        .split("\n")
        .filter((line) => line.startsWith("|"))
        .map((line) => line.replaceAll(/<!--figure .*?-->.*?<!--\/figure-->/g, "x"))
        .filter(
          (line) => /\| *\**\d[\d.,]*\** *%? *(?=\|)|\d ?%/.test(line) && !/^\|[^|]*tools in the catalog/.test(line),
        ),
    );
    expect(bare).toEqual([]);
  });

  it("are replaced in their places, and nothing else is", () => {
    const group = { command: "c", date: "d", commit: "e", machine: "m", load: 0, inputs: {}, values: { big: "1,000" } };
    const page = "a <!--figure g.big-->9<!--/figure--> b 9 <!--figure g.other-->7<!--/figure-->";
    expect(withFigures(page, { g: group })).toBe(
      "a <!--figure g.big-->1,000<!--/figure--> b 9 <!--figure g.other-->7<!--/figure-->",
    );
  });
});
