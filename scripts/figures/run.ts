/** `npm run figures`: measures what README and docs quote, records it in docs/figures.json, and updates the quotes. */
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, type } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { GROUPS } from "./groups.ts";
import { withFigures } from "./quotes.ts";
import { changedInputs, digestsOf, type FigureGroup, FIGURES_FILE, readFigures, ROOT } from "./recorded.ts";

const HELP = `npm run figures [-- GROUP…] [--shared FOLDER]

Measures the figures that README and docs quote, writes them to ${FIGURES_FILE} with date, commit, machine and load, and updates the pages. Without a
group, it measures the stale ones and says which those are. Groups: ${Object.keys(GROUPS).join(", ")}.

--shared FOLDER   labelled sets that are not in the repository (default: ../shared). "source" in ${FIGURES_FILE} names them.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { shared: { type: "string", default: "../shared" }, help: { type: "boolean", default: false } },
});

function machine(): string {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model.trim() ?? "unknown processor"}, ${type()} ${release()}, Node ${process.versions.node}`;
}

function commit(): string {
  const git = (...parameters: readonly string[]): string =>
    execFileSync("git", parameters, { cwd: ROOT, encoding: "utf8" }).trim();
  const isClean = git("status", "--porcelain", "--untracked-files=no") === "";
  return `${git("rev-parse", "--short=12", "HEAD")}${isClean ? "" : " with changes"}`;
}

function measure(name: string): FigureGroup {
  const group = GROUPS[name];
  if (group === undefined) throw new Error(`There is no group ${name}. Use one of ${Object.keys(GROUPS).join(", ")}.`);
  if (group.source !== undefined && !existsSync(join(values.shared, "eval")))
    throw new Error(
      `${name} needs ${join(values.shared, "eval")}, which does not exist. Give its folder: --shared FOLDER.`,
    );
  const measured = group.measure({ shared: values.shared });
  return {
    command: group.command,
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
    machine: machine(),
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
    inputs: digestsOf(group.inputs),
    ...(group.source === undefined ? {} : { source: group.source }),
    values: measured,
  };
}

function main(): void {
  if (values.help) return console.log(HELP);
  const recorded = readFigures();
  const isStale = (name: string): boolean => recorded[name] === undefined || changedInputs(recorded[name]).length > 0;
  const wanted = positionals.length > 0 ? positionals : Object.keys(GROUPS).filter(isStale);
  if (wanted.length === 0) console.log("Every figure is up to date.");
  let figures = recorded;
  for (const name of wanted) {
    console.log(`${name}: ${GROUPS[name]?.command ?? "?"}`);
    figures = { ...figures, [name]: measure(name) };
    // After each group, so that a failure later loses nothing.
    writeFileSync(ROOT + FIGURES_FILE, `${JSON.stringify(figures, null, 2)}\n`);
  }
  for (const path of ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT })]) {
    const text = readFileSync(ROOT + path, "utf8");
    const updated = withFigures(text, figures);
    if (updated === text) continue;
    writeFileSync(ROOT + path, updated);
    console.log(`updated ${path}`);
  }
}

try {
  main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
