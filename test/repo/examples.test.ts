import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
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
      timeout: 25_000,
    });
    expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
    const said = [...read(path).matchAll(/\/\/ prints: (.+)$/gm)].map(([, line = ""]) => line);
    expect(stdout.split("\n")).toEqual(expect.arrayContaining(said));
  });
});
