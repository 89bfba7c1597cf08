import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { apiIndex, apiPage, entryPoints, pageOf } from "./api-reference.ts";
import { KINDS } from "../src/adapters/kinds.ts";
import { integrations } from "../src/integrations/manifest.ts";
import type { Setting } from "../src/config/load/setting.ts";
import { BATCH, TOOL_CALL } from "../src/execute/call.ts";
import { PRINCIPAL } from "../src/guard/principal.ts";
import { TOOL_QUERY } from "../src/retrieve/query.ts";
import { TOOL_DRAFT } from "../src/tool/draft.ts";
import type { JsonSchema } from "../src/tool/json-schema.ts";
import { HINTS, type Shape } from "../src/tool/shape/shape.ts";

const ROOT = new URL("..", import.meta.url);
const REST = /^\/\/ The rest of toolarsenal\/[^]*/m;

/** What an adapter's file exports for the configuration, not for users. */
const RESERVED: ReadonlySet<string> = new Set([
  "create",
  "config",
  "needs",
  "check",
  "reads",
  "reach",
  "problem",
  "expand",
  "patient",
  "watch",
  "import",
]);

/** The pages that list the members of a shape from outside, each between marks. */
export const SHAPES: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  "docs/concepts/retrieval.md": { query: TOOL_QUERY },
  "docs/concepts/execution.md": { call: TOOL_CALL, batch: BATCH },
  "docs/concepts/identity.md": { principal: PRINCIPAL },
  "docs/guides/tools.md": { draft: TOOL_DRAFT },
};

const SETTINGS = "src/adapters/adapter-settings.json";

