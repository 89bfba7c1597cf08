import { execFileSync } from "node:child_process";
import { stripTypeScriptTypes } from "node:module";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { read, ROOT } from "./project.ts";

function packagesLoadedBy(module: string, then = ""): readonly string[] {
  const recorder = pathToFileURL(`${ROOT}test/repo/record-packages.ts`).href;
  const program = `const loaded = await import(${JSON.stringify(pathToFileURL(ROOT + module).href)}); ${then}`;
  const printed = execFileSync(process.execPath, ["--import", recorder, "--input-type=module", "--eval", program], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return JSON.parse(printed) as string[];
}

/** Node's own modules, and the package's by their path in src/, in order. */
function modulesLoadedBy(module: string): readonly string[] {
  const url = pathToFileURL(ROOT + module).href;
  const program = `import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({ resolve(name, context, next) { const found = next(name, context); loaded.add(found.url); return found; } });
    await import(${JSON.stringify(url)});
    console.log(JSON.stringify([...loaded].sort()));`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  const src = pathToFileURL(`${ROOT}src/`).href;
  return (JSON.parse(printed) as string[]).map((each) => each.replace(src, ""));
}

describe("importing", () => {
  it("toolarsenal loads nothing from npm, with its first schema neither, and RE2 with the first pattern [000-3.1-no-dependencies]", () => {
    expect(packagesLoadedBy("src/index.ts")).toEqual([]);
    const check = (schema: object): string => `loaded.jsonSchemaValidator().compile(${JSON.stringify(schema)})("x")`;
    expect(packagesLoadedBy("src/adapters/validators/index.ts", check({ type: "string", format: "date" }))).toEqual([]);
    expect(packagesLoadedBy("src/adapters/validators/index.ts", check({ pattern: "^a" }))).toEqual(["re2js"]);
  });

  it("toolarsenal loads neither Node's large modules nor the adapters that a program may never use", () => {
    const loaded = modulesLoadedBy("src/index.ts");
    expect(loaded.filter((url) => url.startsWith("node:"))).toEqual(["node:async_hooks", "node:url"]);
    const adapters = loaded.filter((url) => url.startsWith("adapters/") && !url.endsWith("/manifest.ts"));
    expect(adapters).toEqual([
      "adapters/adapter-settings.json",
      "adapters/policies/patterns.ts",
      "adapters/sources/mcp/upstream/upstreams.ts",
    ]);
    expect(loaded.length).toBeLessThan(90);
  });

  it("toolarsenal/testing loads nothing from npm", () => {
    expect(packagesLoadedBy("src/testing/index.ts")).toEqual([]);
  });

  it("toolarsenal/client loads only what every runtime with fetch has, and little of it", () => {
    const loaded = modulesLoadedBy("src/client/index.ts");
    expect(loaded).toEqual([
      "base/turns/backoff.ts",
      "client/calls.ts",
      "client/create-client.ts",
      "client/events.ts",
      "client/http.ts",
      "client/index.ts",
      "client/operate-teams.ts",
      "client/operate.ts",
      "client/problem.ts",
      "errors/arsenal-error.ts",
      "observe/clock.ts",
    ]);
    const code = loaded.map((path) => stripTypeScriptTypes(read(`src/${path}`))).join("\n");
    expect(code).not.toMatch(/\bprocess\.|\bBuffer\b|\bimport\(|\brequire\(/);
    expect(gzipSync(code).byteLength).toBeLessThan(12 * 1024);
  });
});
