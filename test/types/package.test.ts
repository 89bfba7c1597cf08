import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KINDS } from "../../src/adapters/kinds.ts";
import { ToolArsenal } from "../../src/index.ts";
import { nodeProblem } from "../../src/system/node-version.ts";
import { installPackage } from "../kit/installed-package.ts";
import { asUserWrites, ROOT } from "../repo/project.ts";
import { oldNode } from "../services/old-node.ts";
import { writeSnippets } from "./snippets.ts";

const TSC = join(ROOT, "node_modules/.bin/tsc");
const folder = mkdtempSync(join(tmpdir(), "toolarsenal-types-"));

beforeAll(() => {
  installPackage(folder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the compiler. Returns its errors, one per entry. Several threads would each work out the same types. */
function tsc(cwd: string, parameters: readonly string[]): readonly string[] {
  const { stdout, error } = spawnSync(TSC, [...parameters, "--singleThreaded"], { cwd, encoding: "utf8" });
  if (error) throw error;
  return stdout.split(/\n(?=\S)/).filter((line) => line.trim() !== "");
}

/** A project in the folder: its name, its files and its compiler options. Returns the errors the compiler finds in it. */
function compile(name: string, files: Readonly<Record<string, string>>, options: object): readonly string[] {
  const project = join(folder, name);
  mkdirSync(project, { recursive: true });
  for (const [path, content] of Object.entries(files)) writeFileSync(join(project, path), content);
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: { noEmit: true, ...options } }));
  return tsc(project, ["-p", "."]);
}

/** What `tsc --init` writes, but for `skipLibCheck`, which it sets to true. Links are left as they are, so that no package finds `@types`. */
const NEWCOMER = {
  module: "nodenext",
  target: "esnext",
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  noUncheckedSideEffectImports: true,
  moduleDetection: "force",
  skipLibCheck: false,
  preserveSymlinks: true,
};

/** The programs in `consumer/`, importing the package by its name. */
function consumers(): Record<string, string> {
  const programs = join(ROOT, "test/types/consumer");
  return Object.fromEntries(
    readdirSync(programs).map((name) => [name, asUserWrites(readFileSync(join(programs, name), "utf8"))]),
  );
}

/** A program that imports every entry point of the package, by the names that package.json gives them. */
function everyEntryPoint(): string {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly exports: object };
  const names = Object.keys(exports).filter((name) => !name.endsWith(".json"));
  return names.map((name, at) => `export * as entry${at} from "toolarsenal${name.slice(1)}";`).join("\n");
}

const EVERYTHING = [
  'export * from "toolarsenal";',
  ...[...Object.keys(KINDS), "client", "testing"].map((name) => `export * as ${name} from "toolarsenal/${name}";`),
].join("\n");

describe("the types of the package", () => {
  it("let every SDK's client take tools and results without a cast", () => {
    // What is wrong in the SDKs' own declarations is not ours to see, and checking them takes most of the time.
    expect(compile("clients", consumers(), { ...NEWCOMER, skipLibCheck: true })).toEqual([]);
  });

  it("compile without @types/node, library check included", () => {
    const noNode =
      "// @ts-expect-error there are no types of Node here\nexport const bytes: Buffer = Buffer.from('');\n";
    expect(compile("no-node", { "all.ts": EVERYTHING, "node.ts": noNode }, NEWCOMER)).toEqual([]);
  });

  it.each(["node16", "nodenext", "bundler"])(
    "are found at every entry point with moduleResolution %s [000-13-published]",
    (resolution) => {
      const module = resolution === "bundler" ? "preserve" : resolution;
      const wrong = '// @ts-expect-error there is no such entry point\nexport * from "toolarsenal/wire";\n';
      // Only resolution counts here: the types that integrations name are those of frameworks that need not be installed.
      const options = { ...NEWCOMER, module, moduleResolution: resolution, skipLibCheck: true };
      expect(compile(`resolved-${resolution}`, { "all.ts": everyEntryPoint(), "wrong.ts": wrong }, options)).toEqual(
        [],
      );
    },
  );

  it("compile for an older target, and with the loosest options", () => {
    const loose = { module: "nodenext", target: "es2022", types: [], strict: false, preserveSymlinks: true };
    expect(compile("older", { "all.ts": EVERYTHING }, { ...loose, skipLibCheck: false })).toEqual([]);
  });
});

