import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { read, ROOT } from "./project.ts";

/** What the default validator is made of. */
const VALIDATOR = ["ajv", "ajv-formats"];

function packagesLoadedBy(module: string, then = ""): readonly string[] {
  const recorder = pathToFileURL(`${ROOT}test/repo/record-packages.ts`).href;
  const program = `const loaded = await import(${JSON.stringify(pathToFileURL(ROOT + module).href)}); ${then}`;
  const printed = execFileSync(process.execPath, ["--import", recorder, "--input-type=module", "--eval", program], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return JSON.parse(printed) as string[];
}

/** The packages and everything they depend on. */
function withDependencies(names: readonly string[], found: Set<string> = new Set()): Set<string> {
  for (const name of names) {
    if (found.has(name)) continue;
    found.add(name);
    const manifest = JSON.parse(read(`node_modules/${name}/package.json`)) as {
      readonly dependencies?: Record<string, string>;
    };
    withDependencies(Object.keys(manifest.dependencies ?? {}), found);
  }
  return found;
}

describe("importing", () => {
  it("toolarsenal loads nothing but the default validator from npm, and that with the first schema [000-3.1-no-dependencies]", () => {
    expect(packagesLoadedBy("src/index.ts")).toEqual([]);
    const loaded = packagesLoadedBy("src/index.ts", `loaded.ajv().compile({ type: "object" })`);
    const allowed = withDependencies(VALIDATOR);
    expect(loaded).toEqual(expect.arrayContaining(VALIDATOR));
    expect(loaded.filter((name) => !allowed.has(name))).toEqual([]);
  });

  it("toolarsenal/testing loads nothing from npm", () => {
    expect(packagesLoadedBy("src/testing/index.ts")).toEqual([]);
  });
});
