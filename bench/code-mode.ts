/**
 * The tokens, turns and time of 24 tasks over 300 tools and more, for scripted models in three styles: every tool listed (plain), search and call
 * (dynamic mode), and code mode. A turn costs its whole context: the list of tools, the request, and all earlier turns and results.
 * The tools come from three real MCP servers, which run, from fakes for the tasks, and from `--shared FOLDER`: what other real servers list. Invented
 * tools fill the rest. Fails if code mode saves less than it promises, or if a search misses a tool that its task needs.
 */
import { isDeepStrictEqual, parseArgs } from "node:util";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { internalsOf, ToolArsenal } from "../src/arsenal.ts";
import { syntheticTools } from "../src/cli/benchmark/synthetic-tools.ts";
import { table } from "../src/cli/terminal/style.ts";
import { localOperator } from "../src/guard/principal.ts";
import { toProgramValue } from "../src/programs/results.ts";
import { codeTools, toRunText } from "../src/serve/meta-tools/code-tools.ts";
import { META_TOOLS } from "../src/serve/meta-tools/definitions.ts";
import { foundDefinition } from "../src/serve/meta-tools/find-tools.ts";
import { shownTool } from "../src/serve/meta-tools/shown-tool.ts";
import type { ToolDraft } from "../src/tool/draft.ts";
import { addRealServers } from "./code-mode-servers.ts";
import { type Calling, FAKE_TASKS, registerFakes, type Task } from "./code-mode-tasks.ts";

const MOST_TOOLS = 320;
/** The most tokens of code mode in percent of search and call: for tasks of several calls, and for those of one. */
const PROMISED = { several: 30, single: 110 };
const { values: options } = parseArgs({ options: { shared: { type: "string" } } });

/** Tools of real servers, as they list them. The servers that run are left out. */
function realTools(folder: string): readonly ToolDraft[] {
  const root = join(folder, "corpora", "mcp-servers");
  const drafts: ToolDraft[] = [];
  for (const file of readdirSync(root)
    .filter((name) => name.endsWith(".json") && !/^(?:everything|filesystem|memory)\./.test(name))
    .toSorted()) {
    const listed = JSON.parse(readFileSync(join(root, file), "utf8")) as {
      readonly tools?: readonly { name: string; description?: string; inputSchema?: object }[];
    };
    for (const { name, description = name, inputSchema } of listed.tools ?? []) {
      const namespace = file
        .replace(/\.json$/, "")
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, "_");
      drafts.push({ name, namespace, description, parameters: (inputSchema ?? { type: "object" }) as never });
    }
  }
  return drafts;
}

const arsenal = new ToolArsenal({
  telemetry: { enabled: false },
  embedder: { tier: "static" },
  security: { maxRequestsPerMinute: 1_000_000, selfApproval: "local" },
});
registerFakes(arsenal);
const fakes = arsenal.toolCount;
const servers = await addRealServers(arsenal);
const recorded = options.shared === undefined ? [] : realTools(options.shared);
const invented = Math.max(0, MOST_TOOLS - fakes - servers.tools - recorded.length);
await arsenal.add([...recorded, ...syntheticTools(invented)]);
const TASKS = [...FAKE_TASKS, ...servers.tasks];
await arsenal.sync({ tier: "static" });
const tools = await arsenal.listTools();
const code = await internalsOf(arsenal).codeMode();
const approver = localOperator();
const tokens = (value: unknown): number => countTokens(typeof value === "string" ? value : JSON.stringify(value));

/** Counts the tokens of a conversation, turn by turn. */
function conversation(list: unknown, request: string) {
  let context = tokens(list) + tokens(request);
  const spent = { input: 0, output: 0, turns: 0 };
  return {
    spent,
    /** One turn: the model reads everything so far, writes, and gets results. */
    turn(written: unknown, results: readonly unknown[] = []): void {
      spent.turns++;
      spent.input += context;
      const output = tokens(written);
      spent.output += output;
      context += output + results.reduce((sum: number, result) => sum + tokens(result), 0);
    },
  };
}

const called = new Set<string>();
const seen = new Set<string>();

async function find(query: string) {
  const { tools: found, nearest = [] } = await arsenal.retrieve(query, { limit: 5, refuse: "never" });
  const shown = (found.length > 0 ? found : nearest.slice(0, 5)).map(({ tool }) => tool);
  for (const { id } of shown) seen.add(id);
  return shown;
}

/** Runs a call as a model does, with the person's approval if it needs one. A failure is its message. */
async function execute(toolName: string, args: object): Promise<unknown> {
  const call = { toolName, arguments: { ...args } };
  called.add(toolName);
  let result = await arsenal.execute(call);
  if (result.confirmationId !== undefined) {
    await arsenal.approvals.approve(result.confirmationId, approver);
    result = await arsenal.execute(call);
  }
  // Models read the structured content of a server's answer, or its text, and not both.
  return result.status === "success" ? toProgramValue(result.result) : (result.error?.message ?? result.status);
}

type Style = (
  task: Task,
) => Promise<{ readonly spent: { input: number; output: number; turns: number }; readonly answer: unknown }>;

