import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KINDS } from "../../src/adapters/kinds.ts";
import { ROOT } from "./project.ts";

/*
 * What a new adapter costs. A copy of the project gets a fixture of every kind, and a surface: three files each (code, test, docs page) and one line
 * in the manifest. Everything else must follow: `npm run derive` is the only other step.
 */

/** An adapter that a fixture wraps, and how its contract suite is run. */
interface Fixture {
  readonly factory: string;
  readonly base: readonly [factory: string, file: string];
  readonly suite: string;
  readonly adapter?: string;
  readonly more?: string;
  /** True if a configuration can name adapters of the kind. */
  readonly named?: boolean;
}

const TOKEN = "a-token-of-enough-letters";
const FIXTURES: Readonly<Record<keyof typeof KINDS, Fixture>> = {
  audit: { factory: "fixtureAudit", base: ["memoryAudit", "./memory.ts"], suite: "auditContract", named: true },
  dialects: { factory: "fixtureDialect", base: ["ollamaDialect", "./ollama.ts"], suite: "dialectContract" },
  embedders: {
    factory: "fixtureEmbedder",
    base: ["staticEmbedder", "./static.ts"],
    suite: "embedderContract",
    named: true,
  },
  engines: {
    factory: "fixtureEngine",
    base: ["memoryEngine", "./memory.ts"],
    suite: "catalogEngineContract",
    adapter: 'fixtureEngine({ vectors: "float32" })',
    named: true,
  },
  executors: { factory: "fixtureExecutor", base: ["directExecutor", "./direct.ts"], suite: "executorContract" },
  identity: {
    factory: "fixtureIdentity",
    base: ["bearerToken", "./bearer-token.ts"],
    suite: "identityContract",
    adapter: `fixtureIdentity({ tokens: ["${TOKEN}"] })`,
    more: `, { known: { headers: { authorization: "Bearer ${TOKEN}" } }, unknown: { headers: { authorization: "Bearer nobody-has-this-token" } } }`,
    named: true,
  },
  llms: { factory: "fixtureLlm", base: ["openaiLlm", "./openai.ts"], suite: "llmContract", named: true },
  policies: { factory: "fixturePolicy", base: ["patternsPolicy", "./patterns.ts"], suite: "policyContract" },
  rerankers: {
    factory: "fixtureReranker",
    base: ["cohereReranker", "./cohere.ts"],
    suite: "rerankerContract",
    named: true,
  },
  sandboxes: {
    factory: "fixtureSandbox",
    base: ["noSandbox", "./none/none.ts"],
    suite: "sandboxContract",
    named: true,
  },
  scanners: {
    factory: "fixtureScanner",
    base: ["wordingScanner", "./wording/wording.ts"],
    suite: "scannerContract",
    named: true,
  },
  sinks: { factory: "fixtureSink", base: ["consoleSink", "./console.ts"], suite: "sinkContract", named: true },
  sources: { factory: "fixtureSource", base: ["builtinSource", "./builtin/builtin.ts"], suite: "sourceContract" },
  state: { factory: "fixtureState", base: ["memoryState", "./memory.ts"], suite: "stateContract", named: true },
  validators: {
    factory: "fixtureValidator",
    base: ["jsonSchemaValidator", "./json-schema/json-schema.ts"],
    suite: "validatorContract",
  },
};
const kinds = Object.entries(FIXTURES);

/** What `create` makes of its settings, for kinds that a configuration can name. */
function createOf(kind: string, { factory }: Fixture): string {
  const made = kind === "identity" ? `${factory}({ tokens: [settings.fixtureToken] })` : `${factory}()`;
  const setting = `fixture${kind === "identity" ? "Token" : "Level"}`;
  const declared =
    kind === "sandboxes" || kind === "scanners"
      ? ""
      : `
export const config = object("A fixture.", { ${setting}: text("How much of a fixture the one of ${kind} is.", "${TOKEN}") });
export async function check(settings: Filled<typeof config>): Promise<string | undefined> {
  return \`${kind} \${settings.${setting}}\`;
}`;
  const given = declared === "" ? "" : "settings: Filled<typeof config>";
  return `${declared}
export function create(${given}): ReturnType<typeof ${factory}> {
  ${kind === "identity" || given === "" ? "" : "void settings;\n  "}return ${made};
}
`;
}

