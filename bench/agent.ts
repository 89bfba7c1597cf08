/**
 * The token cost of an agent's task: tools found for each step against all 300 tools sent with each step, same tasks, same run. The scripted model
 * calls `find_tools`, in words of its own, when the tool of a step is not on offer, as a model would; `--no-find-tools` leaves it out.
 */
import { internalsOf } from "../src/arsenal.ts";
import { parseArgs } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { openaiDialect } from "../src/adapters/dialects/index.ts";
import { FIND_TOOLS, FIND_TOOLS_TOOL } from "../src/agent/find-tools.ts";
import { createAgent, type Llm, type LlmRequest, type LlmTurn } from "../src/agent/index.ts";
import { syntheticTools } from "../src/cli/benchmark/synthetic-tools.ts";
import { DEMO_TOOLS } from "../src/cli/demo/create-demo-arsenal.ts";
import { type Task, TASKS } from "./agent-tasks.ts";
import { CAPABILITIES, createPrincipal, ToolArsenal } from "../src/index.ts";
import type { Tool } from "../src/tool/tool.ts";
import { say } from "../src/testing/scripted-llm.ts";
import { toAlias } from "../src/transcode/alias.ts";

const { values } = parseArgs({
  allowNegative: true,
  options: {
    limit: { type: "string", default: "8" },
    tools: { type: "string", default: "300" },
    "find-tools": { type: "boolean", default: true },
  },
});
const findTools = values["find-tools"];
const limit = Number(values.limit);
const count = Number(values.tools);

await using arsenal = new ToolArsenal({ security: { requireConfirmation: [] } });
await arsenal.add(DEMO_TOOLS);
await arsenal.add(syntheticTools(count - DEMO_TOOLS.length).map((tool) => ({ tool })));
await internalsOf(arsenal).settled();
const all = await arsenal.listTools();

const dialect = openaiDialect();
const tokensOf = (value: unknown): number => countTokens(JSON.stringify(value));
const definitions = (tools: readonly Tool[]): readonly object[] => tools.map((tool) => dialect.fromCanonical(tool));
const everything = tokensOf(definitions(all));

function turnFor(step: Task["steps"][number] | undefined, searches: boolean): LlmTurn {
  if (step === undefined) return say("Done.");
  const [says, tool, args, query] = step;
  return searches ? say("", [FIND_TOOLS, { query }]) : say(says, [toAlias(tool), args]);
}

let steps = 0;
let onOffer = 0;
let searched = 0;
const principal = createPrincipal({ id: "agent", capabilities: CAPABILITIES });
const rows: { task: string; requests: number; agent: number; all: number; ratio: string }[] = [];
for (const task of TASKS) {
  const used = { agent: 0, all: 0, requests: 0 };
  let next = 0;
  let hasSearched = false;
  const llm: Llm = {
    name: "scripted",
    async next({ system = "", messages, tools }: LlmRequest): Promise<LlmTurn> {
      const step = task.steps[next];
      const isThere = step === undefined || tools.some(({ id }) => id === step[1]);
      const searches = !isThere && !hasSearched && tools.includes(FIND_TOOLS_TOOL);
      const turn = turnFor(step, searches);
      const rest = countTokens(system) + tokensOf(messages) + tokensOf(turn.message);
      used.requests++;
      used.agent += rest + (tools.length === 0 ? 0 : tokensOf(definitions(tools)));
      hasSearched = searches;
      if (searches) {
        searched++;
        return turn;
      }
      // With every tool in the request, the model has nothing to search for.
      used.all += rest + everything;
      next++;
      if (step !== undefined) {
        steps++;
        if (isThere) onOffer++;
      }
      return turn;
    },
    close() {},
  };
  await createAgent({ llm, arsenal, principal, limit, findTools, systemPrompt: "You work for a shop." }).run(
    task.request,
  ).result;
  rows.push({
    task: task.request.slice(0, 50),
    requests: used.requests,
    agent: used.agent,
    all: used.all,
    ratio: (used.all / used.agent).toFixed(1),
  });
}

console.table(rows);
const sum = (key: "agent" | "all"): number => rows.reduce((total, row) => total + row[key], 0);
console.log(
  `${all.length} tools, at most ${limit} on offer: ${Math.round(sum("agent") / rows.length)} tokens a task (o200k).`,
);
console.log(
  `All ${all.length} with every request: ${Math.round(sum("all") / rows.length)} tokens a task, ${(sum("all") / sum("agent")).toFixed(1)} times as many.`,
);
console.log(
  `The tool that a step needs was on offer in ${onOffer} of ${steps} steps, after ${searched} calls of find_tools.`,
);
