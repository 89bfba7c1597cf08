/**
 * The tokens that tool definitions take in a model's context: all tools, our search, the provider's search, and both, at several catalog sizes.
 * Prints averages over the requests of `agent-tasks.ts`. OpenAI's are counted with o200k. Anthropic publishes no tokenizer: its figures are an
 * estimate of 3.5 characters a token, plus 346 tokens of its prompt for tool use, as it published them for earlier models.
 */
import { parseArgs } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import {
  anthropicDialect,
  openaiResponsesDialect,
  type ResponsesSearchedTool,
  toAlias,
} from "../src/adapters/dialects/index.ts";
import { internalsOf } from "../src/arsenal.ts";
import { syntheticTools } from "../src/cli/benchmark/synthetic-tools.ts";
import { DEMO_TOOLS } from "../src/cli/demo/create-demo-arsenal.ts";
import { ToolArsenal } from "../src/index.ts";
import { TASKS } from "./agent-tasks.ts";

const { values } = parseArgs({ options: { sizes: { type: "string", default: "100,300,1000" } } });
const sizes = values.sizes.split(",").map(Number);

/** What we send without a provider's search, what is loaded up front with one, and what one search of Anthropic's adds at most. */
const OURS = 8;
const LOADED = 5;
const FOUND = 5;
const ANTHROPIC_PROMPT = 346;

const byOpenai = (value: unknown): number => countTokens(JSON.stringify(value));
const byAnthropic = (value: unknown): number => Math.round(JSON.stringify(value).length / 3.5);

type Row = Readonly<Record<"all" | "ours" | "theirs" | "theirsAfter" | "both", number>>;

async function anthropicRow(arsenal: ToolArsenal, query: string): Promise<Row> {
  const dialect = anthropicDialect();
  const found = async (limit: number): Promise<readonly object[]> =>
    arsenal.retrieveTools(query, { dialect, limit, scoreThreshold: 0 });
  const offered = await arsenal.retrieveTools(query, { dialect: "anthropic", providerSearch: true, limit: LOADED });
  const context = offered.filter((each) => !("defer_loading" in each));
  const [search] = context;
  const searched = [
    { type: "server_tool_use", id: "srvtoolu_1", name: "tool_search_tool_bm25", input: { query } },
    (await found(FOUND)).map((each) => ({ type: "tool_reference", tool_name: (each as { name: string }).name })),
  ];
  const all = (await arsenal.listTools()).map((tool) => dialect.fromCanonical(tool));
  return {
    all: ANTHROPIC_PROMPT + byAnthropic(all),
    ours: ANTHROPIC_PROMPT + byAnthropic(await found(OURS)),
    theirs: ANTHROPIC_PROMPT + byAnthropic([search]),
    theirsAfter: ANTHROPIC_PROMPT + byAnthropic([search, searched, await found(FOUND)]),
    both: ANTHROPIC_PROMPT + byAnthropic(context),
  };
}

async function openaiRow(arsenal: ToolArsenal, query: string, needed: string): Promise<Row> {
  const dialect = openaiResponsesDialect();
  const options = { dialect: "openai-responses", providerSearch: true, limit: LOADED } as const;
  const all = (await arsenal.listTools()).map((tool) => ({ tool, definition: dialect.fromCanonical(tool) }));
  const alone = dialect.providerSearch.write([], all);
  const found = alone.filter((each) => each.type === "namespace" && each.tools.some(({ name }) => name === needed));
  return {
    all: byOpenai(all.map(({ definition }) => definition)),
    ours: byOpenai(await arsenal.retrieveTools(query, { dialect, limit: OURS, scoreThreshold: 0 })),
    theirs: byOpenai(inContext(alone)),
    theirsAfter: byOpenai([inContext(alone), found]),
    both: byOpenai(inContext(await arsenal.retrieveTools(query, options))),
  };
}

/** The model sees the name and the description of a namespace until a search loads its functions. */
function inContext(tools: readonly ResponsesSearchedTool[]): readonly object[] {
  return tools.map((each) => (each.type === "namespace" ? { ...each, tools: [] } : each));
}

function mean(rows: readonly Row[]): Row {
  const of = (key: keyof Row): number => Math.round(rows.reduce((sum, row) => sum + row[key], 0) / rows.length);
  return { all: of("all"), ours: of("ours"), theirs: of("theirs"), theirsAfter: of("theirsAfter"), both: of("both") };
}

const table: object[] = [];
for (const size of sizes) {
  await using arsenal = new ToolArsenal();
  await arsenal.add(DEMO_TOOLS);
  await arsenal.add(syntheticTools(size - DEMO_TOOLS.length).map((tool) => ({ tool })));
  await internalsOf(arsenal).settled({ tier: "static" });
  const [openai, anthropic]: [Row[], Row[]] = [[], []];
  for (const { request, steps } of TASKS) {
    openai.push(await openaiRow(arsenal, request, toAlias(steps[0]?.[1] ?? "")));
    anthropic.push(await anthropicRow(arsenal, request));
  }
  for (const [api, rows] of Object.entries({ "openai-responses (o200k)": openai, "anthropic (estimate)": anthropic })) {
    const { all, ours, theirs, theirsAfter, both } = mean(rows);
    table.push({
      tools: size,
      api,
      "all tools": all,
      [`ours, ${OURS}`]: ours,
      theirs,
      "theirs, after one search": theirsAfter,
      [`both, ${LOADED} loaded`]: both,
    });
  }
}
console.table(table);
