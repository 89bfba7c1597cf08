import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkJson, type CheckedJson } from "./read-json.ts";

function codeOf(checked: CheckedJson): number | undefined {
  return "refused" in checked ? checked.refused.code : undefined;
}

/** The value as JSON in which the object at this place, counted as they open, has its last key twice, once escaped letter by letter. */
function withRepeatedKey(value: unknown, place: number): string {
  let opened = -1;
  function write(part: unknown): string {
    if (Array.isArray(part)) return `[${part.map(write).join(",")}]`;
    if (typeof part !== "object" || part === null) return JSON.stringify(part);
    const entries = Object.entries(part);
    const repeated = entries.length > 0 && (opened += 1) === place ? entries.at(-1)?.[0] : undefined;
    const members = entries.map(([key, member]) => `${JSON.stringify(key)}:${write(member)}`);
    return `{${[...(repeated === undefined ? [] : [`${escaped(repeated)}:0`]), ...members].join(",")}}`;
  }
  const text = write(value);
  return opened < place ? withRepeatedKey(value, place % (opened + 1)) : text;
}

function escaped(key: string): string {
  const units = [...Array(key.length).keys()].map((index) => key.charCodeAt(index).toString(16).padStart(4, "0"));
  return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
}

describe("checkJson", () => {
  it("gives every JSON value as JSON.parse does", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        fc.pre(!text.includes("__proto__"));
        expect(checkJson(text)).toEqual({ value: JSON.parse(text) });
      }),
    );
  });

  it("refuses a key that stands twice in one object, wherever it is", () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.nat(99), (key, value, place) => {
        const text = withRepeatedKey([1, { [key]: value }], place);
        expect(JSON.parse(text)).toBeDefined();
        expect(codeOf(checkJson(text))).toBe(-32_600);
      }),
    );
  });

  it.each([
    ['{"a":1,"a":1}'],
    ['{"a":1,"\\u0061":2}'],
    ['{"":1,"":2}'],
    ['{"a":{"b":1,"c":2,"b":3}}'],
    ['[[{"a":1},{"x":":","a":[],"a":1}]]'],
    ['{ "a" : 1 , "b\\"" : "}" , "b\\u0022" : 2 }'],
    ['{"1":0,"1":0}'],
  ])("refuses %s for its repeated key", (text) => {
    expect(checkJson(text)).toEqual({
      refused: { status: 400, code: -32_600, message: "The JSON has the same key twice in one object." },
    });
  });

  it.each([
    ['{"a":{"a":{"a":1}},"b":{"a":1}}'],
    ['[{"a":1},{"a":1}]'],
    ['{"A":1,"a":2}'],
    ['{"a":"{\\"a\\":1,\\"a\\":1}"}'],
    ['{"a\\\\":":","b":"\\\\\\":"}'],
    ['{"lone":"\\ud800","\\udc00":"\ud800"}'],
    ['{"constructor":"Eiffel","prototype":1,"x":{"constructor":{"name":"prototype"}}}'],
    ['{"text":"__proto__","proto":["__proto__"]}'],
    ["12"],
    ["null"],
    [' "text" '],
    ["[]"],
  ])("takes %s", (text) => {
    expect(checkJson(text)).toEqual({ value: JSON.parse(text) });
  });

  it.each([
    ['{"__proto__":{"admin":true}}'],
    ['{"a":[{"b":{"__proto__":1}}]}'],
    ['{"\\u005f\\u005fproto\\u005f\\u005f":1}'],
    ['{"__proto\\u005F_":null}'],
    ['{"constructor":{"prototype":{"admin":true}}}'],
    ['{"a":{"c\\u006fnstructor":{"x":1,"prototype":null}}}'],
  ])("refuses %s, which could change every object", (text) => {
    expect(checkJson(text)).toEqual({
      refused: {
        status: 400,
        code: -32_600,
        message: "The JSON has a __proto__ or constructor.prototype key, which is never accepted.",
      },
    });
  });

  it.each([["{"], ["{'a':1}"], ['{"a":1}}'], ["nope"], ['"open'], ['"\\'], ["[1,]"], ["\uFEFF{}"], ["NaN"], ["{}{}"]])(
    "says that %j is no JSON",
    (text) => {
      expect(codeOf(checkJson(text))).toBe(-32_700);
    },
  );

  it("says that a message is empty", () => {
    expect(checkJson(" \n")).toEqual({ refused: { status: 400, code: -32_700, message: "The message is empty." } });
  });

  it("takes 64 levels and refuses 65, of arrays and objects alike", () => {
    const arrays = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    for (const nested of [arrays, objects]) {
      expect(checkJson(nested(64))).toEqual({ value: JSON.parse(nested(64)) });
      expect(checkJson(nested(65))).toEqual({
        refused: { status: 400, code: -32_600, message: "The JSON is nested deeper than 64 levels." },
      });
    }
    expect(codeOf(checkJson(arrays(4), { maxDepth: 3 }))).toBe(-32_600);
    expect(checkJson(`[${"[],".repeat(100)}"${"[".repeat(100)}"]`)).toHaveProperty("value");
  });

  it("takes 100,000 members and elements in all, and refuses more with the limit", () => {
    const list = (count: number): string => `[${Array.from({ length: count }, () => "0").join()}]`;
    expect(checkJson(list(100_000))).toHaveProperty("value");
    expect(checkJson(list(100_001))).toEqual({
      refused: {
        status: 413,
        code: -32_600,
        message: "The JSON has more than 100000 members and elements in all. Send fewer at once.",
      },
    });
    const pairs = (count: number): string =>
      `[${Array.from({ length: count }, (_, index) => `{"a":${index},"b":[]}`).join()}]`;
    expect(checkJson(pairs(25), { maxValues: 100 })).toHaveProperty("value");
    expect(codeOf(checkJson(pairs(26), { maxValues: 100 }))).toBe(-32_600);
    expect(checkJson(JSON.stringify(",[{".repeat(100_000)))).toHaveProperty("value");
  });

  it("takes 20,000 members of objects in all, and refuses more with the limit", () => {
    const object = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"k${at}":0`).join()}}`;
    expect(checkJson(object(20_000))).toHaveProperty("value");
    expect(checkJson(object(20_001))).toEqual({
      refused: {
        status: 413,
        code: -32_600,
        message: "The objects of the JSON have more than 20000 members in all. Send fewer at once.",
      },
    });
    expect(codeOf(checkJson(`[${object(11_000)},${object(11_000)}]`))).toBe(-32_600);
  });

  it("counts brackets as values, however deep nesting may be", () => {
    expect(codeOf(checkJson("[".repeat(101), { maxDepth: Infinity, maxValues: 100 }))).toBe(-32_600);
  });

  it("refuses a million open brackets without overflowing a stack", () => {
    expect(codeOf(checkJson("[".repeat(1_000_000)))).toBe(-32_600);
  });
});
