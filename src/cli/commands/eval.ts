import { resolve } from "node:path";
import { ToolArsenal } from "../../arsenal.ts";
import type { RoutingConfig } from "../../config/config.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Message } from "../../retrieve/query.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { figuresOf, meanFigures, percentile, type QueryFigures, round, type SetFigures } from "../eval/metrics.ts";
import { readQueries, readTools, type SetQuery } from "../eval/read-set.ts";
import { setSource } from "../eval/set-source.ts";
import { configPath } from "../open-arsenal.ts";
import { createProgressBar } from "../progress.ts";
import { styles, table } from "../style.ts";

interface Answer extends SetQuery {
  /** Undefined where nothing fits, rightly: such a query has no ranking to measure. */
  readonly figures: QueryFigures | undefined;
  readonly refused: boolean;
  readonly durationMs: number;
}

interface Report extends SetFigures {
  /** Every line, also those that nothing fits and that count in no ranking figure. */
  readonly queries: number;
  /** Of the queries nothing fits: the share answered with nothing. */
  readonly refused?: number;
  /** Of the others: the share answered with nothing. */
  readonly false_refused: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
}

/** `toolarsenal eval` */
export const evaluate: Command = {
  name: "eval",
  summary: "Measure retrieval on your own tools and queries.",
  positionals: [],
  options: {
    tools: {
      type: "string",
      value: "FILE",
      description: "Tools, one JSON object a line: id, name, namespace, description, parameters",
    },
    queries: {
      type: "string",
      value: "FILE",
      description: "Queries, one a line: id, query, relevant; also_ok, history, style where wanted",
    },
    tier: { type: "string", value: "TIER", description: "What ranks: lexical", fallback: "the best there is" },
  },
  examples: ["eval --tools tools.jsonl --queries queries.jsonl"],
  async run(input, terminal) {
    const tier = input.options["tier"];
    if (tier !== undefined && tier !== "lexical") {
      throw new ArsenalError("INPUT_INVALID", `--tier: there is no tier "${String(tier)}". Use lexical.`, {
        field: "--tier",
        value: tier,
        fix: "--tier lexical",
      });
    }
    const tools = await readTools(file(input, terminal, "tools"));
    const queries = await readQueries(file(input, terminal, "queries"), new Set(tools.map(({ id }) => id)));
    await using arsenal = new ToolArsenal({
      routing: await configuredRouting(input, terminal),
      telemetry: { enabled: false },
    });
    const started = performance.now();
    await arsenal.addEnsemble(setSource(tools));
    await arsenal.sync({ signal: terminal.signal });
    const indexMs = performance.now() - started;
    const { answers, answeredBy } = await answerAll(arsenal, queries, terminal);
    const styled = Map.groupBy(
      answers.filter(({ style }) => style !== undefined),
      ({ style }) => style ?? "",
    );
    const report = {
      ...summarise(answers),
      index_ms: Math.round(indexMs),
      tier: answeredBy,
      ...(styled.size > 0
        ? { by_style: Object.fromEntries([...styled].map(([style, group]) => [style, summarise(group)])) }
        : {}),
    };
    if (input.json || !terminal.out.isTTY) terminal.out.write(`${JSON.stringify(report)}\n`);
    else terminal.out.write(readable(report, terminal));
    return 0;
  },
};

/** How the user's configuration ranks. Its tools and stores are left alone: the files say which tools there are. */
async function configuredRouting(input: Input, terminal: Terminal): Promise<RoutingConfig> {
  const path = configPath(input, terminal);
  if (path === undefined) return {};
  const { loadConfig } = await import("../../config/load-config.ts");
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

async function answerAll(
  arsenal: ToolArsenal,
  queries: readonly SetQuery[],
  terminal: Terminal,
): Promise<{ readonly answers: readonly Answer[]; readonly answeredBy: string }> {
  const bar = createProgressBar(terminal.err, "queries", queries.length);
  const answers: Answer[] = [];
  let answeredBy = "";
  for (const query of queries) {
    const started = performance.now();
    const result = await arsenal.retrieve({
      context: { query: query.query, recentMessages: query.history.slice(-10).map(toMessage) },
      // Ranked before refusal: the threshold is applied to the best score afterwards.
      scoreThreshold: 0,
      limit: 50,
      signal: terminal.signal,
    });
    answeredBy = result.tier;
    const durationMs = performance.now() - started;
    const relevant = new Set(query.relevant);
    const ignored = new Set(query.alsoOk.filter((id) => !relevant.has(id)));
    const ranking = result.tools.map(({ tool }) => String(tool.sourceMeta["setId"])).filter((id) => !ignored.has(id));
    answers.push({
      ...query,
      figures: relevant.size > 0 ? figuresOf(ranking, relevant) : undefined,
      refused: !result.tools.some(({ semanticScore }) => semanticScore >= arsenal.scoreThreshold),
      durationMs,
    });
    bar.update(answers.length);
  }
  bar.end();
  return { answers, answeredBy };
}

function toMessage(turn: string): Message {
  const [, role = "user", content = turn] = /^(user|assistant|system|tool):\s*([\s\S]*)$/i.exec(turn) ?? [];
  return { role, content };
}

function summarise(answers: readonly Answer[]): Report {
  const possible = answers.filter(({ figures }) => figures !== undefined);
  const impossible = answers.filter(({ figures }) => figures === undefined);
  const share = (group: readonly Answer[]): number =>
    group.length === 0 ? 0 : round(group.filter(({ refused }) => refused).length / group.length);
  const times = answers.map(({ durationMs }) => durationMs);
  return {
    queries: answers.length,
    ...meanFigures(possible.flatMap(({ figures }) => figures ?? [])),
    ...(impossible.length > 0 ? { refused: share(impossible) } : {}),
    false_refused: share(possible),
    p50_ms: round(percentile(times, 0.5)),
    p95_ms: round(percentile(times, 0.95)),
  };
}

function readable(report: object, terminal: Terminal): string {
  const paint = styles(terminal.out, terminal.environment);
  const { by_style: byStyle, ...figures } = report as Record<string, unknown>;
  const lines = table(Object.entries(figures).map(([name, value]) => [name, String(value)]));
  const styled = Object.entries((byStyle ?? {}) as Record<string, Report>).map(([style, group]) => [
    style,
    ...Object.values(group).map(String),
  ]);
  const header = [
    "style",
    ...Object.keys((byStyle as Record<string, Report> | undefined)?.[styled[0]?.[0] ?? ""] ?? {}),
  ];
  return `${lines}\n${styled.length > 0 ? `\n${paint.bold(table([header, ...styled]))}\n` : ""}`;
}
