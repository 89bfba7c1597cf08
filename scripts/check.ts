import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Step {
  readonly name: string;
  readonly commands: readonly (readonly string[])[];
}

const NODE = process.execPath;
const BUILT = pathToFileURL(join(ROOT, "dist/index.js")).href;

const STEPS: readonly Step[] = [
  { name: "lint", commands: [["oxlint", "--deny-warnings"]] },
  { name: "format", commands: [["oxfmt", "--check"]] },
  {
    name: "types",
    commands: [
      ["tsc", "--noEmit"],
      ["tsc", "--noEmit", "-p", "dashboard"],
    ],
  },
  { name: "build", commands: [["npm", "run", "--silent", "build"]] },
  {
    name: "package",
    commands: [
      [NODE, "--input-type=module", "--eval", `await import(${JSON.stringify(BUILT)})`],
      [NODE, "dist/cli/main.js", "--version"],
      [NODE, "scripts/package/size.ts"],
      [NODE, "scripts/package/check.ts"],
    ],
  },
];

const HELP = `npm run check [-- --built] [-- --help]

Everything but the tests; with --built, dist is there already. Runs, in this order, and stops at the first that fails:
${STEPS.map(({ name, commands }) => `  ${name.padEnd(16)}${commands.map(shown).join(" && ")}`).join("\n")}
`;

/** A command as typed. */
function shown(command: readonly string[]): string {
  const [program = "", ...rest] = command;
  const words = rest.map((word) => word.replace(BUILT, "./dist/index.js"));
  return [program === NODE ? "node" : program, ...words]
    .map((word) => (/\s/.test(word) ? `'${word}'` : word))
    .join(" ");
}

/** Runs a step. Undefined on success, its output otherwise. */
function failureOf({ commands }: Step): string | undefined {
  const PATH = [join(ROOT, "node_modules/.bin"), process.env["PATH"] ?? ""].join(delimiter);
  for (const command of commands) {
    const [program = "", ...rest] = command;
    const { status, error, stdout, stderr } = spawnSync(program, rest, {
      cwd: ROOT,
      encoding: "utf8",
      env: { ...process.env, PATH },
      maxBuffer: 256 * 1024 * 1024,
    });
    if (status !== 0) return [`$ ${shown(command)}`, stdout, stderr, error?.message].filter(Boolean).join("\n");
  }
  return undefined;
}

function main(): void {
  const { values } = parseArgs({ options: { built: { type: "boolean", default: false }, help: { type: "boolean" } } });
  if (values.help === true) {
    console.log(HELP);
    return;
  }
  for (const step of STEPS.filter(({ name }) => name !== "build" || !values.built)) {
    const started = performance.now();
    const failure = failureOf(step);
    const took = `${((performance.now() - started) / 1000).toFixed(1)} s`;
    console.log(`${failure === undefined ? "ok    " : "FAILED"}  ${step.name.padEnd(16)}${took.padStart(8)}`);
    if (failure !== undefined) {
      console.error(failure);
      process.exitCode = 1;
      return;
    }
  }
}

main();
