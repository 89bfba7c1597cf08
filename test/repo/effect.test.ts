import { describe, expect, it } from "vitest";
import { importsOf } from "./imports-of.ts";
import { files, read } from "./project.ts";

const modules = files("src/**/*.ts").filter((path) => !path.endsWith(".test.ts"));
const effectModules = modules.filter((path) => path.startsWith("src/effect/"));

/** What Effect code does with its own operators instead. */
const RAW = /\basync\b|\bawait\b|\bnew Promise\b|\.then\(|\btry \{|\bsetTimeout\b/;

/** A module without its comments and strings. */
function codeOf(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|"[^"\n]*"/gm, "");
}

describe("toolarsenal/effect", () => {
  it("has no raw async and await, promises or try blocks in its code [002-effect-pure]", () => {
    expect(effectModules.length).toBeGreaterThan(5);
    const raw = effectModules.flatMap((path) =>
      codeOf(read(path))
        .split("\n")
        .filter((line) => RAW.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect(raw).toEqual([]);
    expect(RAW.test(codeOf('const x = await go("now"); // soon'))).toBe(true);
    expect(RAW.test(codeOf('// await\nconst x = "await";'))).toBe(false);
  });

  it("is the only part that imports effect", () => {
    const importers = modules.filter((path) =>
      importsOf(read(path)).some(({ specifier }) => /^effect(?:\/|$)/.test(specifier)),
    );
    expect(importers.filter((path) => !path.startsWith("src/effect/"))).toEqual([]);
    expect(importers.length).toBeGreaterThan(5);
  });
});
