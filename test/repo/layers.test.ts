import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf } from "./imports-of.ts";
import { files, read } from "./project.ts";

const STAGES = ["register", "catalog", "retrieve", "transcode", "guard", "execute", "observe", "state"];

/** A module may import from its own layer and from those before it. Stages see each other's types only. */
const LAYERS: readonly (readonly string[])[] = [
  ["errors"],
  ["tool"],
  STAGES,
  ["system", "mcp", "adapters", "toolset", "config", "testing", "serve", "integrations", "effect", "agent", "client"],
  ["arsenal.ts", "arsenal-options.ts", "visible-tools.ts", "index.ts", "eval", "cli"],
];

/** The folder under src/ that a module belongs to, or its own name where it lies in src/ itself. */
function partOf(path: string): string {
  return path.split("/")[1] ?? path;
}

function layerOf(part: string): number {
  return LAYERS.findIndex((parts) => parts.includes(part));
}

/** What is wrong with the imports of one module. */
function wrongImports(path: string, text: string): readonly string[] {
  const from = partOf(path);
  const wrong: string[] = [];
  for (const { specifier, typeOnly } of importsOf(text)) {
    if (!specifier.startsWith(".")) {
      if (layerOf(from) <= layerOf("observe") && !specifier.startsWith("node:"))
        wrong.push(`${path} imports the package ${specifier}: move what needs it to src/adapters`);
      continue;
    }
    const target = posix.join(posix.dirname(path), specifier);
    if (!target.startsWith("src/")) {
      if (target !== "package.json") wrong.push(`${path} imports ${target}, which is outside src`);
      continue;
    }
    const to = partOf(target);
    if (layerOf(to) > layerOf(from)) wrong.push(`${path} imports ${target}, which is in a later layer`);
    if (from !== to && STAGES.includes(from) && STAGES.includes(to) && !typeOnly)
      wrong.push(
        `${path} imports a value of the stage ${to}: import its types, and let arsenal.ts hand the value over`,
      );
  }
  return wrong;
}

const modules = files("src/**/*.ts").filter((path) => !path.endsWith(".test.ts"));

describe("layers", () => {
  it("knows the layer of every part of src", () => {
    expect([...new Set(modules.map(partOf))].filter((part) => layerOf(part) < 0)).toEqual([]);
  });

  it("lets modules import only their own layer and earlier ones, stages only types of each other and no package [000-3.1-layers]", () => {
    expect(modules.length).toBeGreaterThan(50);
    expect(modules.flatMap((path) => wrongImports(path, read(path)))).toEqual([]);
  });

  it.each([
    ["a value of another stage", 'import { find } from "../catalog/catalog.ts";', 1],
    ["one value among types", 'import {\n  type Tool,\n  find,\n} from "../catalog/catalog.ts";', 1],
    ["a re-exported value of another stage", 'export * from "../catalog/catalog.ts";', 1],
    ["a later layer, even its types", 'import type { Arsenal } from "../arsenal.ts";', 1],
    ["a package", 'import type { Options } from "ajv";', 1],
    ["a package, on demand", 'const loaded = await import("ajv");', 1],
    ["types of another stage", 'import type { Catalog } from "../catalog/catalog.ts";', 0],
    ["types of another stage, marked one by one", 'import { type Catalog, type Hit } from "../catalog/catalog.ts";', 0],
    ["an earlier layer and a builtin", 'import { x } from "../tool/tool.ts";\nimport fs from "node:fs";', 0],
  ])("judges an import of %s", (_what, text, problems) => {
    expect(wrongImports("src/guard/x.ts", text)).toHaveLength(problems);
  });
});
