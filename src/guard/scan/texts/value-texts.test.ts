import { describe, expect, it } from "vitest";
import { mapTexts } from "./value-texts.ts";

const shout = (text: string): string => text.toUpperCase();

/** What is visited, as `path` for a text and `path=` for a name. */
function visits(value: unknown): readonly string[] {
  const seen: string[] = [];
  mapTexts(value, (text, path, name) => {
    seen.push(name ? `${path}=` : path);
    return text;
  });
  return seen;
}

describe("mapTexts", () => {
  it("replaces every text and every name of a member", () => {
    expect(mapTexts({ a: ["b", 1, null, { c: "d" }] }, shout)).toEqual({ A: ["B", 1, null, { C: "D" }] });
  });

  it("says where each stands, and whether it is a name", () => {
    expect(visits({ a: ["x", { b: "y" }] })).toEqual(["a=", "a.0", "a.1.b=", "a.1.b"]);
    expect(visits("x")).toEqual([""]);
  });

  it("returns the value itself where nothing was replaced", () => {
    const value = { a: ["b"], c: { d: "e" } };
    expect(mapTexts(value, (text) => text)).toBe(value);
  });

  it("leaves the data of pictures, sounds and files alone", () => {
    expect(
      visits([
        { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
        { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
        { type: "resource", resource: { uri: "file:///a", blob: "AAAA" } },
      ]).filter((path) => /(?:data|blob)$/.test(path)),
    ).toEqual([]);
  });

  it("reads what only calls itself data", () => {
    expect(visits({ type: "image", data: "Ignore this. Obey that." })).toContain("data");
    expect(visits({ type: "text", data: "AAAA" })).toContain("data");
    expect(visits({ blob: "AAAA" })).toContain("blob");
  });

  it.each([
    ["a picture", { type: "image", data: "iVBORw0KGgo=" }, []],
    ["a sound", { type: "audio", data: "UklGRg==" }, []],
    ["an empty picture", { type: "image", data: "" }, []],
    ["a file", { uri: "file:///a", blob: "AA+/" }, ["uri"]],
    ["a text that calls itself data", { type: "text", data: "AAAA" }, ["type", "data"]],
    ["a file without an address", { uri: 7, blob: "AAAA" }, ["blob"]],
    ["a picture of words", { type: "image", data: "AAAA obey" }, ["type", "data"]],
    ["a picture of words at its beginning", { type: "image", data: "obey: AAAA" }, ["type", "data"]],
    ["a picture that is more than data", { type: "image", data: ["AAAA"] }, ["type", "data.0"]],
    ["another member of a picture", { type: "image", blob: "AAAA" }, ["type", "blob"]],
    ["another member of a file", { uri: "file:///a", data: "AAAA" }, ["uri", "data"]],
  ])("reads of %s what is no binary data", (_, part, read) => {
    expect(visits(part).filter((path) => !path.endsWith("=") && (path !== "type" || read[0] === "type"))).toEqual(read);
  });

  it("copies only what was replaced, by its name or by its value", () => {
    const value = { same: { a: "B" }, list: ["C", "d"], name: { e: 1 } };
    const mapped = mapTexts(value, (text) => (text === "d" || text === "e" ? shout(text) : text)) as typeof value;
    expect(mapped).toEqual({ same: { a: "B" }, list: ["C", "D"], name: { E: 1 } });
    expect(mapped.same).toBe(value.same);
    expect(value.list).toEqual(["C", "d"]);
  });

  it("keeps members apart whose names become the same", () => {
    expect(mapTexts({ a: 1, A: 2, "A (2)": 3 }, shout)).toEqual({ A: 1, "A (2)": 2, "A (2) (2)": 3 });
  });

  it("leaves what is no plain data as it is", () => {
    const bytes = new Uint8Array([1, 2]);
    expect(mapTexts({ bytes }, (text) => text)).toEqual({ bytes });
  });

  it("reads data that is 200 deep, and no deeper", () => {
    const nested = (depth: number): unknown =>
      depth === 0 ? "x" : depth % 2 === 0 ? [nested(depth - 1)] : { a: nested(depth - 1) };
    expect(visits(nested(200)).length).toBe(101);
    expect(() => visits(nested(201))).toThrow("The data is nested more than 200 deep.");
  });

  it("refuses data that is endless, too deep, or in too many parts", () => {
    const endless: unknown[] = [];
    endless.push(endless, endless);
    expect(() => mapTexts(endless, shout)).toThrow("The data is nested more than 200 deep.");
    const parts = Array.from({ length: 199_999 }, () => 1);
    expect(mapTexts(parts, shout)).toBe(parts);
    expect(() => mapTexts([...parts, 1], shout)).toThrow("The data has more than 200000 parts.");
  });
});
