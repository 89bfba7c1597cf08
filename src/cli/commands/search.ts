import { definitionTokens } from "../../tool/estimate-tokens.ts";
import type { ExplainedTool, RetrievalResult } from "../../retrieve/result.ts";
import type { ToolArsenal } from "../../arsenal.ts";
import type { Command, Terminal } from "../command.ts";
import { MCP_CONFIG, openArsenal } from "../open-arsenal.ts";
import { readNumber } from "../read-number.ts";
import { clip, styles, table } from "../style.ts";

/** `toolarsenal search` */
export const search: Command = {
  name: "search",
  summary: "Find the tools that fit a request.",
  positionals: ["QUERY"],
  options: {
    limit: { type: "string", value: "N", description: "The most tools to show, 1 to 50", fallback: "5" },
    explain: { type: "boolean", description: "Show the number behind each signal, also for the best tools left out" },
    ...MCP_CONFIG,
  },
  examples: ['search "give the customer their money back"', 'search "email the report to the team" --explain'],
  async run(input, terminal) {
    const limit = readNumber(input.options["limit"], "--limit", { min: 1, max: 50, fallback: 5 });
    const explain = input.options["explain"] === true;
    await using arsenal = await openArsenal(input, terminal);
    await awaitBestTier(arsenal, terminal);
    const result = await arsenal.retrieve({
      context: { query: input.positionals[0] ?? "" },
      limit,
      explain,
      signal: terminal.signal,
    });
    if (input.json) {
      terminal.out.write(`${JSON.stringify(toJson(result), undefined, 2)}\n`);
      return 0;
    }
    const paint = styles(terminal.out, terminal.environment);
    if (result.tools.length === 0) terminal.out.write(nothingFits(result));
    else {
      const rows = result.tools.map(({ tool, score, requiredBy }) => [
        score.toFixed(3),
        tool.id,
        clip(requiredBy ? `(needed by ${requiredBy}) ${tool.description}` : tool.description, 72),
      ]);
      terminal.out.write(`${table(rows)}\n`);
    }
    if (result.explanation) {
      terminal.out.write(`\n${paint.bold("Why")}\n${explained(result.explanation.chosen)}\n`);
      if (result.explanation.leftOut.length > 0)
        terminal.out.write(`\n${paint.bold("Left out")}\n${explained(result.explanation.leftOut)}\n`);
    }
    terminal.err.write(
      styles(terminal.err, terminal.environment).dim(
        `${result.tools.length} of ${result.candidateCount} tools, intent ${result.intent}, ${result.tier}, ${result.totalTimeMs.toFixed(1)} ms\n`,
      ),
    );
    return 0;
  },
};

/** A person at a terminal asks once, so the best ranker is worth a short wait; it knows the tools from then on. */
async function awaitBestTier(arsenal: ToolArsenal, terminal: Terminal): Promise<void> {
  const enough = AbortSignal.timeout(10_000);
  try {
    await arsenal.ready({ signal: AbortSignal.any([terminal.signal, enough]) });
  } catch (error) {
    if (!enough.aborted) throw error;
  }
}

function nothingFits({ nearest = [] }: RetrievalResult): string {
  if (nearest.length === 0) return "Nothing fits.\n";
  const rows = nearest.map(({ tool, score }) => [score.toFixed(3), tool.id, clip(tool.description, 72)]);
  return `Nothing fits. The nearest:\n${table(rows)}\n`;
}

function explained(tools: readonly ExplainedTool[]): string {
  const names = tools[0]?.signals.map(({ name }) => name) ?? [];
  const header = ["score", "tool", "reason", ...names.map((name) => name.replace(/Penalty$/, "")), "matched"];
  const rows = tools.map(({ toolId, score, reason, because, signals, matchedTerms }) => [
    score.toFixed(3),
    toolId,
    because ? `${reason} (${because})` : reason,
    ...signals.map(({ contribution }) => `${contribution < 0 ? "" : "+"}${contribution.toFixed(3)}`),
    matchedTerms
      .slice(0, 4)
      .map(({ term, fields }) => `${term}:${fields[0] ?? ""}`)
      .join(" "),
  ]);
  return table([header, ...rows]);
}

function toJson(result: RetrievalResult): unknown {
  return {
    ...result,
    tools: result.tools.map(({ tool, ...scored }) => ({
      id: tool.id,
      name: tool.name,
      namespace: tool.namespace,
      description: tool.description,
      parameters: tool.parameters,
      tokens: definitionTokens(tool),
      ...scored,
    })),
  };
}
