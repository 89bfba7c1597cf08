import { describe, expect, it } from "vitest";
import { changedFields, diffLines } from "./diff.ts";

describe("the whole difference of two definitions", () => {
  it("has every place and every character, where the short one has excerpts", () => {
    const long = (end: string): string => `${"word ".repeat(600)}${end}`;
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`field_${index}`, index]));
    const [before, after] = [{ description: long("ends here") }, { description: long("ends there"), ...many }];
    expect(diffLines(before, after).join("\n")).toContain("… and 21 more places");
    const lines = diffLines(before, after, { whole: true });
    expect(lines.slice(0, 3)).toEqual(["description", `- ${long("ends here")}`, `+ ${long("ends there")}`]);
    expect(lines.at(-1)).toBe("+ 59");
  });
});

describe("the difference of two definitions", () => {
  it("names each place, with what was there and what is", () => {
    const before = { description: "Reads.", inputSchema: { properties: { path: { type: "string" }, old: {} } } };
    const after = { description: "Reads.", inputSchema: { properties: { path: { type: "number" }, bcc: { a: 1 } } } };
    expect(diffLines(before, after)).toEqual([
      "inputSchema.properties.path.type",
      "- string",
      "+ number",
      "inputSchema.properties.old",
      "- {}",
      "inputSchema.properties.bcc",
      '+ {"a":1}',
    ]);
  });

  it("shows the part of a long text that differs, however long it is", () => {
    const [, before, after] = diffLines(
      { description: `${"a".repeat(500)}X${"b".repeat(500)}` },
      { description: `${"a".repeat(500)}YY${"b".repeat(500)}` },
    );
    expect(before).toBe(`- …${"a".repeat(40)}X${"b".repeat(40)}…`);
    expect(after).toBe(`+ …${"a".repeat(40)}YY${"b".repeat(40)}…`);
  });

  it.each([
    ["a Unicode tag", "Reads.\u{E0041}", String.raw`+ Reads.\udb40\udc41`],
    ["a zero-width space", "Rea\u200Bds.", String.raw`+ Rea\u200bds.`],
    ["a line break", "Reads.\nAll.", String.raw`+ Reads.\u000aAll.`],
    ["a terminal's escape", "Reads\u001B[2K.", String.raw`+ Reads\u001b[2K.`],
    ["a turned direction", "Reads\u202E.", String.raw`+ Reads\u202e.`],
    ["a selector", "Reads.\u{E0100}", String.raw`+ Reads.\udb40\udd00`],
    ["a Cyrillic letter that looks Latin", "Re\u0430ds.", String.raw`+ Re\u0430ds.`],
  ])("makes %s visible", (_what, text, line) => {
    expect(diffLines({ description: "Reads." }, { description: text })).toEqual(["description", "- Reads.", line]);
  });

  it("tells apart what looks the same, and leaves other languages readable", () => {
    expect(diffLines({ title: "caf\u00E9" }, { title: "cafe\u0301" })).toEqual([
      "title",
      String.raw`- caf\u00e9`,
      String.raw`+ cafe\u0301`,
    ]);
    expect(diffLines({ title: "Читает файл" }, { title: "读取文件" })).toEqual([
      "title",
      "- Читает файл",
      "+ 读取文件",
    ]);
  });

  it.each([
    ["Cyrillic", "copy", "\u0441\u043E\u0440\u0443", String.raw`+ \u0441\u043e\u0440\u0443`],
    ["Lisu", "OK", "\uA4F3K", String.raw`+ \ua4f3K`],
    ["full width", "OK", "\uFF2FK", String.raw`+ \uff2fK`],
  ])("tells a word from one that looks like it in %s letters, whatever is around", (_what, before, after, line) => {
    expect(diffLines({ title: before }, { title: after })).toEqual(["title", `- ${before}`, line]);
    expect(diffLines({ title: after }, { title: before })).toEqual(["title", line.replace("+", "-"), `+ ${before}`]);
  });

  it.each([
    ["one word for another", "Дано", "Деле"],
    ["another language", "读取", "Reads it."],
    ["a language with as many letters, in part", "Reads 读取", "Sends 读写"],
  ])("leaves %s readable", (_what, before, after) => {
    expect(diffLines({ title: before }, { title: after })).toEqual(["title", `- ${before}`, `+ ${after}`]);
  });

  it("tells what is escaped from what looks escaped", () => {
    expect(diffLines({ title: String.raw`a\u200b` }, { title: "a\u200B" })).toEqual([
      "title",
      String.raw`- a\u005cu200b`,
      String.raw`+ a\u200b`,
    ]);
  });

  it("makes each word visible that is not what it seems, where there are several", () => {
    expect(diffLines({}, { title: "\uFF32\uFF45\uFF41\uFF44 the p\u0430th of \uFF21\uFF22" })).toEqual([
      "title",
      String.raw`+ \uff32\uff45\uff41\uff44 the p\u0430th of \uff21\uff22`,
    ]);
  });

  it("shows the part of a long list that differs", () => {
    const list = (last: string): object => ({ prefixItems: [{ description: "a".repeat(3_000) }, { const: last }] });
    expect(diffLines({ inputSchema: list("us") }, { inputSchema: list("them") })).toEqual([
      "inputSchema.prefixItems",
      `- …${"a".repeat(27)}"},{"const":"us"}]`,
      `+ …${"a".repeat(27)}"},{"const":"them"}]`,
    ]);
  });

  it.each([
    ["another kind of value", "1", 1, ['- "1"', "+ 1"]],
    ["a text for an object", { a: 1 }, "a", ['- {"a":1}', '+ "a"']],
    ["an object for a text", "a", { a: 1 }, ['- "a"', '+ {"a":1}']],
    ["the end of a text", "aa", "aaa", ["- aa", "+ aaa"]],
    ["the beginning of a text", "aaa", "aa", ["- aaa", "+ aa"]],
    ["nothing for null", null, undefined, ["- null"]],
  ])("shows %s", (_what, before, after, lines) => {
    const field = after === undefined ? {} : { field: after };
    expect(diffLines({ field: before }, field)).toEqual(["field", ...lines]);
  });

  it("quotes a name that could pass for something else", () => {
    const names = ["a.b", "(it changed back)", "x\ny", "имя", "$id", "content-type", ""];
    expect(diffLines({}, Object.fromEntries(names.map((name) => [name, 1]))).filter((line) => line !== "+ 1")).toEqual([
      '"a.b"',
      '"(it changed back)"',
      String.raw`"x\ny"`,
      "имя",
      "$id",
      "content-type",
      '""',
    ]);
  });

  it("shows first what models read, however much else changes", () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, index]));
    const after = { other: many, inputSchema: many, description: "Sends." };
    expect(diffLines({ inputSchema: {}, other: {} }, after).slice(0, 4)).toEqual([
      "description",
      "+ Sends.",
      "inputSchema.f0",
      "+ 0",
    ]);
  });

  it("is made quickly of texts of any length", () => {
    const disguised = "p\u0430th ".repeat(300_000);
    const [, line] = diffLines({}, { description: disguised });
    expect(line).toMatch(/^\+ p\\u0430th p\\u0430th .*… \(1498000 more characters\)$/);
  });

  it("is bounded, and says what it leaves out", () => {
    const many = Object.fromEntries(Array.from({ length: 45 }, (_, index) => [`f${index}`, index]));
    const lines = diffLines({}, many);
    expect([lines.length, lines.at(-1)]).toEqual([81, "… and 5 more places"]);
    expect(diffLines({}, Object.fromEntries(Object.entries(many).slice(5)))).toHaveLength(80);
    expect(diffLines({}, { a: "x".repeat(2_000) })[1]).toBe(`+ ${"x".repeat(2_000)}`);
    expect(diffLines({}, { a: "x".repeat(2_005) })[1]).toBe(`+ ${"x".repeat(2_000)}… (5 more characters)`);
  });
});

describe("the fields that changed", () => {
  it("are named once each, and none by a source's own words", () => {
    expect(changedFields({ title: "A", odd: 1 }, { title: "B", description: { a: 1, b: 2 }, strange: 1 })).toBe(
      "title, description, other fields of its source",
    );
    expect(changedFields({ annotations: { a: 1, b: 2 } }, { annotations: { a: 2, b: 1 } })).toBe("annotations");
  });

  it("count what is null, or called like what every object has", () => {
    expect(changedFields({}, { title: null })).toBe("title");
    expect(changedFields({ other: {} }, { other: { constructor: null } })).toBe("other fields of its source");
  });
});
