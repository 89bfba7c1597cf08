import { access, constants, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type TierName, TIERS } from "../../../adapters/embedders/shipped-tiers.ts";
import type { RoutingConfig } from "../../../config/config.ts";
import { fixable } from "../../../errors/arsenal-error.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { answerQueries, type Work } from "../../../eval/answer-queries.ts";
import { compareAnswers, type Comparison } from "../../../eval/compare.ts";
import { drawSizes } from "../../../eval/draw-sizes.ts";
import { explainMisses } from "../../../eval/suggest/misses.ts";
import { knownTools } from "../../../eval/known-tools.ts";
import { readQueries, readTools } from "../../../eval/read-set.ts";
import { showComparison, showFigures, showMisses, showSuggestions } from "../../terminal/show-eval.ts";
import { suggest } from "../../../eval/suggest/suggest.ts";
import { reportOn } from "../../../eval/summarise.ts";
import { configPath } from "../../arsenal/open-arsenal.ts";
import { openSetArsenal } from "../../arsenal/set-arsenal.ts";
import { readChoice, wrongInput } from "../../input.ts";
import { withProgress } from "../../terminal/progress.ts";

export const command: Command = {
  options: {
    tools: {
      value: "FILE",
      description: "Tools, one JSON object per line: id, name, namespace, description, parameters",
    },
    queries: {
      value: "FILE",
      description: "Queries, one JSON object per line: id, query, relevant; optional: also_ok, history, style",
    },
    tier: { value: "TIER", description: `Ranker: ${TIERS.join(", ")}`, fallback: "the best available" },
    misses: {
      value: "FILE|-",
      description: "Write the missed queries and the reasons: JSON lines to a file, or text to stderr with -",
    },
    compare: {
      value: "CONFIG",
      description: "Also measure this configuration, and print the differences with 95 % confidence intervals",
    },
    "compare-tier": {
      value: "TIER",
      description: "Also measure this tier, and print the differences with 95 % confidence intervals",
    },
    report: { value: "FILE", description: "Write an HTML page with figures, plots and misses" },
    suggest: {
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
    const comparison = other && (await compare(run, other, terminal));
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
    if (input.options["misses"] === "-") terminal.err.write(showMisses(misses, terminal));
    await plan.misses?.(misses.map((miss) => `${JSON.stringify(miss)}\n`).join(""));
    if (plan.report && report) {
      const { reportPage } = await import("../../../eval/report/report-page.ts");
      await plan.report(
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
      if (!input.json) terminal.err.write(`Report: ${input.options["report"]}\n`);
    }
  },
};

interface System {
  /** The path from the command line; undefined for the defaults. */
  readonly config: string | undefined;
  readonly routing: RoutingConfig;
  readonly tier: TierName | undefined;
}

type EvalPlan = Awaited<ReturnType<typeof readPlan>>;
type Run = Awaited<ReturnType<typeof measure>>;

/** Reads all input files before measuring. */
async function readPlan(input: Input, terminal: Terminal) {
  const { misses, compare: compared, queries: hasQueries, report } = input.options;
  const tier = readChoice(input, "tier", TIERS);
  const tierB = readChoice(input, "compare-tier", TIERS);
  const suggests = input.flags.has("suggest");
  const tools = await readTools(setFile("eval", input, terminal, "tools"));
  const needsQueries = !suggests || [hasQueries, misses, compared, tierB, report].some((given) => given !== undefined);
  const config = configPath(input, terminal);
  const a: System = {
    config: input.config ?? (config === undefined ? undefined : "arsenal.yaml"),
    routing: await configuredRouting(config, terminal),
    tier,
  };
  return {
    tools,
    /** Undefined if only the tools are checked. */
    queries: needsQueries
      ? await readQueries(setFile("eval", input, terminal, "queries"), new Set(tools.map(({ id }) => id)))
      : undefined,
    a,
    b:
      compared === undefined
        ? tierB && { ...a, tier: tierB }
        : {
            config: compared,
            routing: await configuredRouting(resolve(terminal.folder, compared), terminal),
            tier: tierB ?? tier,
          },
    misses: misses === "-" ? undefined : await openOutput(input, terminal, "misses"),
    report: await openOutput(input, terminal, "report"),
    /** True if any output needs the misses. */
    explains: misses !== undefined || report !== undefined,
    suggests,
  };
}

/** Prepares a file that is written after the run. Throws now if its folder is not writable, so that no results are lost later. */
async function openOutput({ options }: Input, { folder }: Terminal, option: "misses" | "report") {
  const path = options[option];
  if (path === undefined) return undefined;
  const full = resolve(folder, path);
  const refuse = (): never => {
    const fix = "Use a file in an existing folder that you can write to.";
    throw wrongInput(`--${option}`, path, `--${option}: cannot write ${full}.`, fix);
  };
  await access(dirname(full), constants.W_OK).catch(refuse);
  return (text: string) => writeFile(full, text).catch(refuse);
}

/** Returns the ranking settings of a configuration. Ignores its sources and stores, because the tools come from the evaluation files. */
export async function configuredRouting(path: string | undefined, terminal: Terminal): Promise<RoutingConfig> {
  if (path === undefined) return {};
  const { loadConfig } = await import("../../../config/load/load-config.ts");
  return (await loadConfig(path, terminal.environment)).config.routing;
}

export function setFile(
  name: "eval" | "tune",
  { options }: Input,
  { folder }: Terminal,
  option: "tools" | "queries",
): string {
  const path = options[option];
  if (path !== undefined) return resolve(folder, path);
  const fix = `For example: toolarsenal ${name} --tools tools.jsonl --queries queries.jsonl`;
  throw wrongInput(`--${option}`, path, `${name} needs --${option} FILE.`, fix);
}

/** Ranks every query with the requested tier, or else the best available one. */
async function measure(
  system: System,
  { tools, queries, explains, suggests }: Pick<EvalPlan, "tools" | "queries" | "explains" | "suggests">,
  terminal: Terminal,
) {
  const { err, signal } = terminal;
  // Without queries, nothing is ranked, so no model needs to index the tools.
  const tier = queries ? system.tier : "lexical";
  const started = performance.now();
  const opened = await openSetArsenal(tools, { routing: system.routing, tier }, terminal);
  await using arsenal = opened.arsenal;
  const indexMs = performance.now() - started;
  const known = knownTools(await arsenal.listTools());
  const drawn = queries ? drawSizes(new Map([...known].map(([id, { tool }]) => [id, tool])), queries) : [];
  const answered = await withBar("queries", queries?.length ?? 0, (how) => answerQueries(arsenal, queries ?? [], how));
  refuseWeakerTier(tier, answered.tier, opened.failures);
  const { answers: sized } = await withBar("sizes", drawn.length, (how) => answerQueries(arsenal, drawn, how));
  const { answers } = answered;
  return {
    system,
    answers,
    report: queries && reportOn(answers, { indexMs, tier: answered.tier, sized }),
    misses: explains
      ? await withBar("misses", answers.length, (how) => explainMisses(arsenal, answers, { known, ...how }))
      : [],
    suggestions: suggests ? await withBar("tools", known.size, (how) => suggest(known, answers, how)) : undefined,
  };

  function withBar<Result>(label: string, total: number, work: (how: Work) => Promise<Result>): Promise<Result> {
    return withProgress(err, label, total, (onProgress) => work({ signal, onProgress }));
  }
}

/** Throws if a weaker ranker answered, because its results could be mistaken for those of the requested tier. */
export function refuseWeakerTier(asked: TierName | undefined, answered: string, failures: readonly string[]): void {
  if (asked === undefined || answered === "" || answered === asked) return;
  const reason = failures.at(-1) ?? "The tier did not answer.";
  const problem = `--tier ${asked} cannot rank: ${answered} answered instead. ${reason}`;
  throw fixable("CONFIG_INVALID", problem, `Fix that, or measure ${answered} with --tier ${answered}.`, {
    field: "--tier",
    value: asked,
  });
}

async function compare(a: Run, b: Run, { signal }: Terminal): Promise<Comparison | undefined> {
  if (!a.report || !b.report) return undefined;
  return {
    a: { config: a.system.config ?? null, tier: a.report.tier },
    b: { config: b.system.config ?? null, tier: b.report.tier, report: b.report },
    ...(await compareAnswers(a.answers, b.answers, { signal })),
  };
}