/** A source that YAML, REST, the client and the dashboard can name. */
const SOURCE = `import { entry, type InputOf, text } from "../../tool/shape/shape.ts";
import type { Source } from "../../register/source.port.ts";
import { builtinSource } from "./builtin/builtin.ts";
import type { Reach } from "./source-adapter.ts";

export const config = entry("A fixture.", { name: text("Its name."), fixtureTool: text("How much of a fixture it is.") }, ["name"]);

/** A fixture. */
export function fixtureSource(...given: Parameters<typeof builtinSource>): Source {
  return builtinSource(...given);
}

export function create({ name }: InputOf<typeof config>): Source {
  return fixtureSource({ name, tools: ["http-get"] });
}

export function reach({ fixtureTool }: InputOf<typeof config>): Reach {
  return fixtureTool === "command" ? { commands: [fixtureTool] } : {};
}
`;

/** A policy that is chosen by the ending of its file. */
const POLICY = `import type { Policy } from "../../guard/policy.port.ts";
import { patternsPolicy } from "./patterns.ts";

/** A fixture. */
export function fixturePolicy(...given: Parameters<typeof patternsPolicy>): Policy {
  return patternsPolicy(...given);
}

export const reads = [".fixture"];

export function create(text: string): Policy {
  return fixturePolicy({ deny: [text.trim()] });
}
`;

function adapterText(kind: string, fixture: Fixture): string {
  if (kind === "sources") return SOURCE;
  if (kind === "policies") return POLICY;
  const [base, file] = fixture.base;
  const named = fixture.named === true || kind === "dialects";
  const settings = named && !["sandboxes", "scanners", "dialects"].includes(kind);
  return `${settings ? 'import { type Filled, object, text } from "../../tool/shape/shape.ts";\n' : ""}import { ${base} } from "${file}";

/** A fixture. */
export function ${fixture.factory}(...given: Parameters<typeof ${base}>): ReturnType<typeof ${base}> {
  return ${base}(...given);
}
${kind === "dialects" ? `\nexport { ${fixture.factory} as create };\n` : named ? createOf(kind, fixture) : ""}`;
}

function testText(kind: string, { factory, suite, base, adapter = `${factory}()`, more = "" }: Fixture): string {
  // A dialect's contract needs samples of its API, shared state a backend, a reranker and a model a server: those of the one it wraps.
  if (["dialects", "state", "rerankers", "llms"].includes(kind)) {
    const [name, file] = base;
    const text = readFileSync(join(ROOT, "src/adapters", kind, file.replace(".ts", ".test.ts")), "utf8");
    const imported = new RegExp(`import \\{([^}]*)\\b${name}\\b,?([^}]*)\\} from "${file}"`);
    return text.replace(
      imported,
      `import {$1$2} from "${file}";\nimport { ${factory} as ${name} } from "./fixture.ts"`,
    );
  }
  return `import { it } from "vitest";
import { ${suite} } from "../../testing/index.ts";
import { ${factory} } from "./fixture.ts";

for (const { name, run } of ${suite}(() => ({ adapter: ${adapter} })${more})) it(name, run);
`;
}

const SURFACE = `import type { CreateSurface } from "./surface.ts";

export const fixtureSurface: CreateSurface = () => ({
  name: "fixture",
  routes: [
    {
      path: "/fixture",
      handle: ({ request, response }) => void response.writeHead(request.method === "GET" ? 200 : 405).end("a fixture"),
    },
  ],
  addresses: [["/fixture", "says that it is a fixture"]],
});
`;
const SURFACE_TEST = `import { expect, it } from "vitest";
import { ToolArsenal } from "../arsenal.ts";

it("answers", async () => {
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const { url = "", close } = await arsenal.serve({ port: 0 });
  expect(await (await fetch(new URL("/fixture", url))).text()).toBe("a fixture");
  expect(await (await fetch(new URL("/", url))).text()).toContain("says that it is a fixture");
  await close();
});
`;

