/* md
# A support desk over 300 tools

*For developers who have many tools and a model that should see few of them.*

You run a support desk. Its agent can reach thirty systems, with ten tools each. Sent to a model all at once, the definitions cost
more than the conversation, and the model has to choose among thirty tools called `get_…`. This page registers all of them, offers the few that
matter, and lets an agent refund an order, with a person's approval.

[catalog.ts](../../../examples/support-desk/catalog.ts) has the tools. Here they have one handler, which answers with what it was asked.
*/
import assert from "node:assert/strict";
import { createPrincipal, localOperator, ToolArsenal } from "toolarsenal";
import { createAgent } from "toolarsenal/agent";
import { openaiLlm } from "toolarsenal/llms";
import { openaiEvents } from "../support/openai-events.ts";
import { serveScript } from "../support/scripted-model.ts";
import { CATALOG } from "./catalog.ts";

const arsenal = new ToolArsenal({
  telemetry: { enabled: false },
  security: { requireConfirmation: ["refunds.create_*"] },
});
for (const tool of CATALOG) await arsenal.addTool(tool, (given) => `${tool.name} ${JSON.stringify(given)}`);
await arsenal.sync({ tier: "best" });
console.log(arsenal.toolCount, "tools");
/* md
## Find the few that matter

A search takes the request in the customer's words. None of these names the tool.
*/
const requests = [
  "the parcel has not moved for three days, where is it",
  "she wants her money back for order 1042",
  "he cannot get into his account any more",
  "is the shop in Lyon open on Sunday",
  "somebody paid with a stolen card",
];
for (const request of requests) {
  const { tools } = await arsenal.retrieve(request, { limit: 5 });
  console.log(`${request}\n  ${tools.map(({ tool }) => tool.id).join(", ")}`);
}
/* md
## What that saves

The same tools, as the OpenAI API takes them. Four characters are about one token.
*/
const everything = await arsenal.exportTools(
  "openai",
  (await arsenal.listTools()).map(({ id }) => id),
);
const few = await arsenal.retrieveTools("she wants her money back for order 1042", { dialect: "openai", limit: 5 });
const tokens = (value: unknown): number => Math.round(JSON.stringify(value).length / 4);
console.log(`all 300 tools: about ${tokens(everything.tools)} tokens in every request`);
console.log(`five of them: about ${tokens(few)} tokens`);
/* md
## Ask why

`explain` shows how each tool was scored, with the best of those that were left out.
*/
const { explanation } = await arsenal.retrieve("she wants her money back for order 1042", { limit: 2, explain: true });
for (const tool of [...(explanation?.chosen ?? []), ...(explanation?.leftOut.slice(0, 2) ?? [])]) {
  const signals = tool.signals.filter(({ contribution }) => contribution !== 0);
  const sum = signals.map(({ name, value, weight }) => `${name} ${value.toFixed(2)} × ${weight}`).join(" + ");
  console.log(`${tool.toolId}  ${tool.score.toFixed(2)} = ${sum}  (${tool.reason})`);
}
/* md
## Let an agent do it

The agent may read and write, but not refund by itself: `refunds.create_*` needs a person's approval. Each turn, the model gets the tools
that fit the conversation so far, at most six. Without `OPENAI_API_KEY`, a script on this machine plays the model, in the wire format of the API.
*/
const scripted =
  process.env["OPENAI_API_KEY"] === undefined
    ? await serveScript(
        [
          { calls: [{ id: "1", name: "orders-get_order", arguments: { id: "1042" } }] },
          { calls: [{ id: "2", name: "refunds-create_refund", arguments: { id: "1042", text: "arrived broken" } }] },
          { text: "The refund of order 1042 is on its way." },
        ],
        openaiEvents,
      )
    : undefined;
const llm = openaiLlm({ model: "gpt-5-mini", ...(scripted && { apiBase: scripted.url }) });
const principal = createPrincipal({ id: "support-agent", capabilities: ["read_data", "write_data"] });
const agent = createAgent({ llm, arsenal, principal, limit: 6, systemPrompt: "You work at a support desk." });

const run = agent.run("Order 1042 arrived broken. Look it up and refund it.");
for await (const event of run) {
  if (event.type === "tools-offered") console.log("offered:", event.tools.length, "tools");
  if (event.type === "call-finished") console.log("call:", event.result.toolName, event.result.status);
  if (event.type === "approval-needed") console.log("waits:", event.approval.toolName, event.approval.arguments);
}
const paused = await run.result;
console.log(paused.status);
/* md
## Approve, and go on

The run is plain data: it could be stored here, and resumed tomorrow by another process. A person approves exactly this call.
*/
const [waiting] = await arsenal.approvals.list();
assert.ok(waiting);
await arsenal.approvals.approve(waiting.id, localOperator({ id: "dana" }));
const resumed = await agent.resume(run.save()).result;
console.log(resumed.status, "-", resumed.text);
/* md
## Clean up
*/
scripted?.close();
await arsenal.close();
assert.equal(resumed.status, "answered");
/* md
## Read next

- [Retrieval](../../concepts/retrieval.md): how tools are ranked, and how to change it
- [Run an agent](../agent-loop.md): events, budgets, saved runs
- [Approvals](../approvals.md): who may approve, by webhook and by chat
*/
