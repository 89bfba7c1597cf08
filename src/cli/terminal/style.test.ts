import { harmless } from "../../errors/show-value.ts";
import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { clip, styles, table, wrap } from "./style.ts";

it("a table aligns columns, numbers to the right, and ignores what colours add", () => {
  const { green } = styles({ write: () => {}, isTTY: true }, {});
  const rows = [
    ["a", 5, green("yes"), "x"],
    ["long", 1000, "no", ""],
  ];
  expect(stripVTControlCharacters(table(rows))).toBe("a        5  yes  x\nlong  1000  no");
});

it("clip makes one line of a width", () => {
  expect(clip("  one\n two\tthree ", 20)).toBe("one two three");
  expect(clip("abcdef", 4)).toBe("abc…");
  expect(clip("abcd", 4)).toBe("abcd");
});

it("text of a tool cannot steer the terminal", () => {
  expect(harmless("\u001B[2J\u001B]0;owned\u0007red\u001B[31m\r\b\u009B1m\nnext\ttab")).toBe("red\nnext\ttab");
  expect(clip("a\u001B[2Jb\u0000c", 10)).toBe("abc");
  expect(harmless("a\u202Eb\u2066c\u200F\u061C\u009B\u2028d")).toBe("abcd");
});

it("wrap breaks between words, indents what goes on, and ignores what colours add", () => {
  const { red } = styles({ write: () => {}, isTTY: true }, {});
  const wrapped = wrap(`${red("denied")}  the caller lacks it\nshort\nexceptionallylong word`, 14);
  expect(stripVTControlCharacters(wrapped)).toBe("denied  the\n  caller lacks\n  it\nshort\nexceptionallylong\n  word");
});