/** A program that uses every fixture by what was derived for it. It must compile, too: the names are in the types. */
const PROGRAM = `import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { sourceForm } from "./dashboard/src/parts/source-forms.ts";
import { createClient } from "./src/client/index.ts";
import { ToolArsenal, type ToolArsenalConfig } from "./src/index.ts";
import { checkAdapters } from "./src/config/start/check-adapters.ts";
import { createSurroundings } from "./src/wire/surroundings.ts";
import { configuredIdentity } from "./src/wire/identity.ts";
import { resolveConfig } from "./src/config/load/resolve-config.ts";
${kinds.map(([kind, { factory }]) => `import { ${factory} } from "./src/adapters/${kind}/index.ts";`).join("\n")}

const config: ToolArsenalConfig = {
  vectorStore: { type: "fixture", fixtureLevel: "whole" },
  embedder: { type: "fixture" },
  reranker: { enabled: true, type: "fixture" },
  llm: { type: "fixture" },
  state: { type: "fixture" },
  telemetry: { type: "fixture", level: "error" },
  audit: { type: "fixture" },
  execution: { enableSandbox: true, sandboxType: "fixture" },
  security: { scan: { fixture: "flag" } },
  server: { auth: { fixture: { fixtureToken: "${TOKEN}" } } },
};
for (const factory of [${kinds.map(([, { factory }]) => factory).join(", ")}]) assert.equal(typeof factory, "function");

const resolved = resolveConfig(config);
assert.equal(resolved.vectorStore.fixtureLevel, "whole");
const checked = (await checkAdapters(resolved, createSurroundings(resolved, {}))).map(({ message }) => message);
assert.deepEqual(checked, ["engines whole", ...["embedders", "rerankers", "llms", "state", "sinks", "audit"].map((kind) => kind + " ${TOKEN}")]);
const identity = await configuredIdentity(resolved.server);
assert.ok(await identity?.authenticate({ headers: { authorization: "Bearer ${TOKEN}" } }));
for (const section of [{ vectorStore: { type: "x" } }, { embedder: { type: "x" } }, { reranker: { type: "x" } }, { llm: { type: "x" } }, { state: { type: "x" } }, { telemetry: { type: "x" } }, { audit: { type: "x" } }, { execution: { sandboxType: "x" } }])
  assert.throws(() => resolveConfig(section as never), /must be one of .*fixture/);

writeFileSync("policy.fixture", "eight\\n");
writeFileSync("arsenal.yaml", "sources: [{ type: fixture, name: by_file, fixture_tool: x }]\\nsecurity: { policy_file: policy.fixture }\\n");
await using gateway = await ToolArsenal.fromConfig("arsenal.yaml");
gateway.register({ name: "eight", description: "Returns the number eight." }, () => 8);
assert.equal((await gateway.execute({ toolName: "eight", arguments: {} })).error?.code, "TOOL_NOT_FOUND");
assert.equal(await gateway.add({ type: "fixture", name: "by_code" }), 1);
const { url = "", close } = await gateway.serve({ port: 0 });
const body = JSON.stringify({ type: "fixture", name: "by_rest", fixtureTool: "y" });
const headers = { "content-type": "application/json" };
assert.equal((await fetch(new URL("/api/v1/ensembles", url), { method: "POST", headers, body })).status, 201);
const client = createClient({ url });
assert.equal(await client.add({ type: "fixture", name: "by_client" }), 1);
await assert.rejects(client.add({ type: "fixture", name: "wrong", fixtureTools: "x" } as never), /fixtureTools is not known here/);
const form = sourceForm("fixture", (await client.ensembles.types())["fixture"] ?? {});
assert.deepEqual(Object.keys(form.main.properties ?? {}), ["name", "fixtureTool"]);
const tools = (await gateway.listTools({ source: "builtin" })).map(({ namespace }) => namespace);
assert.deepEqual(tools, ["by_client", "by_code", "by_file", "by_rest"]);
await client.close();
await close();

await using arsenal = new ToolArsenal(config);
arsenal.register({ name: "seven", description: "Returns the number seven." }, () => 7);
assert.equal((await arsenal.retrieveTools("the number seven", { dialect: "fixture" })).length, 1);
await assert.rejects(arsenal.retrieveTools("x", { dialect: "no" as "fixture" }), /one of openai, .*fixture/);
assert.equal((await arsenal.execute({ toolName: "seven", arguments: {} })).result, 7);
`;

const copy = mkdtempSync(join(tmpdir(), "toolarsenal-fixtures-"));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(copy, path)), { recursive: true });
  writeFileSync(join(copy, path), text);
}

/** Adds one line before the end of a manifest. */
function addLine(path: string, line: string): void {
  write(path, readFileSync(join(copy, path), "utf8").replace(/\n\};\n$/, `\n  ${line}\n};\n`));
}

function run(program: string, ...parameters: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, parameters, {
    cwd: copy,
    encoding: "utf8",
    env: { ...process.env, TOOLARSENAL_TIER: "lexical" },
  });
  return status === 0 ? "" : stdout || stderr;
}
const bin = (name: string): string => join(ROOT, "node_modules/.bin", name);

