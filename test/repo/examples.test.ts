import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { files, read, ROOT } from "./project.ts";

const examples = files("examples/*.ts");

describe("examples", () => {
  it("are there", () => expect(examples.length).toBeGreaterThan(0));

  it.each(examples)("%s asserts what it shows", (path) => {
    expect(read(path)).toContain("node:assert");
  });

  it.each(examples)("%s runs and exits 0", (path) => {
    const { status, stderr } = spawnSync(process.execPath, [path], { cwd: ROOT, encoding: "utf8", timeout: 25_000 });
    expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  });
});
