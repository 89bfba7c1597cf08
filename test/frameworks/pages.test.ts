import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { integrations } from "../../src/integrations/manifest.ts";
import { installPackage } from "../kit/installed-package.ts";
import { read, ROOT } from "../repo/project.ts";
import { writeSnippets } from "../types/snippets.ts";
import { FRAMEWORKS, frameworksInstalled } from "./frameworks.ts";
import { startScriptedModel } from "./scripted-model.ts";

/** Every page's program asks a model for an order, and the model calls `find_order`. */
const SCRIPT = [{ calls: [["find_order", { order: "1042" }]] as const }, { text: "Order 1042 is in Porto." }];

/** Integrations of frameworks in other languages, which need no framework here: test/e2e/python-frameworks.test.ts runs their programs. */
const OTHER_LANGUAGES: readonly string[] = ["autogen", "crewai"];

const MOST_LINES = 25;
const isInstalled = frameworksInstalled();
const names = Object.keys(integrations).filter((name) => !OTHER_LANGUAGES.includes(name));
const pages = Object.keys(integrations).map((name) => `docs/guides/integrations/${name}.md`);
/** A project with the package, and then the frameworks. */
const folder = mkdtempSync(join(tmpdir(), "toolarsenal-pages-"));
const modules = join(folder, "node_modules");
/** The error of importing each integration before its framework was installed. */
let alone: Readonly<Record<string, string>> = {};

function importAlone(): Readonly<Record<string, string>> {
  const program = `await import("toolarsenal");
    const errors = {};
    for (const name of ${JSON.stringify(names)})
      await import("toolarsenal/integrations/" + name).catch(({ code, message }) => (errors[name] = code + " " + message));
    console.log(JSON.stringify(errors));`;
  const parameters = ["--input-type=module", "--eval", program];
  const { stdout } = spawnSync(process.execPath, parameters, { cwd: folder, encoding: "utf8" });
  return JSON.parse(stdout) as Readonly<Record<string, string>>;
}

/** Links every package of a folder that is not there yet. */
function link(from: string): void {
  for (const name of readdirSync(from)) {
    const target = join(modules, name);
    if (name.startsWith(".")) continue;
    if (name.startsWith("@")) {
      mkdirSync(target, { recursive: true });
      for (const each of readdirSync(join(from, name)))
        if (!existsSync(join(target, each))) symlinkSync(join(from, name, each), join(target, each));
    } else if (!existsSync(target)) symlinkSync(join(from, name), target);
  }
}

function firstProgram(page: string): string {
  return /^```ts\n([^]*?)^```/m.exec(read(page))?.[1] ?? "";
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

// because the frameworks are large, and only test/frameworks has them
describe.skipIf(!isInstalled)("the pages of the integrations", () => {
  beforeAll(() => {
    installPackage(folder);
    for (const name of readdirSync(modules)) if (name !== "toolarsenal") rmSync(join(modules, name));
    alone = importAlone();
    link(fileURLToPath(new URL("node_modules", FRAMEWORKS)));
    link(join(ROOT, "node_modules"));
  });

  it.each(names)("%s, without its framework, is an error with the install line", (name) => {
    expect(alone[name]).toMatch(/^LIBRARY_MISSING .* npm install [@a-z]/);
  });

  it("compile under tsc --strict, and cast nothing", () => {
    expect(pages.filter((page) => /\bas (?!const\b)\w|\bany\b/.test(firstProgram(page)))).toEqual([]);
    for (const [name, code] of Object.entries(writeSnippets(pages))) writeFileSync(join(folder, name), code);
    const compilerOptions = { module: "nodenext", target: "esnext", strict: true, noEmit: true, types: ["node"] };
    const options = { ...compilerOptions, skipLibCheck: true, exactOptionalPropertyTypes: false };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const { stdout } = spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", "."], { cwd: folder, encoding: "utf8" });
    expect(stdout).toBe("");
  });

  it.each(names)("%s starts with a complete program of at most 25 lines that answers", async (name) => {
    const program = firstProgram(`docs/guides/integrations/${name}.md`);
    expect(program.trim().split("\n").length).toBeLessThanOrEqual(MOST_LINES);
    const file = join(folder, `run-${name}.ts`);
    writeFileSync(file, program);
    const model = await startScriptedModel(SCRIPT);
    const { origin } = new URL(model.baseURL);
    const environment = {
      ...process.env,
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: model.baseURL,
      ANTHROPIC_API_KEY: "none",
      // Claude Code has the names of an MCP server's tools with a prefix, and keeps its sessions in the home folder.
      ANTHROPIC_BASE_URL: name === "claude-agent" ? `${origin}/named/mcp__arsenal__` : origin,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      HOME: folder,
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: origin,
    };
    const child = spawn(process.execPath, [file], { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
    const [printed, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await model.close();
    expect(printed, complaints).toContain("Order 1042 is in Porto.");
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("Porto");
  });
});