/** Every file derived from the adapters' manifests and the operations of the REST API, with its text. Later ones depend on earlier ones. */
export const DERIVED: Readonly<Record<string, () => string | Promise<string>>> = {
  ...Object.fromEntries(Object.keys(KINDS).map((kind) => [`src/adapters/${kind}/index.ts`, () => indexText(kind)])),
  "package.json": packageText,
  [SETTINGS]: settingsText,
  "config.schema.json": schemaText,
  "docs/reference/configuration.md": configurationText,
  "docs/reference/adapters/README.md": pagesText,
  "docs/guides/integrations/README.md": integrationsText,
  "docs/reference/rest.md": restText,
  ...Object.fromEntries(
    Object.entries(SHAPES).map(([path, shapes]) => [
      path,
      () =>
        Object.entries(shapes).reduce((text, [mark, shape]) => betweenIn(text, mark, membersTable(shape)), read(path)),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(KINDS).flatMap(([kind, manifest]) =>
      Object.keys(manifest).map((name) => [`docs/reference/adapters/${kind}/${name}.md`, () => pageText(kind, name)]),
    ),
  ),
  "docs/reference/requirements.md": async () => (await import("./requirements-page.ts")).requirementsPage(),
  "docs/reference/api/README.md": apiIndex,
  ...Object.fromEntries(entryPoints().map((point) => [pageOf(point.entry), () => apiPage(point)])),
  // Loaded late: the commands import files that are derived above.
  "man/toolarsenal.1": async () => (await import("./man-page.ts")).manPage(),
};

/** The settings of each adapter, so that a program can check a configuration without loading any adapter. */
async function settingsText(): Promise<string> {
  const kinds = Object.entries(KINDS).map(async ([kind, manifest]) => {
    const adapters = Object.entries(manifest as Record<string, () => Promise<Record<string, unknown>>>).map(
      async ([name, load]) => {
        const { create, config, needs, reads } = await load();
        if (Array.isArray(needs)) throw new Error(`${kind}/${name}: needs must give each setting what to write.`);
        // The file of an adapter that reads files is named too: a policy is loaded before anything can be awaited.
        const line = new RegExp(`^  "?${name}"?: \\(\\) => import\\("([^"]+)"\\),$`, "m");
        const [, file] = (reads !== undefined && line.exec(read(`src/adapters/${kind}/manifest.ts`))) || [];
        return [name, { create: create !== undefined, needs, config, reads, file }] as const;
      },
    );
    return [kind, Object.fromEntries(await Promise.all(adapters))] as const;
  });
  return `${JSON.stringify(Object.fromEntries(await Promise.all(kinds)), null, 2)}\n`;
}

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** The module `toolarsenal/KIND`: its adapters' exports, then the file's own lines. */
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

/** A module's exports for users: everything except the configuration's exports and those marked `@internal`. */
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

/** package.json with a subpath for each kind of adapter and each integration. */
function packageText(): string {
  const manifest = JSON.parse(read("package.json")) as Record<string, unknown>;
  const at = (path: string): object => ({
    "toolarsenal:source": `./src/${path}.ts`,
    types: `./dist/${path}.d.ts`,
    default: `./dist/${path}.js`,
  });
  const kinds = Object.keys(KINDS).map((kind) => [`./${kind}`, at(`adapters/${kind}/index`)] as const);
  const exports = {
    ".": at("index"),
    ...Object.fromEntries(kinds),
    "./toolset": at("toolset/index"),
    "./ensembles": at("ensembles/index"),
    "./agent": at("agent/index"),
    "./client": at("client/index"),
    "./effect": at("effect/index"),
    "./testing": at("testing/index"),
    ...Object.fromEntries(
      Object.keys(integrations).map((name) => [`./integrations/${name}`, at(`integrations/${name}`)]),
    ),
    "./config.schema.json": "./config.schema.json",
    "./package.json": "./package.json",
  };
  return `${JSON.stringify({ ...manifest, exports }, null, 2)}\n`;
}

/** The JSON Schema of a configuration file, for editors. */
async function schemaText(): Promise<string> {
  const { fileSchema } = await import("../src/config/load/setting.ts");
  return `${JSON.stringify(fileSchema(), null, 2)}\n`;
}

/** docs/reference/configuration.md: every key with its type, default and purpose, one table per section. */
async function configurationText(): Promise<string> {
  const { listSettings } = await settingsOfSchema();
  const sections = Map.groupBy(listSettings(), ({ path }) => path.split(/[.[]/)[0] ?? path);
  const single = [...sections].filter(([, settings]) => settings.length === 1).flatMap(([, settings]) => settings);
  const tables = [...sections]
    .filter(([, settings]) => settings.length > 1)
    .map(async ([name, [section, ...settings]]) =>
      [`### ${name}`, section?.schema.description ?? "", await table(settings)].join("\n\n"),
    );
  const text = [...(await Promise.all(tables)), `### Keys of their own\n\n${await table(single)}`].join("\n\n");
  return between("docs/reference/configuration.md", "settings", text);
}

/** The configuration key of an adapter's settings. */
function placeOf(kind: string, name: string): string {
  const sources: Record<string, string> = {
    mcp: "mcp.servers[]",
    a2a: "a2a.agents[]",
    openapi: "openapi[]",
    scripts: "scripts[]",
    builtin: "builtins",
  };
  const sections: Record<string, string> = {
    engines: "vector_store",
    embedders: "embedder",
    rerankers: "reranker",
    llms: "llm",
    sinks: "telemetry",
  };
  if (kind === "sources") return sources[name] ?? "sources[]";
  if (kind === "identity") return `server.auth.${name.replaceAll("-", "_")}`;
  return sections[kind] ?? kind;
}

/** The page of an adapter, with a table of its settings. */
async function pageText(kind: string, name: string): Promise<string> {
  const { settingsIn } = await settingsOfSchema();
  const manifest = KINDS[kind as keyof typeof KINDS] as Record<string, () => Promise<{ readonly config?: JsonSchema }>>;
  const { config } = (await manifest[name]?.()) ?? {};
  const path = `docs/reference/adapters/${kind}/${name}.md`;
  return config === undefined
    ? read(path)
    : between(path, "config", await table(settingsIn(config, `${placeOf(kind, name)}.`)));
}

/** docs/reference/adapters/README.md: every adapter by kind, with its page. */
function pagesText(): string {
  const kinds = Object.entries(KINDS).map(([kind, manifest]) => {
    const links = Object.keys(manifest).map((name) => `[${name}](${kind}/${name}.md)`);
    return `| ${kind} | \`toolarsenal/${kind}\` | ${links.join(", ")} |`;
  });
  return between(
    "docs/reference/adapters/README.md",
    "adapters",
    ["| kind | import | adapters |", "|---|---|---|", ...kinds].join("\n"),
  );
}

/** docs/guides/integrations/README.md: every integration with its page, by the page's title. */
function integrationsText(): string {
  const rows = Object.keys(integrations).map((name) => {
    const [, title = name] = /^# (.+)$/m.exec(read(`docs/guides/integrations/${name}.md`)) ?? [];
    return `| [${title}](${name}.md) | \`toolarsenal/integrations/${name}\` |`;
  });
  return between(
    "docs/guides/integrations/README.md",
    "integrations",
    ["| framework | import |", "|---|---|", ...rows].join("\n"),
  );
}

interface DescribedOperation {
  readonly operationId: string;
  readonly "x-access"?: { readonly role: string; readonly tenants: "own" | "all" | "none" };
}

/** docs/reference/rest.md: the required role of each operation, as in `/openapi.json`. */
async function restText(): Promise<string> {
  const { createDocument } = await import("../src/serve/rest/document.ts");
  const { OPERATIONS } = await import("../src/serve/rest/operations/all.ts");
  const parts = { version: "", address: "", base: "", isSecured: true };
  const { paths } = createDocument(OPERATIONS, parts) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  };
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, "x-access": access }]) => {
      const may = (role: string, isOfTenant: boolean): string => {
        if (access === undefined) return "yes";
        if (!access.role.split(" or ").includes(role)) return "no";
        return isOfTenant ? { own: "own tenant", all: "yes", none: "no" }[access.tenants] : "yes";
      };
      const callers = [may("", true), may("approver", true), may("approver", false), may("operator", true)];
      const cells = [operationId, `\`${method.toUpperCase()} ${path}\``, ...callers, may("operator", false)];
      return `| ${cells.join(" | ")} |`;
    }),
  );
  const kinds = ["any caller", "approver of a tenant", "approver", "operator of a tenant", "operator"];
  const head = `| operation | request | ${kinds.join(" | ")} |`;
  return between("docs/reference/rest.md", "access", [head, "|---|---|---|---|---|---|---|", ...rows].join("\n"));
}

