import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { ROOT } from "./project.ts";

function packagesLoadedBy(module: string, then = ""): readonly string[] {
  const recorder = pathToFileURL(`${ROOT}test/repo/record-packages.ts`).href;
  const program = `const loaded = await import(${JSON.stringify(pathToFileURL(ROOT + module).href)}); ${then}`;
  const printed = execFileSync(process.execPath, ["--import", recorder, "--input-type=module", "--eval", program], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return JSON.parse(printed) as string[];
}

describe("importing", () => {
  it("toolarsenal loads nothing from npm, with its first schema neither, and RE2 with the first pattern [000-3.1-no-dependencies]", () => {
    expect(packagesLoadedBy("src/index.ts")).toEqual([]);
    const check = (schema: object): string => `loaded.jsonSchemaValidator().compile(${JSON.stringify(schema)})("x")`;
    expect(packagesLoadedBy("src/adapters/validators/index.ts", check({ type: "string", format: "date" }))).toEqual([]);
    expect(packagesLoadedBy("src/adapters/validators/index.ts", check({ pattern: "^a" }))).toEqual(["re2js"]);
  });

  it("toolarsenal/testing loads nothing from npm", () => {
    expect(packagesLoadedBy("src/testing/index.ts")).toEqual([]);
  });
});
