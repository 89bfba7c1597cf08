import { type Citation, citations } from "../test/requirements/citations.ts";
import { type Requirement, requirements } from "../test/requirements.ts";

/** The five source documents, by the number that starts the ids of their requirements. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  "000": "The platform: retrieval, routing, security, execution, MCP, A2A, configuration, command line",
  "001": "Ensembles and invokers: tools that share a lifecycle",
  "002": "The tool service: MCP client, registry, sandboxes and skills, in Effect",
  "003": "Toolsets: one tool type for every protocol, and curated views",
  "004": "Armaments: a catalog of MCP servers for agents",
};

/** docs/reference/requirements.md: every requirement with a test that shows it, written from the rows and from the names of the tests. */
export function requirementsPage(): string {
  const inPart = requirements.filter(({ notShown }) => notShown !== undefined).length;
  const byId = Map.groupBy(citations(), ({ id }) => id);
  const sections = Object.entries(DOCUMENTS).map(([seed, title]) => {
    const rows = requirements
      .filter((row) => row.seed === seed)
      .toSorted((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }));
    return [
      `## ${seed}. ${title}`,
      "",
      "| requirement | what the program does | test that shows it |",
      "|---|---|---|",
      ...rows.map((row) => rowText(row, byId.get(row.id) ?? [])),
      "",
    ].join("\n");
  });
  return [
    "# Requirements",
    "",
    "*For reviewers who want proof before they rely on ToolArsenal.*",
    "",
    "Five documents specify what it does. This page lists each requirement with a test that shows it.",
    "",
    `There are ${requirements.length} requirements, and tests show all of them, ${inPart} only in part: the rows of these say what is missing. Run a test by its file: \`npx vitest run FILE\`. ` +
      "Tests cite the ids in square brackets at the end of their names. `npm run derive` writes this page from those names, and a test fails if a requirement has no test or the page is out of date.",
    "",
    ...sections,
    "## Read next",
    "",
    "- [Versions](versions.md): what a release promises",
    "- [Runtimes](runtimes.md): where the package has been run",
    "- [Security](../concepts/security.md): what is protected, and what is not",
    "",
  ].join("\n");
}

function rowText({ id, behaviour, notShown }: Requirement, cited: readonly Citation[]): string {
  const [first] = cited;
  const others = cited.length > 1 ? ` (and ${cited.length - 1} more)` : "";
  if (first === undefined) throw new Error(`No test cites ${id}.`);
  const shown = `\`${first.path}\`: ${escaped(first.test)}${others}`;
  const gap = notShown === undefined ? "" : ` **In part.** ${escaped(notShown)}`;
  return `| \`${id}\` | ${escaped(behaviour)}${gap} | ${shown} |`;
}

/** Text in a cell of a table, as it is: names of tests contain `|`, `$` of templates and angle brackets. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_<>|{}[\]]/g, (sign) => `\\${sign}`);
}
