import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { oldNode } from "../../test/services/old-node.ts";
import { MINIMUM_NODE, nodeProblem } from "../system/node-version.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));
const source = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");

describe("the version of Node", () => {
  it.each(["22.19.0", "22.20.1", "24.0.0", "100.1.0"])("%s is new enough", (version) => {
    expect(nodeProblem(version)).toBeUndefined();
  });

  it.each(["22.18.9", "20.20.2", "18.0.0", "9.1.0"])("%s is too old, in one sentence with both versions", (version) => {
    expect(nodeProblem(version)).toBe(
      `toolarsenal needs Node 22.19 or newer, but this is Node ${version}: install a newer one from https://nodejs.org.`,
    );
  });

  it("is the one that the package asks for", () => {
    const { engines } = JSON.parse(source("../../package.json")) as { readonly engines: { readonly node: string } };
    expect(engines.node).toBe(`>=${MINIMUM_NODE}`);
  });

  it("is checked before anything else is loaded", () => {
    const program = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })`;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--import", `data:text/javascript,${encodeURIComponent(program)}`, MAIN, "doctor"],
      { encoding: "utf8" },
    );
    expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: "", stderr: `${nodeProblem("20.20.2")}\n` });
    const imports = [...source("main.ts").matchAll(/^import .* from "(.*)";$/gm)].map(([, from]) => from);
    expect(imports).toEqual(["../system/node-version.ts"]);
    expect(source("../system/node-version.ts")).not.toMatch(/^import/m);
  });

  const old = oldNode();
  // because not every machine has an old Node beside the one that runs the tests
  it.skipIf(old === undefined)("is reported by a Node that is too old itself", () => {
    const folder = mkdtempSync(join(tmpdir(), "arsenal-node-"));
    try {
      // As the build writes them.
      for (const name of ["cli/main", "system/node-version"]) {
        mkdirSync(join(folder, name, ".."), { recursive: true });
        writeFileSync(
          join(folder, `${name}.js`),
          stripTypeScriptTypes(source(`../${name}.ts`)).replaceAll(/\.ts(?=")/g, ".js"),
        );
      }
      writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
      const ran = spawnSync(old?.path ?? "", [join(folder, "cli/main.js"), "serve"], { encoding: "utf8" });
      expect([ran.status, ran.stdout, ran.stderr]).toEqual([2, "", `${nodeProblem(old?.version ?? "")}\n`]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
