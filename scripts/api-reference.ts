/** Writes docs/reference/api, a page for each entry point, from the sources' doc comments and the checked programs of the docs. */
import { posix } from "node:path";
import {
  bodyOf,
  commentOf,
  type Declaration,
  declarationOf,
  type EntryPoint,
  entryPoints,
  isType,
  signatureOf,
  tidy,
} from "./api/declarations.ts";
import { exampleOf, linkTo, type Program, programs } from "./api/programs.ts";
import { type TypeExample, typeExamples } from "./api/type-examples.ts";

export { entryPoints };

const code = (text: string): string =>
  `<!-- nocheck: a line of a program that is checked where it stands -->\n\`\`\`ts nocheck\n${text.trimEnd()}\n\`\`\``;

/** The path of the page of an entry point. */
export const pageOf = (entry: string): string =>
  `docs/reference/api/${entry === "toolarsenal" ? "toolarsenal" : entry.slice("toolarsenal/".length).replaceAll("/", "-")}.md`;

/** A sentence about a type: its doc comment, or else what can be said from its name and its text. */
function aboutType(name: string, declared: Declaration | undefined, user: string | undefined): string {
  if (declared === undefined || declared.about !== "") return declared?.about ?? "";
  if (name.endsWith("Config")) return "A part of the [configuration](../configuration.md).";
  const [, alias = ""] = /^\w+ =\s*([^;]*);/.exec(declared.text) ?? [];
  if (declared.kind === "type" && alias !== "" && alias.length <= MOST_CHARACTERS) return `\`${tidy(alias)}\``;
  return name.endsWith("Options") && user !== undefined ? `The options of \`${user}\`.` : "";
}

const MOST_CHARACTERS = 100;

/** The methods and properties of a class, each with the first sentence about it. */
function membersTable(text: string): string {
  const body = text.slice(0, text.search(/^\}/m));
  const found = body.matchAll(
    /^ {2}\/\*\*(?<doc>(?:(?!\*\/)[^])*)\*\/\n {2}(?:static |async |readonly |get )*(?<name>[a-z]\w*)/gm,
  );
  const rows = [...found].map(({ groups = {} }) => {
    const { about } = commentOf(`/**${groups["doc"] ?? ""}*/`);
    return `| \`${groups["name"] ?? ""}\` | ${about.replaceAll("|", "\\|")} |`;
  });
  return rows.length === 0 ? "" : `| member | |\n|---|---|\n${[...new Set(rows)].join("\n")}`;
}

interface Examples {
  readonly programs: readonly Program[];
  readonly ofTypes: ReturnType<typeof typeExamples>;
}

let examples: Examples | undefined;

function knownExamples(): Examples {
  if (examples === undefined) {
    const all = programs();
    examples = { programs: all, ofTypes: typeExamples(entryPoints(), all) };
  }
  return examples;
}

/** The cell of a type's example: a link, and the types through which it is reached. */
function exampleCell(page: string, { target, through }: TypeExample): string {
  const link =
    "value" in target
      ? `[${target.value}](${pageOf(target.entry) === page ? "" : posix.basename(pageOf(target.entry))}#${target.value.toLowerCase()})`
      : linkTo(page, target);
  return through.length === 0 ? link : `${link}, in ${through.map((name) => `\`${name}\``).join(" → ")}`;
}

/** The page of an entry point. */
export function apiPage({ entry, path, values, types }: EntryPoint): string {
  const { programs: all, ofTypes } = knownExamples();
  const page = pageOf(entry);
  const declared = new Map([...values, ...types].map((name) => [name, declarationOf(path, name)]));
  const shown = values.filter((name) => !isType(declared.get(name)));
  const sections = shown.map((name) => {
    const { about = "", kind = "", text = "", example } = declared.get(name) ?? {};
    const found = exampleOf(all, entry, name);
    const signature = kind === "function" ? `\`${signatureOf(text)}\`` : "";
    const shownExample =
      example !== undefined
        ? code(example)
        : found === undefined
          ? ""
          : `${code(`import { ${name} } from "${entry}";\n\n${found.line}`)}\n\nThe whole program: ${linkTo(page, found)}.`;
    const members = kind === "class" ? membersTable(text) : "";
    return [`## ${name}`, about, signature, members, shownExample].filter((part) => part !== "").join("\n\n");
  });
  const rows = [...values.filter((name) => isType(declared.get(name))), ...types].map((name) => {
    const user = shown.find((value) => new RegExp(`\\b${name}\\b`).test(signatureOf(declared.get(value)?.text ?? "")));
    const container = types.find(
      (other) => other !== name && new RegExp(`\\b${name}\\b`).test(bodyOf(declared.get(other))),
    );
    const about = aboutType(name, declared.get(name), user ?? container).replaceAll("|", "\\|");
    const example = ofTypes.get(entry)?.get(name);
    return `| \`${name}\` | ${about} | ${example === undefined ? "" : exampleCell(page, example)} |`;
  });
  return (
    [
      `# ${entry}`,
      "*For developers who look up a function or a type.*",
      `Everything that \`${entry}\` exports, from its doc comments. The examples are lines of programs elsewhere in these pages, which tests compile or run. A type leads to a program that uses it, or to what takes or returns it.`,
      ...sections,
      ...(rows.length === 0 ? [] : [`## Types\n\n| type | about | example |\n|---|---|---|\n${rows.join("\n")}`]),
      `## Read next\n\n- [Entry points](../exports.md): every subpath of the package\n- [Errors](../errors.md): what these functions throw\n- [Versions](../versions.md): what stays as it is`,
    ].join("\n\n") + "\n"
  );
}

/** The page that lists the pages of all entry points. */
export function apiIndex(): string {
  const rows = entryPoints().map(({ entry, values, types }) => {
    const names = values.slice(0, 6).map((name) => `\`${name}\``);
    const rest = values.length + types.length - names.length;
    return `| [${entry}](${posix.basename(pageOf(entry))}) | ${names.join(", ")}${rest > 0 ? ` and ${rest} more` : ""} |`;
  });
  return `# Every export

*For developers who look up a function or a type by its name.*

| entry point | exports |
|---|---|
${rows.join("\n")}

## Read next

- [Small functions by example](../examples.md): helpers that no guide needs
- [Entry points](../exports.md): what each subpath is for
- [Tools](../../guides/tools.md): the first thing to import
`;
}

/** Exports without an example, for a check: functions whose section shows none, and types whose row leads to none. */
export function withoutExample(
  pages = entryPoints().map((point) => ({ entry: point.entry, text: apiPage(point) })),
): readonly string[] {
  return pages.flatMap(({ entry, text }) => {
    const sections = text
      .split(/^## /m)
      .slice(1)
      .filter((section) => !/^(?:Types|Read next)\n/.test(section) && !section.includes("```ts"));
    const rows = text.matchAll(/^\| `(\w+)` \|(?:[^|]|\\\|)*\| +\|$/gm);
    return [
      ...sections.map((section) => section.slice(0, section.indexOf("\n"))),
      ...[...rows].map(([, name = ""]) => name),
    ].map((name) => `${entry}: ${name}`);
  });
}
