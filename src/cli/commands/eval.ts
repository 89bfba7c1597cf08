import { resolve } from "node:path";
import { TIERS } from "../../adapters/embedders/shipped-tiers.ts";
import { defaultCache } from "../../adapters/embedders/cached.ts";
import { ToolArsenal } from "../../arsenal.ts";
import type { RoutingConfig } from "../../config/config.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { answerQueries } from "../../eval/answer-queries.ts";
import type { Answer } from "../../eval/answer.ts";
import { compareAnswers, type Comparison } from "../../eval/compare.ts";
import { drawSizes } from "../../eval/draw-sizes.ts";
import { explainMisses } from "../../eval/suggest/explain-misses.ts";
import { knownTools } from "../../eval/known-tools.ts";
import type { Miss } from "../../eval/suggest/misses.ts";
import { openOutput, type OutputFile } from "../../eval/output-file.ts";
import { readQueries, readTools, type SetQuery, type SetTool } from "../../eval/read-set.ts";
import { setSource } from "../../eval/set-source.ts";
import { showComparison, showFigures, showMisses, showSuggestions } from "../terminal/show-eval.ts";
import { suggest, type Suggestion } from "../../eval/suggest/suggest.ts";
import { reportOn, type SetReport } from "../../eval/summarise.ts";
import { configPath } from "../arsenal/open-arsenal.ts";
import { createProgressBar, type ProgressBar } from "../terminal/progress.ts";

/** `toolarsenal eval` */
export const evaluate: Command = {
  name: "eval",
  summary: "Measure retrieval on your own tools and queries.",
  positionals: [],
  options: {
    tools: {
      type: "string",
      value: "FILE",
      description: "Tools, one JSON object per line: id, name, namespace, description, parameters",
    },
    queries: {
      type: "string",
      value: "FILE",
      description: "Queries, one JSON object per line: id, query, relevant; optional: also_ok, history, style",
    },
    tier: {
      type: "string",
      value: "TIER",
      description: `What ranks: ${TIERS.join(", ")}`,
      fallback: "the best there is",
    },
    misses: {
      type: "string",
      value: "FILE|-",
      description: "Write the missed queries and why: JSON lines to a file, or text to stderr with -",
    },
    compare: {
      type: "string",
      value: "CONFIG",
      description: "Run this configuration too, and print what differs, with 95 % intervals",
    },
    "compare-tier": {
      type: "string",
      value: "TIER",
      description: "Run this tier too, and print what differs, with 95 % intervals",
    },
    report: { type: "string", value: "FILE", description: "Write an HTML page with figures, plots and misses" },
    suggest: {
      type: "boolean",
      description: "Suggest better descriptions for tools that are confused or hard to find; needs no queries",
    },
  },
  examples: [
    "eval --tools tools.jsonl --queries queries.jsonl",
    "eval --tools tools.jsonl --queries queries.jsonl --misses - --report report.html",
    "eval --tools tools.jsonl --queries queries.jsonl --config a.yaml --compare b.yaml",
    "eval --tools tools.jsonl --suggest",
  ],
  async run(input, terminal) {
    const plan = await readPlan(input, terminal);
    const run = await measure(plan.a, plan, terminal);
    const other = plan.b && (await measure(plan.b, { ...plan, explains: false, suggests: false }, terminal));
    const comparison = run.report && other?.report ? await compare(run, other, terminal) : undefined;
    const { report, misses, suggestions } = run;
    const json = {
      ...(report ?? { tools: plan.tools.length }),
      ...(comparison ? { comparison } : {}),
      ...(suggestions ? { suggestions } : {}),
    };
    if (input.json || !terminal.out.isTTY) terminal.out.write(`${JSON.stringify(json)}\n`);
    else {
      terminal.out.write(
        (report ? showFigures(report, terminal) : `tools  ${plan.tools.length}\n`) +
          (comparison && report ? showComparison(comparison, report, terminal) : "") +
          (suggestions ? showSuggestions(suggestions, terminal) : ""),
      );
    }
    if (plan.misses === "-") terminal.err.write(showMisses(misses, terminal));
    else await plan.misses?.write(misses.map((miss) => `${JSON.stringify(miss)}\n`).join(""));
    if (plan.report && report) {
      const { reportPage } = await import("../../eval/report/report-page.ts");
      await plan.report.write(
        reportPage({
          toolsFile: String(input.options["tools"]),
          queriesFile: String(input.options["queries"]),
          toolCount: plan.tools.length,
          report,
          misses,
          comparison,
          suggestions,
          runs: [run, ...(other ? [other] : [])].map(({ system, answers, report: own }) => ({
            ...system,
            tier: own?.tier ?? "",
            answers,
          })),
        }),
      );
      if (!input.json) terminal.err.write(`Report: ${plan.report.path}\n`);
    }
    return 0;
  },
};

