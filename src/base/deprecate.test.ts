import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

/** Runs a program with a deprecated function in a process of its own, because Node warns once per process. */
function run(program: string): { readonly stdout: string; readonly stderr: string } {
  const text = `
    import { deprecate } from ${JSON.stringify(new URL("./deprecate.ts", import.meta.url).href)};
    const old = deprecate((value) => value * 2, { name: "old()", instead: "fresh()", code: "TOOLARSENAL_DEP0001" });
    ${program}`;
  const parameters = ["--input-type=module", "--eval", text];
  return spawnSync(process.execPath, parameters, { encoding: "utf8" });
}

describe("deprecate", () => {
  it("warns once per process with the replacement, and the function works as before", () => {
    const { stdout, stderr } = run("console.log(old(1), old(2), old(3));");
    expect(stdout).toBe("2 4 6\n");
    expect(stderr.match(/\[TOOLARSENAL_DEP0001\] DeprecationWarning: .*/g)).toEqual([
      "[TOOLARSENAL_DEP0001] DeprecationWarning: old() is deprecated. Use fresh() instead.",
    ]);
  });

  it("warns once for functions with the same code", () => {
    const again = `const other = deprecate(() => 0, { name: "other()", instead: "fresh()", code: "TOOLARSENAL_DEP0001" });`;
    const { stderr } = run(`${again} old(1); other();`);
    expect(stderr.match(/DeprecationWarning/g)).toHaveLength(1);
  });

  it("is silent until the function is called", () => {
    expect(run("console.log(typeof old);")).toMatchObject({ stdout: "function\n", stderr: "" });
  });
});
