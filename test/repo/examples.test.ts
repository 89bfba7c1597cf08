import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { writeSnippets } from "../types/snippets.ts";
import { files, read, ROOT } from "./project.ts";

const examples = files("examples/*.ts");

describe("examples", () => {
  it("are there", () => expect(examples.length).toBeGreaterThan(0));

  it.each(examples)("%s asserts what it shows, by node:assert or `// prints: …`", (path) => {
    expect(read(path)).toMatch(/node:assert|\/\/ prints: ./);
  });

  it.each(examples)("%s runs, exits 0 and prints what it says", (path) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [path], {
      cwd: ROOT,
      encoding: "utf8",
      timeout: 100_000,
    });
    expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
    const said = [...read(path).matchAll(/\/\/ prints: (.+)$/gm)].map(([, line = ""]) => line);
    expect(stdout.split("\n")).toEqual(expect.arrayContaining(said));
  });
});

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