/** What to rank with. */
interface System {
  /** As the user wrote it; undefined where defaults apply. */
  readonly config: string | undefined;
  readonly routing: RoutingConfig;
  readonly tier: Tier | undefined;
}

interface Plan {
  readonly tools: readonly SetTool[];
  /** Undefined where only the tools are looked at. */
  readonly queries: readonly SetQuery[] | undefined;
  readonly a: System;
  readonly b: System | undefined;
  readonly misses: OutputFile | "-" | undefined;
  readonly report: OutputFile | undefined;
  /** Whether misses are asked for, anywhere. */
  readonly explains: boolean;
  readonly suggests: boolean;
}

/** A system over the set. */
interface Run {
  readonly system: System;
  readonly answers: readonly Answer[];
  readonly report: SetReport | undefined;
  readonly misses: readonly Miss[];
  readonly suggestions: readonly Suggestion[] | undefined;
}

type Tier = (typeof TIERS)[number];

/** Reads everything the command line names, before anything is measured. */
async function readPlan(input: Input, terminal: Terminal): Promise<Plan> {
  const tier = readTier(input, "tier");
  const tierB = readTier(input, "compare-tier");
  const suggests = input.options["suggest"] === true;
  const [misses, report] = [input.options["misses"], input.options["report"]];
  const compared = input.options["compare"];
  const tools = await readTools(file(input, terminal, "tools"));
  const hasQueries = typeof input.options["queries"] === "string";
  const needsQueries = ["misses", "compare", "compare-tier", "report"].some(
    (name) => input.options[name] !== undefined,
  );
  const queries =
    hasQueries || needsQueries || !suggests
      ? await readQueries(file(input, terminal, "queries"), new Set(tools.map(({ id }) => id)))
      : undefined;
  const config = configPath(input, terminal);
  const a: System = {
    config: input.config ?? (config === undefined ? undefined : "arsenal.yaml"),
    routing: await configuredRouting(config, terminal),
    tier,
  };
  const b =
    typeof compared === "string"
      ? {
          config: compared,
          routing: await configuredRouting(resolve(terminal.folder, compared), terminal),
          tier: tierB ?? tier,
        }
      : tierB && { ...a, tier: tierB };
  return {
    tools,
    queries,
    a,
    b,
    misses:
      misses === "-"
        ? "-"
        : typeof misses === "string"
          ? await openOutput("--misses", misses, terminal.folder)
          : undefined,
    report: typeof report === "string" ? await openOutput("--report", report, terminal.folder) : undefined,
    explains: misses !== undefined || report !== undefined,
    suggests,
  };
}

function readTier(input: Input, option: "tier" | "compare-tier"): Tier | undefined {
  const value = input.options[option];
  if (value === undefined) return undefined;
  const tier = TIERS.find((known) => known === value);
  if (tier !== undefined) return tier;
  const fix = `Use ${TIERS.join(", ")}.`;
  throw new ArsenalError("INPUT_INVALID", `--${option}: there is no tier "${String(value)}". ${fix}`, {
    field: `--${option}`,
    value,
    fix,
  });
}

