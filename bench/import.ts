import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

/*
 * How long `import("toolarsenal")` takes, and a first search and call, compared with an empty program. All are started in turn, so that load
 * on the machine affects them alike. Users load the built package; this repository runs the source.
 */
const HELP = `node bench/import.ts [--runs 15] [--against FOLDER]

Prints the median time of a program that imports the package, over an empty one, and how many of the package's modules it loads. It should take at
most 60 ms over an empty program on an idle core. Also prints the time of one that imports it, registers three functions, searches and executes one.
On a busy machine, compare the processor times.

The built package is measured if there is one (npm run build). With --against, a built package in another folder, such as the dist/ of another
checkout, is measured in the same run.`;

/** Prints the processor time of a program: more reliable than the clock on a busy machine. */
const USED = "const c = process.cpuUsage(); console.log((c.user + c.system) / 1000)";

const EMPTY = "empty program";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "15" }, against: { type: "string" }, help: { type: "boolean" } },
});
if (values.help === true) console.log(HELP);
else measure(Number(values.runs), values.against);

function measure(runs: number, against: string | undefined): void {
  const programs = new Map([[EMPTY, ""]]);
  const built = fileURLToPath(new URL("../dist", import.meta.url));
  if (!existsSync(built)) console.error("Run npm run build to measure the package as users load it.");
  for (const [name, folder] of [
    ["dist", built],
    [against ?? "", resolve(against ?? "")],
  ] as const) {
    if (name === "" || !existsSync(folder)) continue;
    const root = pathToFileURL(`${folder}/index.js`);
    programs.set(`${name}: import`, importing(root));
    programs.set(`${name}: import, register, search and execute`, using(root));
  }
  programs.set("src: import", importing(new URL("../src/index.ts", import.meta.url)));

  const times = new Map(
    [...programs.keys()].map((name) => [name, { clock: [] as number[], processor: [] as number[] }]),
  );
  for (let run = 0; run <= runs; run++)
    for (const [name, program] of programs) {
      const started = performance.now();
      const used = Number(execFileSync(process.execPath, ["--input-type=module", "--eval", `${program};${USED}`]));
      // The first round fills the disk cache.
      if (run === 0) continue;
      times.get(name)?.clock.push(performance.now() - started);
      times.get(name)?.processor.push(used);
    }

  const empty = times.get(EMPTY) ?? { clock: [], processor: [] };
  console.log(
    `${EMPTY}: ${median(empty.clock).toFixed(0)} ms, processor ${median(empty.processor).toFixed(0)} ms (baseline, median of ${runs} runs)`,
  );
  for (const [name, { clock, processor }] of times) {
    if (name === EMPTY) continue;
    const over = median(clock) - median(empty.clock);
    const least = Math.min(...clock) - Math.min(...empty.clock);
    const used = median(processor) - median(empty.processor);
    const modules = modulesOf(programs.get(name) ?? "");
    console.log(
      `${name}: ${over.toFixed(0)} ms over the baseline (least of each: ${least.toFixed(0)} ms), processor ${used.toFixed(0)} ms over it, ${modules} modules`,
    );
  }
}

function importing(root: URL): string {
  return `const { ToolArsenal } = await import(${JSON.stringify(root.href)})`;
}

/** A program that finds one of three functions and calls it. */
function using(root: URL): string {
  return `${importing(root)};
    const arsenal = new ToolArsenal();
    const parameters = { type: "object", properties: { x: { type: "number" } } };
    for (const name of ["double", "triple", "halve"])
      arsenal.register({ name, description: "Applies " + name + " to a number.", parameters }, ({ x }) => x);
    const { tools } = await arsenal.retrieve({ context: { query: "double a number" } });
    const { status } = await arsenal.execute({ toolName: tools[0].tool.id, arguments: { x: 2 } });
    if (status !== "success") throw new Error(status);
    await arsenal.close()`;
}

/** The number of the package's files that a program loads. */
function modulesOf(program: string): number {
  const counted = `import { registerHooks } from "node:module";
    let modules = 0;
    registerHooks({ load(url, context, next) { modules += url.startsWith("file:") ? 1 : 0; return next(url, context); } });
    ${program};
    console.log(modules);`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "--eval", counted], { encoding: "utf8" }));
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}
