import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { KINDS } from "../src/adapters/kinds.ts";
import { fileSchema } from "../src/config/load/key-style.ts";

const ROOT = new URL("..", import.meta.url);
const REST = /^\/\/ The rest of toolarsenal\/[^]*/m;

/** What an adapter's file exports for the configuration, not for users. */
const RESERVED: ReadonlySet<string> = new Set(["create", "config", "check"]);

/** Every file that follows from the adapters' manifests, with the text it must have. */
export function derivedFiles(): Readonly<Record<string, string>> {
  const indexes = Object.keys(KINDS).map((kind) => [`src/adapters/${kind}/index.ts`, indexText(kind)] as const);
  return { ...Object.fromEntries(indexes), "package.json": packageText(), "config.schema.json": schemaText() };
}

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** The module behind `toolarsenal/KIND`: what its adapters export, then what the file says itself. */
function indexText(kind: string): string {
  const manifest = read(`src/adapters/${kind}/manifest.ts`);
  const lines = [...manifest.matchAll(/import\("(\.\/[^"]+)"\)/g)].flatMap(([, path = ""]) => {
    const names = publicNames(read(`src/adapters/${kind}/${path}`)).sort(byName);
    if (names.length === 0) return [];
    const line = `export { ${names.join(", ")} } from "${path}";`;
    return line.length <= 120 ? line : `export {\n${names.map((name) => `  ${name},\n`).join("")}} from "${path}";`;
  });
  const [rest = `// The rest of toolarsenal/${kind}:\n`] = REST.exec(read(`src/adapters/${kind}/index.ts`)) ?? [];
  return ["// From manifest.ts, by `npm run derive`:", ...lines, rest].join("\n");
}

/** What a module exports to users: everything but what the configuration reads and what is marked `@internal`. */
function publicNames(text: string): string[] {
  const declared =
    /(?<doc>\/\*\*(?:(?!\*\/)[^])*\*\/\n)?^export (?:async )?(?<kind>function|const|class|interface|type) (?<name>\w+)/gm;
  const names = [...text.matchAll(declared)]
    .filter(({ groups = {} }) => !RESERVED.has(groups["name"] ?? "") && !/@internal/.test(groups["doc"] ?? ""))
    .map(({ groups = {} }) =>
      /interface|type/.test(groups["kind"] ?? "") ? `type ${groups["name"] ?? ""}` : (groups["name"] ?? ""),
    );
  const reexported = [...text.matchAll(/^export type \{([^}]*)\} from/gm)].flatMap(([, list = ""]) =>
    list.split(",").map((name) => `type ${name.trim()}`),
  );
  return [...new Set([...names, ...reexported])];
}

function byName(a: string, b: string): number {
  const [first, second] = [a, b].map((name) => name.replace("type ", "").toLowerCase()) as [string, string];
  return a.startsWith("type ") === b.startsWith("type ") ? (first < second ? -1 : 1) : a.startsWith("type ") ? 1 : -1;
}

/** package.json with a subpath for each kind of adapter. */
function packageText(): string {
  const manifest = JSON.parse(read("package.json")) as Record<string, unknown>;
  const at = (path: string): object => ({ types: `./dist/${path}.d.ts`, default: `./dist/${path}.js` });
  const kinds = Object.keys(KINDS).map((kind) => [`./${kind}`, at(`adapters/${kind}/index`)] as const);
  const exports = {
    ".": at("index"),
    ...Object.fromEntries(kinds),
    "./testing": at("testing/index"),
    "./config.schema.json": "./config.schema.json",
    "./package.json": "./package.json",
  };
  return `${JSON.stringify({ ...manifest, exports }, null, 2)}\n`;
}

/** The JSON Schema of a configuration file, for editors. */
function schemaText(): string {
  return `${JSON.stringify(fileSchema(), null, 2)}\n`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) main();

function main(): void {
  const { values } = parseArgs({ options: { check: { type: "boolean" }, help: { type: "boolean" } } });
  if (values.help === true) {
    console.log(
      "node scripts/derive.ts [--check]\n\nWrites what follows from the adapters' manifests, or checks that it is up to date.",
    );
    return;
  }
  for (const [path, text] of Object.entries(derivedFiles())) {
    if (read(path) === text) continue;
    if (values.check !== true) {
      writeFileSync(new URL(path, ROOT), text);
      continue;
    }
    console.error(`${path} is out of date. Run: npm run derive`);
    process.exitCode = 1;
  }
}
