import * as fc from "fast-check";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { type KeyPath, keyLines } from "./key-lines.ts";

describe("the line of a key", () => {
  it.each<[string, string, KeyPath, number]>([
    ["a key", "a = 1\nb = 2", ["b"], 2],
    ["a key in a table", "[a]\n\n# b = 0\nb = 1", ["a", "b"], 4],
    ["a table", "\n[a]\nb = 1", ["a"], 2],
    ["a dotted key", "[a]\nb.c . d = 1", ["a", "b", "c", "d"], 2],
    ["a table made by a dotted key", "a.b = 1\na.c = 2", ["a"], 1],
    ["a quoted key", '"a.b" = 1\n\'c "d\' = 2', ['c "d'], 2],
    ["a key with escapes", '"\\u0061\\tb" = 1', ["a\tb"], 1],
    ["an element of an array of tables", "[[a]]\nb = 1\n[[a]]\nb = 2", ["a", 1, "b"], 4],
    ["a table below an element", "[[a]]\n[a.b]\nc = 1\n[[a]]\n[a.b]\nc = 2", ["a", 1, "b", "c"], 6],
    ["an array of tables below another", "[[a]]\n[[a.b]]\nc=1\n[[a.b]]\nc=2", ["a", 0, "b", 1, "c"], 5],
    ["an element of a list", "a = [\n  1, # ]\n  2,\n]", ["a", 1], 3],
    ["a key of an inline table", "a = [ { b = 1 },\n { c = { d = 2 } } ]", ["a", 1, "c", "d"], 2],
    ["a key behind a text of several lines", 'a = """\nb = 1\n\\""" \n""""\nb = 2', ["b"], 5],
    ["a key behind a literal of several lines", "a = '''\nb = 1\n''\n'''\nb = 2", ["b"], 5],
    ["a key behind a date", "a = 1979-05-27 07:32:00Z\r\nb = 2", ["b"], 2],
    ["a key that is missing: at its table", "[a]\n[b]\nc = 1", ["b", "missing"], 2],
    ["a key of a table that is missing: at the start", "[a]\nb = 1", ["c", "d"], 1],
  ])("is found for %s", (_what, text, path, line) => {
    parse(text);
    expect(keyLines(text)(path)).toBe(line);
  });

  it("is found for every key of any document", () => {
    fc.assert(
      fc.property(documents, (text) => {
        const lineOf = keyLines(text);
        // Every key has a number of its own, so that it first stands where its number first stands.
        const lines = text.split("\n");
        for (const path of pathsOf(parse(text))) {
          const key = path.findLast((part) => typeof part === "string") ?? "";
          if (typeof path.at(-1) === "number") continue;
          const mark = /k\d+x/.exec(String(key))?.[0] ?? "?";
          expect([path, lineOf(path)]).toEqual([path, lines.findIndex((line) => line.includes(mark)) + 1]);
        }
      }),
    );
  });

  it("ends for any text at all", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."[]{}=\"'.,#\n\\ ab1") }), (text) => {
        expect(keyLines(text)(["a"])).toBeGreaterThan(0);
      }),
    );
  });
});

/** Every path in a document that ends with a key or an index. */
function pathsOf(value: unknown, path: KeyPath = []): readonly KeyPath[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => pathsOf(item, [...path, index]));
  if (typeof value !== "object" || value === null || value instanceof Date) return path.length === 0 ? [] : [path];
  const below = Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...path, key]));
  return path.length === 0 ? below : [path, ...below];
}

/** A value as it is written; `@` stands for the next free key. */
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(
      "1",
      "true",
      '"a = 1 # [b]"',
      "'c \"= 2'",
      '"""\nd = 1\n[[e]]\n"""',
      "'''\n]\n'''",
      "2020-01-01 10:00:00",
    ),
    fc
      .tuple(fc.array(tie("value"), { maxLength: 3 }), fc.constantFrom(", ", ",\n  ", " , # ]\n"))
      .map(([items, comma]) => `[${items.join(comma)}]`),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `{ ${items.map((item) => `@ = ${item}`).join(", ")} }`),
  ),
}));

const pair = fc.tuple(fc.constantFrom("@", "@.@", '@ . "@"', "'@'"), value).map(([key, of]) => `${key} = ${of}`);
const section = fc.record({
  header: fc.constantFrom("[@]", "[@.@]", "[[@]]", "[[<]]", "[<.@]", "[[<.@]]", '[ "@" ]'),
  pairs: fc.array(pair, { maxLength: 3 }),
  comment: fc.constantFrom("", "# a = 1\n", "\n\n"),
});

/** Documents of tables, arrays of tables and values; `<` stands for the last array of tables. */
const documents = fc
  .tuple(fc.array(pair, { maxLength: 3 }), fc.array(section, { maxLength: 6 }))
  .map(([first, rest]) => {
    let count = 0;
    let array: string | undefined;
    const number = (text: string): string => text.replaceAll("@", () => `k${count++}x`);
    const sections = rest.map(({ header, pairs, comment }) => {
      const named = number(array === undefined ? header.replace("<", "@") : header.replace("<", array));
      if (header === "[[@]]" || (header === "[[<]]" && array === undefined)) array = named.slice(2, -2);
      return `${comment}${named}\n${pairs.map(number).join("\n")}`;
    });
    return [...first.map(number), ...sections].join("\n");
  });