/** Loaded late: the schema depends on adapter-settings.json, which may just have been written. */
const settingsOfSchema = () => import("../src/config/load/setting.ts");

async function table(settings: readonly Setting[]): Promise<string> {
  const { describeExpected } = await settingsOfSchema();
  const rows = settings.map(({ path, schema }) => {
    const takes = schema.enum
      ? schema.enum.map((value) => `\`${String(value)}\``).join(", ")
      : describeExpected(schema);
    return ["", `\`${path}\``, takes, fallback(schema), schema.description ?? "", ""].join(" | ").trim();
  });
  return ["| key | takes | default | |", "|---|---|---|---|", ...rows].join("\n");
}

function fallback({ default: value, properties }: JsonSchema): string {
  return value === undefined || properties ? "" : `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

/** The members of a shape, and those of its objects and lists of objects. */
function membersTable(shape: Shape): string {
  const rows = (of: Shape, prefix: string): string[] =>
    Object.entries(of.properties ?? {}).flatMap(([key, value]) => {
      const member = value as Shape;
      const isNeeded = of.required?.includes(key) === true;
      const note = member[HINTS]?.onlyInCode === true ? "in code" : isNeeded ? "required" : fallback(member);
      const row = ["", `\`${prefix}${key}\``, takenBy(member), note, member.description ?? "", ""].join(" | ").trim();
      // The members of a batch's calls are listed on their own.
      return [
        row,
        ...(key === "calls"
          ? []
          : [...rows(member, `${prefix}${key}.`), ...rows((member.items ?? {}) as Shape, `${prefix}${key}[].`)]),
      ];
    });
  return ["| member | takes | | |", "|---|---|---|---|", ...rows(shape, "")].join("\n");
}

function takenBy({ type, enum: values, items, minimum, maximum, anyOf }: JsonSchema): string {
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(", ");
  if (type === "array") return `a list: ${takenBy((items ?? {}) as JsonSchema)}`;
  if (Array.isArray(anyOf)) return (anyOf as JsonSchema[]).map(takenBy).join(", or ");
  const range =
    minimum === undefined ? "" : maximum === undefined ? `, ${minimum} or more` : `, ${minimum} to ${maximum}`;
  return type === undefined ? "any value" : `${String(type)}${range}`;
}

/** Replaces the text between a page's marks, `<!-- NAME -->` and `<!-- /NAME -->`. */
function between(path: string, name: string, text: string): string {
  return betweenIn(read(path), name, text);
}

function betweenIn(page: string, name: string, text: string): string {
  const marks = new RegExp(`(<!-- ${name} -->\\n)[^]*(<!-- /${name} -->)`);
  return page.replace(marks, (_, start: string, end: string) => `${start}${text}\n${end}`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: "boolean" }, help: { type: "boolean" } } });
  if (values.help === true) {
    console.log(
      "node scripts/derive.ts [--check]\n\nWrites what follows from the adapters' manifests and the operations of the REST API, or checks that it is up to date.",
    );
    return;
  }
  for (const [path, derive] of Object.entries(DERIVED)) {
    const text = await derive();
    if (existsSync(new URL(path, ROOT)) && read(path) === text) continue;
    if (values.check !== true) {
      writeFileSync(new URL(path, ROOT), text);
      continue;
    }
    console.error(`${path} is out of date. Run: npm run derive`);
    process.exitCode = 1;
  }
}
