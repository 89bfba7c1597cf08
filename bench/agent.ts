/** The token cost of an agent's task: tools found for each step against all 300 tools sent with each step, same tasks, same run. */
import { internalsOf } from "../src/arsenal.ts";
import { parseArgs } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { openaiDialect } from "../src/adapters/dialects/index.ts";
import { createAgent, type Llm, type LlmRequest, type LlmTurn } from "../src/agent/index.ts";
import { syntheticTools } from "../src/cli/benchmark/synthetic-tools.ts";
import { DEMO_TOOLS } from "../src/cli/demo/create-demo-arsenal.ts";
import { CAPABILITIES, createPrincipal, ToolArsenal } from "../src/index.ts";
import type { Tool } from "../src/tool/tool.ts";
import { say } from "../src/testing/scripted-llm.ts";
import { toAlias } from "../src/transcode/alias.ts";

/** A request, and the tools that a model calls for it, in order, with the model's text before each. */
interface Task {
  readonly request: string;
  readonly steps: readonly (readonly [says: string, tool: string, args: object])[];
}

const TASKS: readonly Task[] = [
  {
    request: "Where is order 1042, and who bought it?",
    steps: [
      ["", "orders.get_order", { order_id: "1042" }],
      ["Let me look at where the parcel is.", "orders.track_shipment", { order_id: "1042" }],
      ["Now the customer.", "crm.find_customer", { name: "Dana" }],
    ],
  },
  {
    request: "Dana cannot log in any more. Help her and write down that she called.",
    steps: [
      ["I will send her a link for a new password.", "accounts.reset_password", { email: "dana@example.com" }],
      ["Now I open a ticket for it.", "support.create_ticket", { customer: "C-17", problem: "Cannot log in" }],
    ],
  },
  {
    request: "How many rain jackets do we have? Order more if there are fewer than ten, and tell the team in Slack.",
    steps: [
      ["", "stock.check_stock", { product: "rain jacket" }],
      ["There are too few, so I order more.", "stock.reorder_product", { product: "rain jacket", pieces: "50" }],
      ["", "comms.post_slack_message", { channel: "#stock", text: "Rain jackets are on their way." }],
    ],
  },
  {
    request: "Which invoices are overdue? Remind each customer by email.",
    steps: [
      ["", "billing.list_overdue_invoices", {}],
      ["", "comms.send_email", { to: "omar@example.com", subject: "Your invoice", body: "It is overdue." }],
    ],
  },
  {
    request: "The shop answers with errors since the last deployment. Find out why, and undo it.",
    steps: [
      ["I search the logs.", "engineering.search_logs", { text: "error" }],
      ["The new version is broken. I roll the service back.", "engineering.rollback_service", { service: "shop" }],
    ],
  },
  { request: "Translate 'good morning' into French.", steps: [["", "web.translate_text", { text: "good morning" }]] },
];

const { values } = parseArgs({
  options: { limit: { type: "string", default: "8" }, tools: { type: "string", default: "300" } },
});
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

let steps = 0;
let onOffer = 0;
const principal = createPrincipal({ id: "agent", capabilities: CAPABILITIES });
const rows: { task: string; requests: number; agent: number; all: number; ratio: string }[] = [];
for (const task of TASKS) {
  const used = { agent: 0, all: 0, requests: 0 };
  const llm: Llm = {
    name: "scripted",
    async next({ system = "", messages, tools }: LlmRequest): Promise<LlmTurn> {
      const step = task.steps[used.requests++];
      const turn = step === undefined ? say("Done.") : say(step[0], [toAlias(step[1]), step[2]]);
      const rest = countTokens(system) + tokensOf(messages) + tokensOf(turn.message);
      used.agent += rest + (tools.length === 0 ? 0 : tokensOf(definitions(tools)));
      used.all += rest + everything;
      if (step !== undefined) {
        steps++;
        if (tools.some(({ id }) => id === step[1])) onOffer++;
      }
      return turn;
    },
    close() {},
  };
  await createAgent({ llm, arsenal, principal, limit, systemPrompt: "You work for a shop." }).run(task.request).result;
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
console.log(`The tool that a step needs was on offer in ${onOffer} of ${steps} steps.`);
