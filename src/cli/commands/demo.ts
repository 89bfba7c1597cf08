import { internalsOf } from "../../arsenal.ts";
import type { ToolArsenal } from "../../arsenal.ts";
import { formatResult } from "../../execute/results/format-result.ts";
import type { ToolCall } from "../../execute/call.ts";
import { createPrincipal, localOperator } from "../../guard/principal.ts";
import { definitionTokens } from "../../tool/estimate-tokens.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { createDemoArsenal } from "../demo/create-demo-arsenal.ts";
import { PROGRAM } from "../program.ts";
import { clip, styles, table, wrap } from "../terminal/style.ts";

export const command: Command = {
  examples: ["demo"],
  async run(input, terminal) {
    const started = performance.now();
    await using arsenal = await createDemoArsenal({ environment: terminal.environment });
    const indexed = await arsenal.sync();
    const show = createShow(input, terminal);
    const registeredMs = performance.now() - started;
    show.title(
      "1  register",
      `${indexed} business tools in ${registeredMs.toFixed(0)} ms, no configuration, no network`,
    );
    show.record("register", { tools: indexed, durationMs: registeredMs });
    await showRetrieval(arsenal, show, "the customer of order 1042 wants her money back");
    await showRetrieval(arsenal, show, "pull last month's sales and email the report to the team");
    await showNothingFits(arsenal, show);
    await showCall(arsenal, show);
    await showDenied(arsenal, show);
    await showConfirmation(arsenal, show);
    await showBreaker(arsenal, show);
    show.title("What next");
    for (const [what, how] of NEXT) show.line(`${what}\n  ${show.cyan(how)}`);
    if (input.json) terminal.out.write(`${JSON.stringify({ steps: show.steps, next: Object.fromEntries(NEXT) })}\n`);
  },
};

const NEXT: readonly (readonly [string, string])[] = [
  ["Search it yourself", `${PROGRAM} search "who has not paid yet" --explain`],
  ["Call a tool", `${PROGRAM} call crm.find_customer --args '{"name":"dana"}'`],
  ["Use it in your agent", "the first program in README.md"],
  ["Put it in front of your MCP servers", `${PROGRAM} setup, then ${PROGRAM} serve`],
];

type Show = ReturnType<typeof createShow>;

/** Prints the steps as text, or collects them for the JSON output at the end. */
function createShow({ json }: Input, terminal: Terminal) {
  const paint = styles(terminal.out, terminal.environment);
  const steps: object[] = [];
  const width = Math.max(40, terminal.out.columns ?? 120);
  const write = (text: string): void => {
    if (!json) terminal.out.write(text);
  };
  return {
    ...paint,
    width,
    title: (text: string, note = ""): void =>
      write(`\n${wrap(`${paint.bold(text)}${note ? `  ${paint.dim(note)}` : ""}`, width)}\n`),
    line: (text: string): void => write(`${wrap(text, width - 3).replaceAll(/^(?=.)/gm, "   ")}\n`),
    record: (step: string, data: object): unknown => steps.push({ step, ...data }),
    steps,
  };
}

async function showRetrieval(arsenal: ToolArsenal, show: Show, query: string): Promise<void> {
  const { tools, candidateCount, totalTimeMs } = await arsenal.retrieve({ context: { query }, limit: 5 });
  show.title("2  retrieve", `"${query}"`);
  const room = Math.min(64, show.width - Math.max(...tools.map(({ tool }) => tool.id.length)) - "   0.00    ".length);
  show.line(
    table(
      tools.map(({ tool, score }) => [show.green(score.toFixed(2)), tool.id, show.dim(clip(tool.description, room))]),
    ),
  );
  const all = await arsenal.listTools();
  const allTokens = sum(all.map(definitionTokens));
  const shown = sum(tools.map(({ tool }) => definitionTokens(tool)));
  show.line(
    show.dim(
      `${tools.length} of ${candidateCount} tools in ${totalTimeMs.toFixed(1)} ms\nabout ${shown} tokens in the prompt instead of ${allTokens}, ${Math.round((1 - shown / allTokens) * 100)} % saved`,
    ),
  );
  show.record("retrieve", {
    query,
    tools: tools.map(({ tool, score }) => ({ id: tool.id, score })),
    of: candidateCount,
    tokens: shown,
    tokensOfAll: allTokens,
  });
}

