// Tries the packed package on every runtime of runtimes.ts and prints a table; --write puts it into docs/reference/runtimes.md.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../repo/project.ts";
import { type Check, CHECKS, type Runtime, RUNTIMES } from "./runtimes.ts";

const HELP = `npm run runtimes [-- --write] [--only NAME] [--keep]

Packs the package (run npm run build first), installs it and each runtime from npm into a folder of its own, and tries its parts on them. Needs Linux
on x64 and the npm registry. --only tries runtimes whose name and version contain a text, --write changes docs/reference/runtimes.md.
`;
const PAGE = join(ROOT, "docs/reference/runtimes.md");
const MARKS = /(<!-- runtimes -->\n)[^]*?(<!-- \/runtimes -->)/;
const LIMIT_MS = 120_000;

const { values } = parseArgs({
  options: {
    write: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    keep: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** Runs a program to its end. Returns its output; throws with the last lines that it printed if it fails. */
function run(program: string, parameters: readonly string[], cwd: string, environment: object = {}): string {
  const { status, signal, stdout, stderr, error } = spawnSync(program, parameters, {
    cwd,
    encoding: "utf8",
    timeout: LIMIT_MS,
    env: { ...process.env, HOME: cwd, XDG_CACHE_HOME: join(cwd, ".cache"), ...environment },
  });
  if (status === 0) return stdout;
  throw new Error(error?.message ?? `${signal ?? `exit ${status}`}: ${stderr || stdout}`);
}

/** The message of the error that a failed program printed, in one line. */
function reasonOf(error: unknown): string {
  const text = (error as Error).message;
  return (/(?:\w*Error|error)(?: \[\w+\])?: .+/.exec(text)?.[0] ?? text.trim().split("\n").at(-1) ?? "").slice(0, 160);
}

/** Tries a part on a runtime. Undefined if it works, the reason if it does not. */
function failureOf(check: Check, runtime: Runtime, program: string, project: string): string | undefined {
  const file = check.file ?? "node_modules/toolarsenal/dist/cli/main.js";
  try {
    const parameters = [...runtime.parameters, file, ...(check.command ?? [])];
    const output = run(program, parameters, project, { RUNTIMES_NODE: process.execPath });
    return check.prints?.test(output) === false ? `It printed ${JSON.stringify(output.slice(0, 80))}.` : undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function main(folder: string): void {
  const [project, programs] = [join(folder, "project"), join(folder, "programs")];
  for (const made of [project, programs]) {
    mkdirSync(made);
    writeFileSync(join(made, "package.json"), '{ "private": true, "type": "module" }');
  }
  run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], ROOT, { HOME: folder });
  const archive = join(folder, `toolarsenal-${versionOf(ROOT)}.tgz`);
  run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", archive], project);
  cpSync(join(import.meta.dirname, "checks"), project, { recursive: true });

  const chosen = RUNTIMES.filter(({ name, version }) => `${name} ${version}`.includes(values.only));
  const aliases = chosen.map((each, at) => [`runtime-${at}`, `npm:${each.package}@${each.version}`] as const);
  const specifications = aliases.map(([alias, packageName]) => `${alias}@${packageName}`);
  run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--force", ...specifications], programs);

  const reasons: string[] = [];
  const columns = chosen.map((runtime, at) => {
    const program = join(programs, "node_modules", `runtime-${at}`, runtime.program);
    return CHECKS.map((check) => {
      const reason = failureOf(check, runtime, program, project);
      console.log(`${reason === undefined ? "ok    " : "FAILED"}  ${runtime.name} ${runtime.version}  ${check.title}`);
      if (reason === undefined) return "yes";
      console.log(`        ${reason}`);
      reasons.push(`- ${runtime.name} ${runtime.version}, ${check.title}: \`${reason.replaceAll("`", "'")}\``);
      return "**no**";
    });
  });
  const titles = chosen.map(({ name, version }) => `${name} ${version}`);
  const table = [
    `| part | ${titles.join(" | ")} |`,
    `|---|${titles.map(() => "---").join("|")}|`,
    ...CHECKS.map(({ title }, row) => `| ${title} | ${columns.map((column) => column[row]).join(" | ")} |`),
    "",
    ...(reasons.length === 0 ? [] : [...reasons, ""]),
    `Tried on ${new Date().toISOString().slice(0, 10)}, Linux on x64.`,
    "",
  ].join("\n");
  console.log(`\n${table}`);
  if (values.write)
    writeFileSync(
      PAGE,
      readFileSync(PAGE, "utf8").replace(MARKS, (_, start, end) => `${start}${table}${end}`),
    );
  // Node is what the package promises; other runtimes are listed as they are.
  if (chosen.some(({ name }, at) => name === "Node" && columns[at]?.includes("**no**"))) process.exitCode = 1;
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { readonly version: string }).version;
}

if (values.help) console.log(HELP);
else {
  const folder = mkdtempSync(join(tmpdir(), "runtimes-"));
  try {
    main(folder);
  } finally {
    if (values.keep) console.log(`Kept: ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}
