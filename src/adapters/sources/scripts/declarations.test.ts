import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { folderOf } from "../../../../test/e2e/script-files.ts";
import { languagesMissing } from "../../../../test/services/languages.ts";
import { ToolArsenal } from "../../../index.ts";
import { scriptsSource } from "./scripts.ts";

const EXTENSIONS = ["ts", "js", "py", "sh"] as const;
type Extension = (typeof EXTENSIONS)[number];
type Texts = Readonly<Record<Extension, string>>;

/** One arsenal with an ensemble for each language, in which the same declarations are written. */
async function inEachLanguage(texts: Texts): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal();
  for (const extension of EXTENSIONS) {
    const folder = await folderOf({ [`tools.${extension}`]: texts[extension] });
    const source = scriptsSource({ name: extension, paths: [folder] });
    await arsenal.add(source);
    expect(source.problems).toEqual([]);
  }
  return arsenal;
}

async function schemas(arsenal: ToolArsenal, tool: string): Promise<readonly unknown[]> {
  return Promise.all(EXTENSIONS.map(async (each) => (await arsenal.getTool(tool, each))?.parameters));
}

async function results(arsenal: ToolArsenal, tool: string, args: object): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const each of EXTENSIONS) {
    const { status, result, error } = await arsenal.execute({ toolName: `${each}.${tool}`, arguments: { ...args } });
    found.push(status === "success" ? result : error);
  }
  return found;
}

/** The listings of seed 003, with bodies. */
const SEARCH_WEB: Texts = {
  ts: `
interface Args {
  /** The search query */
  query: string;
  /** Number of results */
  num_results?: number;
}
/** Search the web */
export function search_web({ query, num_results = 10 }: Args) {
  return { query, num_results };
}`,
  js: `
/**
 * @typedef {Object} Args
 * @property {string} query - The search query
 * @property {number} [num_results=10] - Number of results
 */

/** Search the web */
export function search_web(args) {
  return args;
}`,
  py: `
def search_web(query: str, num_results: int = 10):
    """Search the web.

    Args:
        query: The search query
        num_results: Number of results (default: 10)
    """
    return {"query": query, "num_results": num_results}
`,
  sh: `
# @describe Search the web
# @option --query! The search query
# @option --num_results=10 Number of results
search_web() {
  printf '{"query":"%s","num_results":%d}' "$argc_query" "$argc_num_results"
}`,
};

/** How a language writes a field of each kind, and the schema that this means. */
interface Kind {
  readonly ts: string;
  readonly js: string;
  readonly py: string;
  readonly sh: (name: string, required: boolean) => string;
  readonly schema: object;
  readonly value: fc.Arbitrary<unknown>;
}

const modifier = (required: boolean): string => (required ? "!" : "");
const several = (required: boolean): string => (required ? "+" : "*");
const simple = (ts: string, py: string, notation: string, schema: object, value: fc.Arbitrary<unknown>): Kind => {
  const js = ts === "Integer" ? "Integer" : ts;
  return { ts, js, py, schema, value, sh: (name, required) => `--${name}${modifier(required)}${notation}` };
};

const anyText = fc.string({ unit: "grapheme", maxLength: 12 }).filter((text) => !text.includes("\0"));
const whole = fc.integer({ min: -1000, max: 1000 });
const half = whole.map((value) => value + 0.5);
const CHOICE = { type: "string", enum: ["new", "old", "best match"] };

const KINDS: Readonly<Record<string, Kind>> = {
  text: simple("string", "str", "", { type: "string" }, anyText),
  integer: simple("Integer", "int", " <INT>", { type: "integer" }, whole),
  number: simple("number", "float", " <NUM>", { type: "number" }, half),
  boolean: simple("boolean", "bool", " <BOOL>", { type: "boolean" }, fc.boolean()),
  choice: {
    ...simple(
      `"new" | "old" | "best match"`,
      `Literal["new", "old", "best match"]`,
      "",
      CHOICE,
      fc.constantFrom(...CHOICE.enum),
    ),
    sh: (name, required) => `--${name}${modifier(required)}[new|old|best match]`,
  },
  texts: {
    ...simple(
      "string[]",
      "list[str]",
      "",
      { type: "array", items: { type: "string" } },
      fc.array(anyText, { minLength: 1, maxLength: 3 }),
    ),
    sh: (name, required) => `--${name}${several(required)}`,
  },
  integers: {
    ...simple(
      "Integer[]",
      "list[int]",
      "",
      { type: "array", items: { type: "integer" } },
      fc.array(whole, { minLength: 1, maxLength: 3 }),
    ),
    sh: (name, required) => `--${name}${several(required)} <INT>`,
  },
  choices: {
    ...simple(
      `("a" | "b")[]`,
      `list[Literal["a", "b"]]`,
      "",
      { type: "array", items: { type: "string", enum: ["a", "b"] } },
      fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 3 }),
    ),
    sh: (name, required) => `--${name}${several(required)}[a|b]`,
  },
};

