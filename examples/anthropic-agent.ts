import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { ToolArsenal, type ToolCall, type ToolResult } from "toolarsenal";
import { answerCalls, anthropicDialect, type ReadCall } from "toolarsenal/dialects";
import { anthropicEvents } from "./support/anthropic-events.ts";
import { serveScript } from "./support/scripted-model.ts";
import { agent, dana, REQUESTS, registerShop, SCRIPT } from "./support/shop.ts";

const arsenal = new ToolArsenal();
const refunds = registerShop(arsenal);
const dialect = anthropicDialect();

// With ANTHROPIC_API_KEY the real model answers; without it, a script on this machine.
const scripted =
  process.env["ANTHROPIC_API_KEY"] === undefined ? await serveScript(SCRIPT, anthropicEvents) : undefined;
const client = new Anthropic(scripted === undefined ? {} : { baseURL: scripted.url, apiKey: "none" });
const model = process.env["ANTHROPIC_MODEL"] ?? "claude-sonnet-5";
const messages: Anthropic.MessageParam[] = [];

/** Runs a call. One that needs a person waits for Dana, who approves refunds of up to 100. */
async function run(call: ToolCall): Promise<ToolResult> {
  const result = await arsenal.execute({ ...call, principal: agent });
  const { status, confirmationId } = result;
  if (status !== "pending_confirmation" || confirmationId === undefined) return result;
  const approves = Number(call.arguments?.["amount"]) <= 100;
  console.log(`  ${call.toolName} waits: Dana ${approves ? "approves" : "denies"} it`);
  await (approves ? arsenal.approvals.approve(confirmationId, dana) : arsenal.approvals.deny(confirmationId, dana));
  return arsenal.execute({ ...call, principal: agent, confirmationId });
}

for (const request of REQUESTS) {
  console.log(`> ${request}`);
  messages.push({ role: "user", content: request });

  for (let turn = 0; turn < 5; turn++) {
    // Only the tools that matter now, for the conversation so far.
    const context = { recentMessages: messages.slice(-10) };
    const tools = await arsenal.retrieveTools(request, { dialect, limit: 3, context, principal: agent });

    const reader = dialect.readStream();
    const calls: ReadCall[] = [];
    const system = "You serve a shop's customers.";
    const stream = client.messages.stream({ model, max_tokens: 1024, system, messages, tools });
    for await (const event of stream) {
      if (event.type === "content_block_delta" && event.delta.type === "text_delta")
        process.stdout.write(event.delta.text);
      calls.push(...reader.push(event));
    }
    calls.push(...reader.end());
    const { content } = await stream.finalMessage();
    messages.push({ role: "assistant", content });
    if (calls.length === 0) break;

    const answered = await answerCalls(calls, run);
    for (const { read, result } of answered) console.log(`  ${read.call.toolName}: ${result.status}`);
    messages.push(...dialect.writeResults(answered));
  }
  console.log();
}

if (scripted !== undefined) {
  assert.deepEqual(refunds, [{ order: "1042", amount: 30 }]);
  const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const results = blocks.filter((block) => block.type === "tool_result");
  assert.deepEqual(
    results.map(({ is_error = false }) => is_error),
    [false, false, true],
  );
  assert.match(String(results[2]?.content), /denied/i);
  assert.ok(scripted.requests.every(({ tools = [] }) => tools.length > 0 && tools.length <= 3));
  assert.match(JSON.stringify(scripted.requests[2]?.tools), /refund_order/);
  scripted.close();
}
await arsenal.close();