async function showNothingFits(arsenal: ToolArsenal, show: Show): Promise<void> {
  const query = "play the next song on Spotify in the living room";
  const { tools, candidateCount, confidence } = await arsenal.retrieve({ context: { query }, refuse: "eager" });
  show.record("retrieve", { query, tools: tools.map(({ tool }) => tool.id), of: candidateCount, confidence });
  show.title("   retrieve", `"${query}"`);
  show.line(
    tools.length === 0
      ? `no tool fits (confidence ${confidence.toFixed(2)}), so refuse: "eager" returns none`
      : table(tools.map(({ tool, score }) => [score.toFixed(2), tool.id])),
  );
}

async function showCall(arsenal: ToolArsenal, show: Show): Promise<void> {
  const call: ToolCall = { toolName: "crm.find_customer", arguments: { name: "dana" } };
  show.title("3  execute", "what the model reads back");
  const result = await arsenal.execute(call);
  show.record("execute", { result });
  show.line(formatResult(result, call));
  const wrong: ToolCall = { toolName: "crm.find_customer", arguments: { nam: "dana" } };
  show.title("   execute", "with a mistake in the arguments");
  const refused = await arsenal.execute(wrong);
  show.record("execute", { result: refused });
  show.line(formatResult(refused, wrong));
}

async function showDenied(arsenal: ToolArsenal, show: Show): Promise<void> {
  show.title("4  guard", "a caller without the capability, and a tool that nobody may see");
  const intern = createPrincipal({ id: "intern", capabilities: ["read_data"] });
  const refused = await arsenal.execute({
    toolName: "billing.payment_capture",
    arguments: { customer_id: "C-17", amount: 5 },
    principal: intern,
  });
  show.line(`${show.red(refused.status)}  ${refused.error?.message ?? ""}`);
  const hidden = await arsenal.execute({ toolName: "data.drop_table", arguments: { table: "orders" } });
  show.line(`${show.red(hidden.status)}  ${hidden.error?.message ?? ""}`);
  show.record("guard", { refused, hidden });
}

async function showConfirmation(arsenal: ToolArsenal, show: Show): Promise<void> {
  const call: ToolCall = { toolName: "billing.process_refund", arguments: { order_id: "1042" } };
  show.title("5  confirm", "a refund waits for a person");
  const pending = await arsenal.execute(call);
  const confirmationId = pending.confirmationId ?? "";
  show.line(`${show.yellow(pending.status)}  ${pending.error?.message ?? ""}`);
  await arsenal.approvals.approve(confirmationId, localOperator());
  const other = await arsenal.execute({ ...call, arguments: { order_id: "1043" }, confirmationId });
  show.line(`${show.red(other.status)}  approved for order 1042, tried with 1043`);
  const done = await arsenal.execute({ ...call, confirmationId });
  show.line(`${show.green(done.status)}  ${JSON.stringify(done.result)}`);
  show.record("confirm", { pending, otherArguments: other, done });
}

async function showBreaker(arsenal: ToolArsenal, show: Show): Promise<void> {
  show.title("6  protect", "calls to a failing provider are stopped");
  const call: ToolCall = { toolName: "comms.send_sms", arguments: { phone: "+49 30 1234", text: "hello" } };
  const statuses: string[] = [];
  for (let attempt = 1; attempt <= 6; attempt++) statuses.push((await arsenal.execute(call)).status);
  show.line(statuses.map((status) => (status === "circuit_open" ? show.yellow(status) : show.red(status))).join(" → "));
  const { consecutiveFailures } = internalsOf(arsenal).health("comms.send_sms");
  show.record("protect", { statuses, consecutiveFailures });
  show.line(show.dim(`after ${consecutiveFailures} failures in a row, no call reaches it until the cool-down ends`));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