function calling(spoken: ReturnType<typeof conversation>, write: (tool: string, args: object) => unknown): Calling {
  const all: Calling["all"] = async (calls) => {
    const results = await Promise.all(calls.map(([tool, args]) => execute(tool, args)));
    spoken.turn(
      calls.map(([tool, args]) => write(tool, args)),
      results,
    );
    return results;
  };
  return Object.assign(async (tool: string, args: object) => (await all([[tool, args]]))[0], { all });
}

const STYLES: Readonly<Record<string, Style>> = {
  async plain({ request, calls }) {
    const spoken = conversation(tools.map(shownTool), request);
    const answer = await calls(calling(spoken, (name, args) => ({ name, arguments: args })));
    spoken.turn(answer);
    return { spent: spoken.spent, answer };
  },
  async "search + call"({ request, searches, calls }) {
    const spoken = conversation(META_TOOLS, request);
    for (const query of searches)
      spoken.turn({ name: "find_relevant_tools", arguments: { query } }, [(await find(query)).map(foundDefinition)]);
    const write = (tool_name: string, args: object) => ({
      name: "execute_tool",
      arguments: { tool_name, arguments: args },
    });
    const answer = await calls(calling(spoken, write));
    spoken.turn(answer);
    return { spent: spoken.spent, answer };
  },
  async code({ request, searches, program }) {
    const spoken = conversation(codeTools(tools.length), request);
    for (const query of searches) {
      const lines = (await find(query)).map((tool) => code.signature(tool, approver));
      spoken.turn({ name: "search", arguments: { query } }, [lines.join("\n")]);
    }
    let result = await arsenal.runCode({ code: program });
    const written = { name: "run", arguments: { code: program } };
    for (; result.confirmationId !== undefined; result = await arsenal.runCode({ code: program })) {
      spoken.turn(written, [toRunText(result)]);
      await arsenal.approvals.approve(result.confirmationId, approver);
    }
    spoken.turn(written, [toRunText(result)]);
    spoken.turn(result.value);
    if (result.status !== "success") throw new Error(`${request}: ${result.error?.message}`);
    return { spent: spoken.spent, answer: result.value };
  },
};

const names = Object.keys(STYLES);
const sums = new Map<string, { input: number; output: number; turns: number; ms: number }>();
for (const task of TASKS) {
  const answers: unknown[] = [];
  seen.clear();
  called.clear();
  for (const name of names) {
    const began = performance.now();
    const { spent, answer } = await (STYLES[name] as Style)(task);
    answers.push(answer);
    const key = `${task.isSingle === true ? "single calls" : "several calls"}, ${name}`;
    const sum = sums.get(key) ?? { input: 0, output: 0, turns: 0, ms: 0 };
    sums.set(key, {
      input: sum.input + spent.input,
      output: sum.output + spent.output,
      turns: sum.turns + spent.turns,
      ms: sum.ms + performance.now() - began,
    });
  }
  if (
    !answers.every((answer) =>
      isDeepStrictEqual(JSON.parse(JSON.stringify(answer)), JSON.parse(JSON.stringify(answers[0]))),
    )
  )
    throw new Error(`The styles disagree on "${task.request}": ${JSON.stringify(answers)}`);
  const missed = [...called].filter((id) => !seen.has(id));
  if (missed.length > 0) throw new Error(`The searches of "${task.request}" do not find ${missed.join(", ")}.`);
}
const header = ["tasks", "input tokens", "output tokens", "turns", "ms", "tokens against search + call"];
const rows = [...sums].map(([key, { input, output, turns, ms }]) => {
  const base = sums.get(`${key.split(",")[0]}, search + call`) ?? { input: 1, output: 0 };
  const change = (100 * (input + output)) / (base.input + base.output) - 100;
  return [
    key,
    input.toLocaleString("en"),
    output.toLocaleString("en"),
    String(turns),
    ms.toFixed(0),
    `${change >= 0 ? "+" : ""}${change.toFixed(1)} %`,
  ];
});
const share = (of: string): number => {
  const [inCode, byCalls] = ["code", "search + call"].map((name) => sums.get(`${of} calls, ${name}`));
  return (100 * ((inCode?.input ?? 0) + (inCode?.output ?? 0))) / ((byCalls?.input ?? 0) + (byCalls?.output ?? 1));
};
const [several, single] = [share("several"), share("single")];
const isKept = several <= PROMISED.several && single <= PROMISED.single;
process.stdout.write(
  `${TASKS.length} tasks over ${tools.length} tools: ${servers.tools} of real servers that run, ${recorded.length} that others list, ${fakes} fakes, ${invented} invented
${table([header, ...rows])}
Code mode uses ${several.toFixed(1)} % of the tokens of search + call for several calls (promised: at most ${PROMISED.several} %), and ${single.toFixed(1)} % for single calls (at most ${PROMISED.single} %): ${isKept ? "kept" : "BROKEN"}.
`,
);
await arsenal.close();
servers.remove();
if (!isKept) process.exitCode = 1;