describe("the snippets of README and docs", () => {
  it("compile [000-13-docs]", () => {
    mkdirSync(join(folder, "snippets/node_modules"), { recursive: true });
    symlinkSync(join(ROOT, "node_modules/@types"), join(folder, "snippets/node_modules/@types"));
    const options = { ...NEWCOMER, types: ["node"], skipLibCheck: true, preserveSymlinks: false };
    expect(compile("snippets", writeSnippets(), options)).toEqual([]);
  });
});

describe("the programs of the package", () => {
  /** A program of a model that calls a tool and fails in its third line, in the built package. */
  const PROGRAM = `
import { ToolArsenal } from "toolarsenal";
const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, telemetry: { enabled: false }, programs: { sandbox: process.argv[1] } });
const parameters = { type: "object", properties: { text: { type: "string" } } };
arsenal.register({ name: "echo", namespace: "own", description: "Repeats a text.", parameters }, ({ text }) => text);
await arsenal.start();
const { status, value } = await arsenal.runCode({ code: "const text: string = 'hi';\\n[await own.echo({ text }), typeof process]" });
const { error } = await arsenal.runCode({ code: "1\\n\\nnull.x" });
console.log(JSON.stringify({ status, value, line: error?.line }));
await arsenal.close();`;

  for (const sandbox of ["quickjs", "node"] as const)
    it(`run in the sandbox ${sandbox}`, async ({ skip }) => {
      const sources = new ToolArsenal({ programs: { sandbox }, telemetry: { enabled: false } });
      const problem = await sources.start().then(
        () => undefined,
        (error: Error) => error.message,
      );
      await sources.close();
      if (problem !== undefined) {
        process.stderr.write(`Programs are not run in ${sandbox}: ${problem}\n`);
        // because bubblewrap is not on every machine
        skip(problem);
      }
      const parameters = ["--input-type=module", "--eval", PROGRAM, sandbox];
      const { stdout, stderr } = spawnSync(process.execPath, parameters, { cwd: folder, encoding: "utf8" });
      const ran = { status: "success", value: ["hi", "undefined"], line: 3 };
      expect({ stdout, stderr }).toEqual({ stdout: `${JSON.stringify(ran)}\n`, stderr: "" });
    });
});

describe("the package on a Node that is too old", () => {
  const old = oldNode();

  /** What importing modules of the package on the old Node ends with: the message of an error, or nothing. */
  function importing(...modules: readonly string[]): string {
    const program = `${modules.map((name) => `import "${name}";`).join("\n")}`;
    const parameters = ["--input-type=module", "--eval", program];
    const { stderr } = spawnSync(old?.path ?? "", parameters, { cwd: folder, encoding: "utf8" });
    return /^\w*Error: (.*)$/m.exec(stderr)?.[1] ?? stderr;
  }

  // because not every machine has an old Node beside the one that runs the tests
  it.skipIf(old === undefined)("says which one it needs, whatever else the program imports", () => {
    const problem = nodeProblem(old?.version ?? "");
    expect(importing("toolarsenal")).toBe(problem);
    expect(importing("toolarsenal/sources", "toolarsenal")).toBe(problem);
    expect(importing("toolarsenal/ensembles")).toBe(problem);
    expect(importing("toolarsenal/effect")).toBe(problem);
  });

  // because not every machine has an old Node beside the one that runs the tests
  it.skipIf(old === undefined)("has no subpath that fails with a syntax error before that", () => {
    const others = Object.keys(KINDS).map((kind) => `toolarsenal/${kind}`);
    expect(importing(...others, "toolarsenal/testing", "toolarsenal/toolset", "toolarsenal/agent")).toBe("");
    expect(importing("toolarsenal/client")).toBe("");
  });
});