/** Defaults, as each language writes them. */
const DEFAULTS: Readonly<
  Record<string, readonly { readonly value: unknown; readonly code: string; readonly sh: string }[]>
> = {
  text: ["plain", "two words", "10 µm"].map((value) => ({
    value,
    code: JSON.stringify(value),
    sh: `=${JSON.stringify(value)}`,
  })),
  integer: [0, 10, -3].map((value) => ({ value, code: String(value), sh: `=${value}` })),
  number: [0.5, 2.25].map((value) => ({ value, code: String(value), sh: `=${value}` })),
  boolean: [{ value: false, code: "false", sh: "" }],
};

interface Declared {
  readonly name: string;
  readonly kind: string;
  readonly required: boolean;
  readonly fallback: number | undefined;
  readonly description: string;
}

const words = fc.array(
  fc.constantFrom("Number", "of", "results,", "e.g.", "20%", "(at", "most)", "— größer", "it's", "a:b"),
  { minLength: 1, maxLength: 6 },
);
const declared = fc
  .record({
    kind: fc.constantFrom(...Object.keys(KINDS)),
    required: fc.boolean(),
    fallback: fc.option(fc.nat(), { nil: undefined }),
    description: words.map((all) => all.join(" ")),
  })
  .map((field) => ({
    ...field,
    fallback: DEFAULTS[field.kind] === undefined || field.required ? undefined : field.fallback,
  }));
const declaration = fc
  .array(declared, { minLength: 0, maxLength: 5 })
  .map((fields): readonly Declared[] => fields.map((field, place) => ({ ...field, name: `${field.kind}_${place}` })));

function fallbackOf({ kind, fallback }: Declared) {
  const all = DEFAULTS[kind] ?? [];
  return fallback === undefined ? undefined : all[fallback % all.length];
}

function expectedSchema(fields: readonly Declared[]): object {
  const properties = fields.map((field) => {
    const fallback = fallbackOf(field);
    const { kind, name, description } = field;
    return [name, { ...KINDS[kind]?.schema, description, ...(fallback && { default: fallback.value }) }];
  });
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
}