/** How a configuration ranks. Its tools and stores are left alone: the files say which tools there are. */
async function configuredRouting(path: string | undefined, terminal: Terminal): Promise<RoutingConfig> {
  if (path === undefined) return {};
  const { loadConfig } = await import("../../config/load/load-config.ts");
  return (await loadConfig(path, terminal.environment)).config.routing;
}

function file(input: Input, terminal: Terminal, option: "tools" | "queries"): string {
  const path = input.options[option];
  if (typeof path === "string") return resolve(terminal.folder, path);
  throw new ArsenalError(
    "INPUT_INVALID",
    `eval needs --${option} FILE. For example: toolarsenal ${evaluate.examples[0] ?? ""}`,
    {
      field: `--${option}`,
      fix: `Write --${option} FILE.`,
    },
  );
}

/** An arsenal of the set's tools, ready to answer with the tier asked for, or with the best there is. */
async function openSet(
  tools: readonly SetTool[],
  { routing, tier }: System,
  terminal: Terminal,
): Promise<{ readonly arsenal: ToolArsenal; readonly indexMs: number }> {
  const arsenal = new ToolArsenal({
    routing,
    embedder: { cache: defaultCache(terminal.environment), ...(tier === undefined ? {} : { tier }) },
    telemetry: { enabled: false },
  });
  try {
    const started = performance.now();
    await arsenal.addEnsemble(setSource(tools));
    await arsenal.sync({ signal: terminal.signal });
    await arsenal.ready({ signal: terminal.signal });
    return { arsenal, indexMs: performance.now() - started };
  } catch (error) {
    await arsenal.close();
    throw error;
  }
}

async function measure(
  system: System,
  { tools, queries, explains, suggests }: Pick<Plan, "tools" | "queries" | "explains" | "suggests">,
  terminal: Terminal,
): Promise<Run> {
  const { signal } = terminal;
  // Without queries nothing is ranked, and no model needs to learn the tools.
  const { arsenal, indexMs } = await openSet(tools, queries ? system : { ...system, tier: "lexical" }, terminal);
  await using _ = arsenal;
  const known = knownTools(await arsenal.listTools());
  const { answers, tier } = queries
    ? await withBar(terminal, "queries", queries.length, (onProgress) =>
        answerQueries(arsenal, queries, { signal, onProgress }),
      )
    : { answers: [], tier: "" };
  const drawn = queries ? drawSizes(new Map([...known].map(([id, { tool }]) => [id, tool])), queries) : [];
  const sized = await withBar(terminal, "sizes", drawn.length, (onProgress) =>
    answerQueries(arsenal, drawn, { signal, onProgress }),
  );
  return {
    system,
    answers,
    report: queries && reportOn(answers, { indexMs, tier, sized: sized.answers }),
    misses: explains
      ? await withBar(terminal, "misses", answers.length, (onProgress) =>
          explainMisses(arsenal, answers, { known, signal, onProgress }),
        )
      : [],
    suggestions: suggests
      ? await withBar(terminal, "tools", known.size, (onProgress) => suggest(known, answers, { signal, onProgress }))
      : undefined,
  };
}

async function withBar<Result>(
  terminal: Terminal,
  label: string,
  total: number,
  work: (onProgress: ProgressBar["update"]) => Promise<Result>,
): Promise<Result> {
  const bar = createProgressBar(terminal.err, label, total);
  try {
    return await work((done) => bar.update(done));
  } finally {
    bar.end();
  }
}

async function compare(a: Run, b: Run, { signal }: Terminal): Promise<Comparison | undefined> {
  if (!a.report || !b.report) return undefined;
  return {
    a: { config: a.system.config ?? null, tier: a.report.tier },
    b: { config: b.system.config ?? null, tier: b.report.tier, report: b.report },
    ...(await compareAnswers(a.answers, b.answers, { signal })),
  };
}
