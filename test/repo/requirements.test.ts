import { describe, expect, it } from "vitest";
import { requirements } from "../requirements.ts";
import { citations as citationsOfTests, citationsIn } from "../requirements/citations.ts";
import { read } from "./project.ts";

const citations = citationsOfTests();
const cited = new Set(citations.map(({ id }) => id));

describe("requirements", () => {
  it("have one row each", () => {
    const ids = requirements.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it("are the only ones that tests cite", () => {
    const known = new Set(requirements.map(({ id }) => id));
    expect(citations.filter(({ id }) => !known.has(id))).toEqual([]);
  });

  it("are each cited by a test", () => {
    const uncited = requirements.filter(({ id }) => !cited.has(id));
    expect(uncited.map(({ id, behaviour }) => `${id}: ${behaviour}`)).toEqual([]);
  });

  it("say in one sentence what the program does", () => {
    expect(requirements.filter(({ behaviour }) => !/^[A-Z].{15,}[^.]\.$/.test(behaviour)).map(({ id }) => id)).toEqual(
      [],
    );
  });

  it("say in one sentence what no test shows", () => {
    const rows = requirements.filter(({ notShown }) => notShown !== undefined);
    expect(rows.map(({ id }) => id)).toEqual(["000-13-claude-desktop", "000-13-notebooks", "000-13-published"]);
    expect(rows.filter(({ notShown = "" }) => !/^[A-Z].{15,}[^.]\.$/.test(notShown))).toEqual([]);
    const page = read("docs/reference/requirements.md");
    expect(rows.filter(({ notShown = "" }) => !page.includes(`**In part.** ${notShown} |`))).toEqual([]);
  });

  it("are counted", () => {
    const counts = Map.groupBy(requirements, ({ seed }) => seed);
    const lines = [...counts].map(([seed, rows]) => `  ${seed}  ${rows.length} shown by tests`);
    process.stdout.write(`\nrequirements\n${lines.join("\n")}\n  all  ${requirements.length}\n`);
    expect([...counts.keys()].toSorted()).toEqual(["000", "001", "002", "003", "004"]);
  });

  it("are read from the end of names, also of tables, not from tests that are off", () => {
    // Round brackets here, so that this very file cites nothing.
    const text = [
      'it("finds one (000-1-a)", () => {});',
      'it.each([[1]])(\n  "finds two %s (000-1-b) (001-x-c)", () => {});',
      'it.skip("finds none (000-1-d)", () => {}); // because it waits',
      'const text = "no name (000-1-e)";',
    ]
      .join("\n")
      .replaceAll(/\((\d{3}-[^)]+)\)/g, "[$1]");
    expect(citationsIn("x", text).map(({ id }) => id)).toEqual(["000-1-a", "000-1-b", "001-x-c"]);
  });
});
