import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/*
 * How long `import("toolarsenal")` takes, over an empty program: both are started anew each time, in turn, so that load on the machine hits
 * them alike. The built package is what users load; the source is what this repository runs.
 */
const HELP = `node bench/import.ts [--runs 15]

Prints the median time of a program that imports the package, over an empty one, and how many of the package's modules it loads. The built package
is measured if there is one (npm run build). It should take at most 60 ms over an empty program on an idle core; on a busy machine, compare the
processor times.`;

/** Prints the processor time of a program: on a busy machine it says more than the clock. */
const USED = "const c = process.cpuUsage(); console.log((c.user + c.system) / 1000)";

const { values } = parseArgs({ options: { runs: { type: "string", default: "15" }, help: { type: "boolean" } } });
if (values.help === true) console.log(HELP);
else measure(Number(values.runs));

function measure(runs: number): void {
  const built = new URL("../dist/index.js", import.meta.url);
  const source = new URL("../src/index.ts", import.meta.url);
  const programs = new Map([["empty program", ""]]);
  if (existsSync(fileURLToPath(built))) programs.set("dist/index.js", importing(built));
  else console.error("There is no dist/: run npm run build to measure the package as users load it.");
  programs.set("src/index.ts", importing(source));

  const times = new Map([...programs.keys()].map((name) => [name, [] as number[]]));
  const processor = new Map([...programs.keys()].map((name) => [name, [] as number[]]));
  for (let run = 0; run <= runs; run++)
    for (const [name, program] of programs) {
      const started = performance.now();
      const used = Number(execFileSync(process.execPath, ["--input-type=module", "--eval", `${program};${USED}`]));
      // The first round fills the disk cache.
      if (run === 0) continue;
      times.get(name)?.push(performance.now() - started);
      processor.get(name)?.push(used);
    }

  const baseline = median(times.get("empty program") ?? []);
  const usedByBaseline = median(processor.get("empty program") ?? []);
  console.log(
    `empty program: ${baseline.toFixed(0)} ms, processor ${usedByBaseline.toFixed(0)} ms (baseline, median of ${runs} runs)`,
  );
  for (const [name, program] of programs) {
    if (program === "") continue;
    const over = median(times.get(name) ?? []) - baseline;
    const least = Math.min(...(times.get(name) ?? [])) - Math.min(...(times.get("empty program") ?? []));
    const used = median(processor.get(name) ?? []) - usedByBaseline;
    console.log(
      `${name}: ${over.toFixed(0)} ms over the baseline (least of each: ${least.toFixed(0)} ms), processor ${used.toFixed(0)} ms over it, ${modulesOf(program)} modules`,
    );
  }
}

function importing(url: URL): string {
  return `await import(${JSON.stringify(url.href)})`;
}

/** How many files of the package a program loads. */
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
