import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everyNth, IS_DEEP } from "../kit/effort.ts";
import { installPackage } from "../kit/installed-package.ts";
import { writeSnippets } from "../types/snippets.ts";
import { files, read, ROOT } from "./project.ts";

const examples = files("examples/*.ts");
/** Each run tries half of the examples in a fresh clone and the others in a project that installed the package, and a deep run all of them in both. */
const inClone = [...everyNth(examples, 2)];
const installed = IS_DEEP ? examples : examples.filter((path) => !inClone.includes(path));

describe("examples", () => {
  it("are there", () => expect(examples.length).toBeGreaterThan(0));

  it.each(examples)("%s asserts what it shows, by node:assert or `// prints: …`", (path) => {
    expect(read(path)).toMatch(/node:assert|\/\/ prints: ./);
  });

  it.each(inClone)("%s runs from a fresh clone, exits 0 and prints what it says", (path) => {
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
    const [program, ...parameters] = (scripts["example"] ?? "").split(" ");
    expect(program).toBe("node");
    expectToRun(path, parameters, ROOT);
  });
});

describe("examples of the installed package", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolarsenal-examples-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeAll(() => {
    const place = installPackage(folder);
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    cpSync(join(place, "examples"), join(folder, "examples"), { recursive: true });
  });

  it.each(installed)("%s runs in a project that copied it", (path) => expectToRun(path, [], folder));
});

/** Runs an example with Node in a folder, and compares its lines with those that it says it prints. */
function expectToRun(path: string, parameters: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...parameters, path], {
    cwd,
    encoding: "utf8",
    timeout: 100_000,
  });
  expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  const said = [...read(path).matchAll(/\/\/ prints: (.+)$/gm)].map(([, line = ""]) => line);
  expect(stdout.split("\n")).toEqual(expect.arrayContaining(said));
}

describe("examples and docs", () => {
  /** The operator as they write it: unnamed, or named after a person who approves. */
  const PERSONS = ["localOperator()", 'localOperator({ id: "dana" })', 'localOperator({ id: "ada" })'];

  it("never make a caller from an operator", () => {
    const programs = Object.entries(writeSnippets());
    for (const path of files("examples/**/*.ts")) programs.push([path, read(path)]);
    const operators = programs.flatMap(([path, text]) =>
      [...text.matchAll(/(principal: |\.{3})?localOperator\([^)]*\)/g)].map(([use]) => ({ path, use })),
    );
    expect(operators.length).toBeGreaterThan(0);
    expect(operators.filter(({ use }) => !PERSONS.includes(use))).toEqual([]);
  });
});
