import { describe, expect, it } from "vitest";
import { requirements } from "../requirements.ts";
import { files, read } from "./project.ts";

/** Where a test cites a requirement: in square brackets at the end of its name. */
interface Citation {
  readonly id: string;
  readonly path: string;
}

/** A name, and the citations that end it. One of a test that does not run counts for nothing. */
const NAME =
  /(?<off>\.(?:skip|todo|fails))?\(\s*(?<quote>["'`])(?:\\.|(?!\k<quote>)[^\\])*?(?<cited>(?:\s*\[\d{3}-[a-z0-9.-]+\])+)\k<quote>/g;

function citationsIn(path: string, text: string): readonly Citation[] {
  return [...text.matchAll(NAME)]
    .filter(({ groups }) => groups?.["off"] === undefined)
    .flatMap(({ groups }) =>
      [...(groups?.["cited"] ?? "").matchAll(/\[([^\]]+)\]/g)].map(([, id = ""]) => ({ id, path })),
    );
}

const citations = files(["src/**/*.test.ts", "test/**/*.test.ts"]).flatMap((path) => citationsIn(path, read(path)));
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

  it("are cited by a test where they are marked covered", () => {
    const uncited = requirements.filter(({ id, state }) => state === "covered" && !cited.has(id));
    expect(uncited.map(({ id, behaviour }) => `${id}: ${behaviour}`)).toEqual([]);
  });

  it("are marked covered where a test cites them", () => {
    const open = new Set(requirements.filter(({ state }) => state === "open").map(({ id }) => id));
    expect(citations.filter(({ id }) => open.has(id))).toEqual([]);
  });

  it("say in one sentence what the program does", () => {
    expect(requirements.filter(({ behaviour }) => !/^[A-Z].{15,}[^.]\.$/.test(behaviour)).map(({ id }) => id)).toEqual(
      [],
    );
  });

  it("are counted", () => {
    const lines = ["000", "001", "002", "003", "004"].map((seed) => {
      const rows = requirements.filter((row) => row.seed === seed);
      const done = rows.filter(({ state }) => state === "covered").length;
      return `  ${seed}  ${done} covered, ${rows.length - done} open`;
    });
    const done = requirements.filter(({ state }) => state === "covered").length;
    lines.push(`  all  ${done} covered, ${requirements.length - done} open`);
    process.stdout.write(`\nrequirements\n${lines.join("\n")}\n`);
    expect(done).toBeGreaterThan(0);
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