/** Functions that return what they were given, as one text. */
function written(all: readonly (readonly Declared[])[]): Texts {
  const kindOf = ({ kind }: Declared): Kind => KINDS[kind] as Kind;
  const ts = all.map((fields, place) => {
    const lines = fields.map((field) => {
      const fallback = fallbackOf(field);
      const doc = `  /** ${field.description}${fallback ? `\n   * @default ${fallback.code}\n   ` : ""} */`;
      return `${doc}\n  ${field.name}${field.required ? "" : "?"}: ${kindOf(field).ts};`;
    });
    return `interface Args${place} {\n${lines.join("\n")}\n}\nexport function tool_${place}(args: Args${place}) {\n  return show(args, ${JSON.stringify(fields.map(({ name }) => name))});\n}`;
  });
  const js = all.map((fields, place) => {
    const lines = fields.map((field) => {
      const fallback = fallbackOf(field);
      const name = field.required ? field.name : `[${field.name}${fallback ? `=${fallback.code}` : ""}]`;
      return ` * @property {${kindOf(field).js}} ${name} - ${field.description}`;
    });
    const names = JSON.stringify(fields.map(({ name }) => name));
    if (fields.length === 0) return `export const tool_${place} = () => show({}, []);`;
    return `/**\n * @typedef {Object} Args${place}\n${lines.join("\n")}\n */\n/** @param {Args${place}} args */\nexport const tool_${place} = async (args) => show(args, ${names});`;
  });
  const py = all.map((fields, place) => {
    // Arguments without a default come first, or behind the star.
    const args = fields.map((field) => {
      const { py: type } = kindOf(field);
      const fallback = fallbackOf(field);
      if (field.required) return `${field.name}: ${type}`;
      const code = fallback?.code.replace("false", "False");
      return code === undefined ? `${field.name}: Optional[${type}] = None` : `${field.name}: ${type} = ${code}`;
    });
    const docs = fields.map(({ name, description }) => `        ${name}: ${description}`);
    const shown = fields.map(({ name }) => name).join(", ");
    return `def tool_${place}(${["*", ...args].slice(args.length === 0 ? 1 : 0).join(", ")}):\n    """Tool.\n\n    Args:\n${docs.join("\n")}\n    """\n    return _show([${shown}])\n`;
  });
  const sh = all.map((fields, place) => {
    const tags = fields.map((field) => {
      const fallback = fallbackOf(field);
      const [head = "", notation = ""] = kindOf(field)
        .sh(field.name, field.required)
        .split(/ (?=<)/);
      if (fallback && field.kind === "boolean") return `# @flag --${field.name} ${field.description}`;
      return `# @option ${head}${fallback?.sh ?? ""}${notation && ` ${notation}`} ${field.description}`;
    });
    const shown = fields.map(({ name, kind }) => {
      const isList = KINDS[kind]?.schema !== undefined && "items" in (KINDS[kind] as Kind).schema;
      return isList ? `\${argc_${name}[*]}` : `$argc_${name}`;
    });
    return `# @cmd Tool\n${tags.join("\n")}\ntool_${place}() {\n  local IFS=,\n  printf '%s' "${["got", ...shown, "end"].join("|")}"\n}`;
  });
  const show = (types: boolean): string => `
function show(args${types ? ": object" : ""}, names${types ? ": string[]" : ""}) {
  const text = (value${types ? ": unknown" : ""}) => value === undefined || value === false ? "" : value === true ? "1" : String(value);
  return ["got", ...names.map((name) => text(args[name${types ? " as keyof typeof args" : ""}])), "end"].join("|");
}`;
  return {
    ts: ["type Integer = number;", ...ts, show(true)].join("\n"),
    js: [...js, show(false)].join("\n"),
    py: [
      "from typing import Literal, Optional",
      ...py,
      `def _show(values):\n    text = lambda value: "" if value is None or value is False else "1" if value is True else ",".join(map(str, value)) if isinstance(value, list) else str(value)\n    return "|".join(["got", *map(text, values), "end"])\n`,
    ].join("\n"),
    sh: sh.join("\n\n"),
  };
}

// because Python is not installed everywhere; with CI=true its absence fails.
describe.skipIf(languagesMissing() !== undefined)(
  "the same declaration in TypeScript, JavaScript, Python and bash",
  () => {
    it("gives the listings of the seed one schema and one result [003-pattern-declarations]", async () => {
      await using arsenal = await inEachLanguage(SEARCH_WEB);
      const schema = {
        type: "object",
        properties: {
          query: { type: "string", description: "The search query" },
          num_results: { type: "integer", description: "Number of results", default: 10 },
        },
        required: ["query"],
        additionalProperties: false,
      };
      expect(await schemas(arsenal, "search_web")).toEqual(EXTENSIONS.map(() => schema));
      expect(await results(arsenal, "search_web", { query: "cats" })).toEqual(
        EXTENSIONS.map(() => ({ query: "cats", num_results: 10 })),
      );
    });

    it("has one schema, whatever is declared [003-pattern-declarations]", async () => {
      const all = fc.sample(declaration, { numRuns: 200, seed: 15 });
      await using arsenal = await inEachLanguage(written(all));
      for (const [place, fields] of all.entries())
        expect(await schemas(arsenal, `tool_${place}`)).toEqual(EXTENSIONS.map(() => expectedSchema(fields)));
    });

    it("has one result, whatever it is given [003-pattern-declarations]", async () => {
      const all = fc.sample(declaration, { numRuns: 6, seed: 16 });
      await using arsenal = await inEachLanguage(written(all));
      for (const [place, fields] of all.entries()) {
        const given = fields.filter(({ required }, index) => required || index % 2 === 0);
        const values = given.map(({ kind, name }) => [name, KINDS[kind]?.value ?? fc.constant("")] as const);
        const [args = {}] = fc.sample(fc.record(Object.fromEntries(values)), { numRuns: 1, seed: place });
        const found = await results(arsenal, `tool_${place}`, args);
        expect(found).toEqual(EXTENSIONS.map(() => found[0]));
        expect(found[0]).toMatch(/^got\|.*end$/s);
      }
    });
  },
);
