import { readFile, writeFile } from "node:fs/promises";
import { TIERS } from "../../../adapters/embedders/shipped-tiers.ts";
import type { RoutingConfig } from "../../../config/config.ts";
import { fixable } from "../../../errors/arsenal-error.ts";
import { answerQueries } from "../../../eval/answer-queries.ts";
import type { AnsweredQuery } from "../../../eval/answer.ts";
import { readQueries, readTools } from "../../../eval/read-set.ts";
import { signed } from "../../../eval/report/report-sections.ts";
import { type Candidate, candidatesFor, LEAST_QUERIES, tune, type Tuning } from "../../../eval/tune.ts";
import { configPath } from "../../arsenal/open-arsenal.ts";
import { openSetArsenal } from "../../arsenal/set-arsenal.ts";
import type { Command } from "../../command.ts";
import { readChoice, wrongInput } from "../../input.ts";
import { withProgress } from "../../terminal/progress.ts";
import { table } from "../../terminal/style.ts";
import { configuredRouting, refuseWeakerTier, setFile } from "./eval.ts";

export const command: Command = {
  options: {
    tools: {
      value: "FILE",
      description: "Tools, one JSON object per line: id, name, namespace, description, parameters",
    },
    queries: { value: "FILE", description: "Queries, one JSON object per line: id, query, relevant" },
    tier: { value: "TIER", description: `Ranker: ${TIERS.join(", ")}`, fallback: "the best available" },
    write: { description: "Write the settings into the configuration, but only if they improve the ranking" },
  },
  examples: [
    "tune --tools tools.jsonl --queries queries.jsonl",
    "tune --tools tools.jsonl --queries queries.jsonl --write",
  ],
  async run(input, terminal) {
    const tier = readChoice(input, "tier", TIERS);
    const config = configPath(input, terminal);
    const writes = input.flags.has("write");
    if (writes && config === undefined)
      throw wrongInput(
        "--write",
        "",
        "--write needs a configuration, and there is none.",
        "Create one with toolarsenal init.",
      );
    const tools = await readTools(setFile("tune", input, terminal, "tools"));
    const queriesFile = setFile("tune", input, terminal, "queries");
    const all = await readQueries(queriesFile, new Set(tools.map(({ id }) => id)));
    const queries = all.filter(({ relevant }) => relevant.length > 0);
    if (queries.length < LEAST_QUERIES) {
      const problem = `${queriesFile} has ${queries.length} queries with a right tool; tune needs ${LEAST_QUERIES} or more.`;
      throw fixable("INPUT_INVALID", problem, "Add requests that people really made.", {
        field: "--queries",
        value: queries.length,
      });
    }
    const routing = await configuredRouting(config, terminal);
    const candidates = candidatesFor(routing);
    const { err, signal } = terminal;
    const answers: (readonly AnsweredQuery[])[] = [];
    await withProgress(err, "rankings", candidates.length * queries.length, async (onProgress) => {
      for (const candidate of candidates) {
        const before = answers.length * queries.length;
        const { arsenal, failures } = await openSetArsenal(
          tools,
          { routing: withCandidate(routing, candidate), tier },
          terminal,
        );
        await using _ = arsenal;
        const work = { signal, onProgress: (done: number) => onProgress(before + done) };
        const answered = await answerQueries(arsenal, queries, work);
        refuseWeakerTier(tier, answered.tier, failures);
        answers.push(answered.answers);
      }
    });
    const tuning = await tune(candidates, answers, { signal });
    const written = writes && tuning.helps && config !== undefined ? config : undefined;
    if (written !== undefined)
      await writeFile(written, await withRouting(await readFile(written, "utf8"), tuning.best));
    if (input.json || !terminal.out.isTTY)
      terminal.out.write(`${JSON.stringify({ ...tuning, written: written ?? null })}\n`);
    else terminal.out.write(show(tuning, written, writes));
  },
};

function withCandidate(routing: RoutingConfig, { weights, ...others }: Candidate): RoutingConfig {
  return { ...routing, ...others, weights: { ...routing.weights, ...weights } };
}

/** Changes these settings in the text of a configuration, and keeps everything else. */
export async function withRouting(text: string, { weights, enableMmr, mmrLambda }: Candidate): Promise<string> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text);
  document.setIn(["routing", "weights", "intent"], weights.intent);
  document.setIn(["routing", "enable_mmr"], enableMmr);
  document.setIn(["routing", "mmr_lambda"], mmrLambda);
  return document.toString({ lineWidth: 0 });
}

function show(
  { best, isCurrent, helps, figures, queries, candidates }: Tuning,
  written: string | undefined,
  writes: boolean,
): string {
  const rows = (["recall@1", "recall@5", "ndcg@10"] as const).flatMap((name) => {
    const figure = figures[name];
    if (figure === undefined) return [];
    return [
      [
        name,
        String(figure.a),
        String(figure.b),
        signed(figure.difference),
        `${signed(figure.low)} … ${signed(figure.high)}`,
      ],
    ];
  });
  const settings = `routing: { weights: { intent: ${best.weights.intent} }, enable_mmr: ${best.enableMmr}, mmr_lambda: ${best.mmrLambda} }`;
  const verdict = helps
    ? `These settings help:\n  ${settings}\n${written === undefined ? (writes ? "" : "Add --write to put them into your configuration.\n") : `Written to ${written}.\n`}`
    : `Nothing to change: ${isCurrent ? "today's settings are the best of them" : "the gain may be chance"}.\n`;
  const title = `${candidates} settings over ${queries} queries. Each fifth is ranked with what the others chose:\n`;
  return `${title}${table([["", "today", "tuned", "difference", "95 % interval"], ...rows])}\n${verdict}`;
}
