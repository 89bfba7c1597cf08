import { internalsOf } from "../../arsenal.ts";
import { count } from "../../errors/show-value.ts";
import { definitionTokens } from "../../tool/estimate-tokens.ts";
import { matchOf, PROBABLY_NONE } from "../../retrieve/fit/match.ts";
import type { RetrievalResult } from "../../retrieve/result.ts";
import { type TierName, TIERS } from "../../adapters/embedders/shipped-tiers.ts";
import type { ToolArsenal } from "../../arsenal.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { MCP_CONFIG, openArsenal, throughToolset, TOOLSET } from "../arsenal/open-arsenal.ts";
import { REGISTRY } from "./registry/registry-option.ts";
import { readChoice, readNumber } from "../input.ts";
import { withEmbeddingProgress } from "../terminal/progress.ts";
import { showExplanation } from "../terminal/show-explanation.ts";
import { clip, note, table, withMark } from "../terminal/style.ts";

export const command: Command = {
  positionals: ["QUERY"],
  options: {
    limit: { value: "N", description: "Show at most N tools, 1 to 50", fallback: "5" },
    explain: { description: "Show how each tool was scored, and the best tools that were left out" },
    tier: {
      value: "T",
      description: `Rank with this model and wait until it is ready: ${TIERS.join(", ")}`,
      fallback: "the best one that is ready",
    },
    registries: { description: "Search the registries for servers to add, instead of your tools" },
    ...REGISTRY,
    ...TOOLSET,
    ...MCP_CONFIG,
  },
  examples: [
    'search "give the customer their money back"',
    'search "email the report to the team" --explain',
    'search --registries "weather forecast"',
  ],
  async run(input, terminal) {
    const limit = readNumber(input, "limit", { min: 1, max: 50, fallback: 5 });
    if (input.flags.has("registries") || input.options["registry"] !== undefined) {
      const { searchRegistries } = await import("./registry/search-registries.ts");
      return void (await searchRegistries(input, terminal, limit));
    }
    const tier = readChoice(input, "tier", TIERS);
    await using arsenal = await openArsenal(input, terminal, tier === undefined ? {} : { tier });
    const through = throughToolset(input, arsenal);
    const pending = await prepare(arsenal, tier, input, terminal);
    const result = await arsenal.retrieve({
      context: { query: input.positionals[0] ?? "" },
      limit,
      explain: input.flags.has("explain"),
      signal: terminal.signal,
      ...through,
      includeRefused: true,
    });
    if (input.json) return void terminal.out.write(`${JSON.stringify(toJson(result), undefined, 2)}\n`);
    const { tools, nearest = [] } = result;
    if (tools.length === 0)
      terminal.out.write(nearest.length === 0 ? "Nothing fits.\n" : "Nothing fits. The nearest:\n");
    const rows = (tools.length === 0 ? nearest : tools).map(({ tool, score, requiredBy, refused }) => [
      score.toFixed(3),
      tool.id,
      clip(withMark(requiredBy ? `(needed by ${requiredBy}) ${tool.description}` : tool.description, refused), 72),
    ]);
    if (rows.length > 0) terminal.out.write(`${table(rows)}\n`);
    if (matchOf(tools, result.nothingFits) === "weak") terminal.err.write(`${PROBABLY_NONE}.\n`);
    if (result.explanation) terminal.out.write(`\n${showExplanation(result.explanation, terminal)}\n`);
    const { intent, tier: ranker, totalTimeMs } = result;
    const known = await arsenal.listTools({ ...through, includeRefused: true });
    const old = known.filter(({ deprecated }) => deprecated).length;
    const counted = `${tools.length} of ${count(known.length, "tool")}${old === 0 ? "" : ` (${old} deprecated, not searched)`}`;
    note(terminal, `${counted}, intent ${intent}, ${ranker}, ${totalTimeMs.toFixed(1)} ms`);
    if (pending > 0)
      note(
        terminal,
        `${count(pending, "tool")} not embedded yet by the tuned model, which ranks better. Run once with --tier tuned to embed and cache them.`,
      );
  },
};

/** Waiting for this many new tools takes about a second. */
const FEW_TOOLS = 64;

/** Waits for the requested tier, or for the best one if it has few tools to index. Returns the number of tools that the best tier lacks. */
async function prepare(
  arsenal: ToolArsenal,
  tier: TierName | undefined,
  { json }: Input,
  terminal: Terminal,
): Promise<number> {
  const { signal } = terminal;
  const { pending } = await internalsOf(arsenal).settled({ signal, embedAtMost: FEW_TOOLS });
  if (tier === undefined || pending === 0) return pending;
  if (!json) note(terminal, `Embedding ${count(pending, "tool")} with the ${tier} model…`);
  const settled = await withEmbeddingProgress(terminal.err, pending, (progress) =>
    internalsOf(arsenal).settled({ signal, ...progress }),
  );
  return settled.pending;
}

function toJson(result: RetrievalResult): unknown {
  return {
    ...result,
    match: matchOf(result.tools, result.nothingFits),
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
