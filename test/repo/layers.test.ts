import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf } from "./imports-of.ts";
import { files, read } from "./project.ts";

const STAGES = ["register", "catalog", "retrieve", "transcode", "guard", "execute", "observe", "state"];

/** What a part that is not a stage may import besides errors, base, tool and the stages. A part that is not listed here fails. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  system: [],
  runs: [],
  programs: ["system", "adapters", "runs"],
  mcp: ["system"],
  adapters: ["system", "mcp", "agent", "runs"],
  toolset: ["adapters"],
  agent: [],
  teams: ["adapters"],
  testing: ["agent"],
  config: ["system", "adapters", "toolset", "agent"],
  serve: ["system", "mcp", "adapters", "toolset", "agent", "runs", "programs", "teams"],
  eval: ["config"],
};

/** The top: the façade, what it is wired from, and what is built on it. These may import everything, and nothing else may import them. */
const TOP = [
  "arsenal.ts",
  "index.ts",
  "wire",
  "facade",
  "administration",
  "cli",
  "client",
  "ensembles",
  "effect",
  "integrations",
  "registries",
];

/** What a stage shows to other stages besides its ports: the data of the path, and the one interface at its front. */
const FRONTS: readonly string[] = [
  "src/register/registry.ts",
  "src/register/registration-limits.ts",
  "src/catalog/catalog.ts",
  "src/catalog/dense/tiers.ts",
  "src/guard/aegis.ts",
  "src/guard/principal.ts",
  "src/guard/idempotency.ts",
  "src/guard/audit/call-audit.ts",
  "src/guard/limits/quotas.ts",
  "src/guard/pins/pins.ts",
  "src/guard/redaction/redactor.ts",
  "src/guard/scan/finding.ts",
  "src/guard/scan/inspection.ts",
  "src/retrieve/result.ts",
  "src/execute/call.ts",
  "src/execute/result.ts",
  "src/execute/engine.ts",
  "src/observe/clock.ts",
  "src/observe/events.ts",
  "src/observe/health.ts",
  "src/state/shared-state.ts",
];

/** The folder under src/ that a module belongs to, or its own name if it lies in src/ itself. */
function partOf(path: string): string {
  return path.split("/")[1] ?? path;
}

function isKnown(part: string): boolean {
  return ["errors", "base", "tool", ...STAGES, ...Object.keys(MAY_IMPORT), ...TOP].includes(part);
}

/** Whether a module of one part may import another part at all. */
function mayImport(from: string, to: string): boolean {
  if (from === to || TOP.includes(from)) return true;
  if (from === "errors") return false;
  if (to === "errors") return true;
  if (from === "base") return false;
  if (to === "base") return true;
  if (from === "tool") return false;
  if (to === "tool" || STAGES.includes(to)) return true;
  return MAY_IMPORT[from]?.includes(to) ?? false;
}

/** What is wrong with the imports of one module. */
function wrongImports(path: string, text: string): readonly string[] {
  const from = partOf(path);
  const wrong: string[] = [];
  for (const { specifier, typeOnly } of importsOf(text)) {
    if (!specifier.startsWith(".")) {
      const isCore = ["errors", "base", "tool", ...STAGES].includes(from);
      if (isCore && !specifier.startsWith("node:"))
        wrong.push(`${path} imports the package ${specifier}: move what needs it to src/adapters`);
      continue;
    }
    const target = posix.join(posix.dirname(path), specifier);
    if (!target.startsWith("src/")) {
      if (target !== "package.json") wrong.push(`${path} imports ${target}, which is outside src`);
      continue;
    }
    const to = partOf(target);
    if (!mayImport(from, to)) wrong.push(`${path} imports ${target}: ${from} may not import ${to}`);
    if (from === to || !STAGES.includes(from) || !STAGES.includes(to)) continue;
    if (!typeOnly)
      wrong.push(`${path} imports a value of the stage ${to}: import its types, and let src/wire pass the value in`);
    else if (!target.endsWith(".port.ts") && !FRONTS.includes(target))
      wrong.push(`${path} imports types from inside the stage ${to} (${target}): use its port or its front`);
  }
  return wrong;
}

const modules = files("src/**/*.ts").filter((path) => !path.endsWith(".test.ts"));

describe("layers", () => {
  it("knows the layer of every part of src", () => {
    expect([...new Set(modules.map(partOf))].filter((part) => !isKnown(part))).toEqual([]);
  });

  it("lets modules import only their own layer and earlier ones, stages only types of each other and no package [000-3.1-layers]", () => {
    expect(modules.length).toBeGreaterThan(50);
    expect(modules.flatMap((path) => wrongImports(path, read(path)))).toEqual([]);
  });

  it("keeps no front that is gone", () => {
    expect(FRONTS.filter((path) => !modules.includes(path))).toEqual([]);
  });

  it("keeps the meta-tools free of MCP, so that every surface can use them", () => {
    const metaTools = modules.filter((path) => path.startsWith("src/serve/meta-tools/"));
    const imports = metaTools.flatMap((path) => importsOf(read(path)).map(({ specifier }) => specifier));
    expect(imports.length).toBeGreaterThan(10);
    expect(imports.filter((specifier) => specifier.includes("/mcp/"))).toEqual([]);
  });

  it.each([
    ["types from inside another stage", 'import type { Slot } from "../catalog/lexical/posting.ts";', 1],
    ["a port of another stage", 'import type { Embedder } from "../catalog/embedder.port.ts";', 0],
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

  it.each([
    ["src/adapters/sinks/x.ts", "../../serve/host.ts"],
    ["src/mcp/x.ts", "../serve/mcp/plane.ts"],
    ["src/serve/x.ts", "../config/config.ts"],
    ["src/eval/x.ts", "../cli/command.ts"],
    ["src/testing/x.ts", "../adapters/state/memory.ts"],
  ])("refuses %s to import %s", (path, target) => {
    expect(wrongImports(path, `import { x } from "${target}";`)).toHaveLength(1);
  });
});