beforeAll(() => {
  // Every test is copied, because derive lists the tests that show each requirement.
  for (const name of ["src", "scripts", "docs", "man", "test", "dashboard/src/parts/source-forms.ts"])
    cpSync(join(ROOT, name), join(copy, name), {
      recursive: true,
      filter: (path) => basename(path) !== "node_modules",
    });
  for (const name of ["package.json", "tsconfig.json", "vitest.config.ts", "config.schema.json"])
    cpSync(join(ROOT, name), join(copy, name));
  for (const name of ["node_modules", "models"]) symlinkSync(join(ROOT, name), join(copy, name));
  for (const [kind, fixture] of kinds) {
    write(`src/adapters/${kind}/fixture.ts`, adapterText(kind, fixture));
    write(`src/adapters/${kind}/fixture.test.ts`, testText(kind, fixture));
    write(
      `docs/reference/adapters/${kind}/fixture.md`,
      `# A fixture of ${kind}\n\n<!-- config -->\n\n<!-- /config -->\n`,
    );
    addLine(`src/adapters/${kind}/manifest.ts`, 'fixture: () => import("./fixture.ts"),');
  }
  write("src/serve/fixture.ts", SURFACE);
  write("src/serve/fixture.test.ts", SURFACE_TEST);
  write("docs/guides/fixture.md", "# A surface\n");
  addLine("src/serve/surfaces.ts", 'fixture: async () => (await import("./fixture.ts")).fixtureSurface,');
});

describe("a new adapter of each kind, and a new surface", { timeout: 300_000 }, () => {
  it("cost three files and one line each", () => {
    const all = globSync("{src,docs}/**/*", { cwd: copy, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = all.map((entry) => join(entry.parentPath, entry.name).slice(copy.length + 1));
    const original = (path: string): string[] => {
      try {
        return readFileSync(join(ROOT, path), "utf8").split("\n");
      } catch {
        return [];
      }
    };
    const added = paths.filter((path) => original(path).length === 0);
    const lines = paths
      .filter((path) => !added.includes(path))
      .map((path) => readFileSync(join(copy, path), "utf8").split("\n").length - original(path).length);
    expect(added).toHaveLength(3 * (kinds.length + 1));
    expect(lines.filter((count) => count !== 0)).toEqual(Array.from({ length: kinds.length + 1 }, () => 1));
  });

  it("need nothing but npm run derive, which writes exports, schema and docs", () => {
    expect(run(process.execPath, "scripts/derive.ts", "--check")).toContain("out of date");
    expect(run(process.execPath, "scripts/derive.ts")).toBe("");
    expect(run(process.execPath, "scripts/derive.ts", "--check")).toBe("");
    const read = (path: string): string => readFileSync(join(copy, path), "utf8");
    expect(read("config.schema.json")).toContain('"fixture_level"');
    expect(read("docs/reference/configuration.md")).toMatch(/`vector_store.fixture_level`.*How much of a fixture/);
    expect(read("docs/reference/adapters/engines/fixture.md")).toContain("| `vector_store.fixture_level` |");
    expect(read("docs/reference/adapters/sources/fixture.md")).toContain("| `sources[].fixture_tool` |");
    for (const [kind, { factory }] of kinds) {
      expect(read(`src/adapters/${kind}/index.ts`)).toContain(`export { ${factory} } from "./fixture.ts";`);
      expect(read("docs/reference/adapters/README.md")).toContain(`[fixture](${kind}/fixture.md)`);
    }
  });

  it("have their names and settings in the types, and work by configuration, in doctor and in messages", () => {
    write("program.ts", PROGRAM);
    const options = JSON.parse(readFileSync(join(copy, "tsconfig.json"), "utf8")) as object;
    const include = ["program.ts", "src/**/fixture*.ts", "src/integrations/frameworks/*.d.ts"];
    write("tsconfig.json", JSON.stringify({ ...options, include }));
    expect(run(bin("tsc"), "--noEmit", "-p", ".", "--allowImportingTsExtensions", "--singleThreaded")).toBe("");
    expect(run(process.execPath, "program.ts")).toBe("");
  });

  it("pass their contract suites and the gates", () => {
    const tests = ["fixture.test.ts", "test/repo/adapters.test.ts", "src/serve/surfaces.test.ts"];
    expect(run(bin("vitest"), "run", "--root", copy, "--maxWorkers=1", ...tests)).toBe("");
  });
});
